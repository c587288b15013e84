"""The list of planted faults: reading it, and putting them into a file's text."""

import zlib
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent / "faults"
HEADER = FOLDER.parent / "fault.h"
KEYS = {"id", "kind", "file", "find", "after", "replace", "form"}
KEYS |= {"tests", "cases", "what", "escape"}


@dataclass(frozen=True)
class Fault:
    """`find` stands once in the file, or once behind `after`, which stands once."""

    id: str
    area: str
    kind: str
    file: str
    find: str
    replace: str
    after: str | None = None
    form: str = "expression"
    tests: str | None = None
    cases: str | None = None
    what: str | None = None
    escape: str | None = None

    @property
    def number(self):
        """By name, so that a longer list changes no file that has no new fault."""
        return zlib.crc32(self.id.encode()) % 2_000_000_000 + 1

    @property
    def planted(self):
        on = f"HORNGATE_FAULT({self.number})"
        if self.form == "expression":
            return f"({on} ? ({self.replace}) : ({self.find}))"
        if self.form == "statement":
            return f"if ({on}) {{ {self.replace} }} else {{ {self.find} }}"
        # "text": what is no expression alone, such as a term of a longer one, says FAULT itself.
        return self.replace.replace("FAULT", on)


class Rotten(Exception):
    """A fault whose place in the sources is not what the list says."""


def areas():
    """Of each file of the folder: its settings and its faults."""
    made = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        made[path.stem] = yaml.safe_load(path.read_text())
    return made


def all_faults():
    made = []
    for area, page in areas().items():
        for entry in page["faults"]:
            unknown = set(entry) - KEYS
            if unknown:
                raise Rotten(f"{area}: {entry.get('id')} has unknown entries {sorted(unknown)}")
            made.append(Fault(area=area, **entry))
    for key in ("id", "number"):
        seen = set()
        for fault in made:
            value = getattr(fault, key)
            if value in seen:
                raise Rotten(f"two faults have the {key} {value}")
            seen.add(value)
    return made


def place(fault, text):
    """Where `find` begins in the file's text."""
    begin = 0
    if fault.after is not None:
        if text.count(fault.after) != 1:
            times = text.count(fault.after)
            raise Rotten(f"{fault.id}: `after` stands {times} times in {fault.file}")
        begin = text.index(fault.after)
        found = text.find(fault.find, begin)
        if found < 0:
            raise Rotten(f"{fault.id}: `find` does not stand behind `after` in {fault.file}")
        return found
    if text.count(fault.find) != 1:
        raise Rotten(f"{fault.id}: `find` stands {text.count(fault.find)} times in {fault.file}")
    return text.index(fault.find)


def plant(faults, text):
    """The text with all of them in it, each behind its condition."""
    places = sorted(((place(f, text), f) for f in faults), key=lambda pair: pair[0])
    for (a, first), (b, second) in zip(places, places[1:]):
        if a + len(first.find) > b:
            raise Rotten(f"{first.id} and {second.id} overlap in {first.file}")
    for at, fault in reversed(places):
        text = text[:at] + fault.planted + text[at + len(fault.find) :]
    # Here and not by a flag of the compiler: ccache knows files that have no fault.
    return f'#include "{HEADER}"\n#line 1\n{text}'

"""The list of planted faults (tools/mutate.py) follows the sources: each has its one place."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutate import faults  # noqa: E402


def test_every_fault_has_its_place():
    by_file = {}
    for fault in faults.all_faults():
        by_file.setdefault(fault.file, []).append(fault)
    wrong = []
    for name, here in by_file.items():
        text = (ROOT / name).read_text()
        for fault in here:
            try:
                faults.place(fault, text)
            except faults.Rotten as error:
                wrong.append(str(error))
        if not wrong:
            faults.plant(here, text)  # none lies over another
    assert not wrong, "\n".join(wrong)


def test_there_are_enough_of_them_everywhere():
    listed = faults.all_faults()
    assert len(listed) >= 200
    assert len({f.area for f in listed}) >= 8

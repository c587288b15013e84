"""What is known about the engines that cases run on: data, so that a skip says why."""

import fnmatch
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Engine:
    """`lacks` maps patterns of item names to reasons; `tolerance` multiplies that of the cases."""

    name: str
    computes: bool = True
    tolerance: float = 1.0
    lacks: dict = field(default_factory=dict)

    def reason_to_skip(self, item_name):
        for pattern, reason in self.lacks.items():
            if fnmatch.fnmatchcase(item_name, pattern):
                return reason
        return None


ENGINES = {
    "native": Engine("native"),
    "null": Engine("null", computes=False),
}


def find(name):
    return ENGINES.get(name, Engine(name))


def wanted():
    """The engines of HORNGATE_TEST_ENGINES, separated by commas; native when it is not set."""
    names = os.environ.get("HORNGATE_TEST_ENGINES", "native").split(",")
    return [find(name.strip()) for name in names if name.strip()]

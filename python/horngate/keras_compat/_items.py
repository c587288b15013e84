"""The list of what the compatibility part changes, filled by the decorator `item`."""

import dataclasses
from collections.abc import Callable

from horngate.keras_compat import _hooks


@dataclasses.dataclass(frozen=True)
class Item:
    """One change: its name and reason are those in the table of docs/keras.md."""

    name: str
    reason: str
    modules: tuple[str, ...]  # changed once these are loaded; empty: at once
    apply: Callable

    def install(self):
        if not self.modules:
            self.apply()
        for module in self.modules:
            _hooks.after_import(module, self.apply)


ITEMS: list[Item] = []


def item(name, reason, *modules):
    """Adds a function to the list; it is called with each of the modules, once loaded, or with
    nothing."""

    def put(function):
        ITEMS.append(Item(name, reason, modules, function))
        return function

    return put


def set_missing(module, **names):
    """Gives a module the names that it lacks; existing ones stay."""
    for name, value in names.items():
        if name not in vars(module):
            setattr(module, name, value)


class Overlay:
    """A module with some names replaced, for one of its clients."""

    def __init__(self, module, **names):
        self._module = module
        vars(self).update(names)

    def __getattr__(self, name):
        return getattr(self._module, name)

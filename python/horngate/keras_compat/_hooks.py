"""Runs functions right after a module is loaded, whoever imports it."""

import importlib.machinery
import sys
import threading


class _Loader:  # not of importlib.abc, which takes longer to import than all of us
    """The loader of a module, which calls our functions afterwards."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # From here on the module looks as if we had never been there.
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for function in _finder.waiting.pop(module.__name__, ()):
            function(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder:
    """Finds what the other finders find, for the modules that somebody waits for."""

    def __init__(self):
        self.waiting = {}
        self._searching = threading.local()

    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting or getattr(self._searching, "name", None) == name:
            return None
        self._searching.name = name
        try:
            spec = _spec_of_others(self, name, path, target)
        finally:
            self._searching.name = None
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        spec.loader = _Loader(spec.loader)
        return spec


def _spec_of_others(own, name, path, target):
    for finder in sys.meta_path:
        if finder is own or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


_finder = _Finder()


class _LoadingSpec(importlib.machinery.ModuleSpec):
    """The spec of a module that is being loaded; Python tells it when that ends."""

    _functions = ()

    @property
    def _initializing(self):
        return self.__dict__["_initializing"]

    @_initializing.setter
    def _initializing(self, value):
        self.__dict__["_initializing"] = value
        module = sys.modules.get(self.name)  # gone if loading failed
        if value or module is None:
            return
        functions, self._functions = self._functions, ()
        self.__class__ = importlib.machinery.ModuleSpec
        for function in functions:
            function(module)


def _is_loading(module):
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def after_import(name, function):
    """Calls function(module) once the module is loaded: now, if it already is."""
    module = sys.modules.get(name)
    if module is not None and _is_loading(module):
        module.__spec__.__class__ = _LoadingSpec
        module.__spec__._functions += (function,)
        return
    if module is not None:
        function(module)
        return
    _finder.waiting.setdefault(name, []).append(function)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)

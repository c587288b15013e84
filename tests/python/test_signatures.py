"""Names and signatures are those of the catalogue, api/functions.yaml."""

import ast
import inspect
import subprocess
import sys

import headers
import horngate as K
import pytest
from functions_catalogue import (
    BEYOND,
    CATALOGUE,
    FUNCTIONS,
    NAMES,
    OWN,
    arguments_of,
    standing_signature,
)


def test_the_catalogue_is_whole():
    assert len(FUNCTIONS) == CATALOGUE["function_count"] == 155
    assert set(BEYOND) == set(CATALOGUE["beyond_seeds"]["required_by_2_3_1_not_in_seeds"])


def test_names_are_exactly_those():
    """Keras copies everything that the module holds."""
    program = "import horngate as K; print(*(n for n in vars(K) if not n.startswith('_')))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == sorted(K.__all__) == NAMES


def test_what_no_keras_has_is_in_a_header():
    """A name that no catalogue has got here on purpose: C++ has it too."""
    declared, _ = headers.read()
    assert [name for name in OWN if name not in declared] == []


def test_the_version_is_a_text():
    assert isinstance(K.__version__, str)


def test_parts_of_the_package_can_be_imported():
    program = (
        "import horngate, horngate.backend, horngate.legacy\n"
        "from horngate import backend, legacy\n"
        "import horngate.legacy as l\n"
        "assert callable(backend) and backend() and l is legacy\n"
        "import sys; m = sys.modules['horngate.backend']; assert m.conv2d is horngate.conv2d\n"
        "assert 'conv2d' in m.__all__"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_signature(name):
    function = getattr(K, name)
    assert inspect.isfunction(function), "a real def"
    assert function.__name__ == name and function.__doc__
    got = []
    for p in inspect.signature(function).parameters.values():
        got.append((p.name, "**" if p.kind is p.VAR_KEYWORD else p.default))
    assert got == arguments_of(standing_signature(name), inspect.Parameter.empty)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_described_arguments(name):
    """What the catalogue describes one by one is there, with the default that it says."""
    parameters = inspect.signature(getattr(K, name)).parameters
    for argument, told in FUNCTIONS[name]["args"].items():
        parameter = parameters[argument.lstrip("*")]
        if told.get("required"):
            assert parameter.default is parameter.empty
        elif parameter.kind is not parameter.VAR_KEYWORD:
            default = str(told["default"])
            assert parameter.default == ast.literal_eval(default), argument


def test_aliases():
    """Another name for a function has its arguments; test_old_spellings.py compares results."""
    aliases = {n: entry["alias_of"] for n, entry in FUNCTIONS.items() if "alias_of" in entry}
    assert sorted(aliases) == ["deconv2d", "lesser", "lesser_equal", "normalize_batch"]
    for name, standing in aliases.items():
        assert callable(getattr(K, name)) and callable(getattr(K, standing))
        assert list(inspect.signature(getattr(K, name)).parameters)[0] == "x"


def test_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "horngate"], capture_output=True, text=True, check=True
    )
    for word in (
        K.__version__,
        "engine",
        "floatx",
        "float32",
        "epsilon",
        "image_data_format",
        "channels_last",
    ):
        assert word in done.stdout

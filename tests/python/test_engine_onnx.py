"""The onnx engine: faults of its library, and that it trains as native does. Each test is a process
of its own, for a process holds one engine."""

import functools
import shutil

import engine_process
import pytest
from engine_process import TRAIN

python = functools.partial(engine_process.python, "onnx")
refusal = functools.partial(engine_process.refusal, "onnx")


@pytest.fixture(scope="module")
def library():
    """The runtime's shared library, as the engine finds it; a skip where there is none."""
    return engine_process.library("onnx", "libonnxruntime.so")


def test_a_missing_library(tmp_path):
    text = refusal(tmp_path)
    assert f"engine onnx: could not be opened: ONNX Runtime was not found in {tmp_path}." in text
    assert "pip install onnxruntime" in text


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "libonnxruntime.so.1.31.1").write_text("not a library")
    assert "libonnxruntime.so.1.31.1 is not a 64-bit shared library" in refusal(tmp_path)


@pytest.mark.parametrize("part", [0.001, 0.5, 0.999])
def test_a_truncated_library(tmp_path, library, part):
    cut = tmp_path / library.name
    shutil.copy(library, cut)
    with open(cut, "r+b") as file:
        file.truncate(int(library.stat().st_size * part))
    assert "is cut off" in refusal(tmp_path)


def test_libraries_of_other_versions(tmp_path):
    target = tmp_path / "libonnxruntime.so.1.4.0"
    old = (
        "struct Base { const void* (*get)(unsigned); const char* (*version)(); };\n"
        "static const Base base = {[](unsigned) -> const void* { return nullptr; },\n"
        '                          []() { return "1.4.0"; }};\n'
        'extern "C" const Base* OrtGetApiBase() { return &base; }\n'
    )
    engine_process.build_library(old, target)
    assert "is version 1.4.0; 1.17 or later is needed." in refusal(tmp_path)
    engine_process.build_library("int unrelated;\n", target)
    assert "is not ONNX Runtime." in refusal(tmp_path)


def test_it_is_found_in_the_home_folder_and_in_packages(tmp_path, library):
    place = tmp_path / "engines" / "onnx" / "onnxruntime" / "capi"
    place.mkdir(parents=True)
    (place / library.name).symlink_to(library)
    engine_process.check_places("onnx", tmp_path)


def test_the_list_of_engines_tells(tmp_path):
    program = "import horngate._horngate as h; print(h.backend())"
    assert python(program).stdout == "onnx\n"


def test_training_is_that_of_native(library):
    program = TRAIN.format(pool="avg", unroll=False)
    _, left = engine_process.check_training("onnx", program, HORNGATE_QUIET="0")
    assert not left, "a part was not run by the engine"

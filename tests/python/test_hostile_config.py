"""Configuration that means nothing: a clear error each, in time, and the file stays as it was."""

import json
import os
import pathlib
import socket
import stat
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import horngate as K
try:
    print(K.backend(), K.floatx(), K.epsilon(), K.image_data_format())
    print(K.eval(K.constant([1., 2.]) + 1))
except Exception as e:
    print(type(e).__name__ + ": " + str(e), file=sys.stderr)
    sys.exit(3)
"""


def run(home, program=PROGRAM, **variables):
    """(exit code, what was printed, what was said); a hang is a failure."""
    env = {k: v for k, v in os.environb.items() if not k.startswith((b"HORNGATE_", b"KERAS_"))}
    variables = {"HORNGATE_QUIET": "1", "KERAS_HOME": home, **variables}
    env.update({os.fsencode(k): os.fsencode(v) for k, v in variables.items() if v is not None})
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=env, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "backslashreplace")


def assert_clear_error(done, *parts, at_most=1000):
    code, out, said = done
    assert code == 3, (code, out, said)
    assert said.startswith(("ValueError: ", "RuntimeError: ")), said
    assert "this is a bug" not in said and "UnicodeDecodeError" not in said
    assert len(said) < at_most and "\n" not in said.strip(), said[:2000]
    for part in parts:
        assert part in said, said


DEEP = 50000
TEXTS = {
    "cut off": (b'{"backend": "nat', "must be JSON"),
    "no JSON": (b"backend = native\n", "must be JSON"),
    "Python": (b"{'backend': 'native'}", "must be JSON"),
    "comment": (b'{// mine\n"backend": "native"}', "must be JSON"),
    "a comma too many": (b'{"backend": "native",}', "must be JSON"),
    "two values": (b"{} {}", "must be JSON"),
    "not a number": (b'{"epsilon": NaN}', "must be JSON"),
    "infinity": (b'{"epsilon": Infinity}', "must be JSON"),
    "a number too large": (b'{"epsilon": 1e999}', "must be JSON"),
    "not UTF-8": (b'{"backend": "\xff\xfe"}', "must be JSON"),
    "not UTF-8 in a key": (b'{"\xc3": 1}', "must be JSON"),
    "UTF-16": ('{"backend": "native"}'.encode("utf-16"), "must be JSON"),
    "half a surrogate": (rb'{"backend": "\ud800"}', "must be JSON"),
    "control characters": (b'{"backend": "a\x01b"}', "must be JSON"),
    "zero bytes": (b"\0" * 4096, "must be JSON"),
    "random bytes": (bytes(range(256)) * 8, "must be JSON"),
    "deep lists": (b"[" * DEEP + b"]" * DEEP, "must not be nested deeper than 100"),
    "deep and open": (b"[" * DEEP, "must not be nested deeper than 100"),
    "deep value": (
        b'{"floatx": ' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
        "must not be nested deeper than 100",
    ),
    "huge": (b'{"backend": "native"' + b" " * 2**20 + b"}", "must have at most 1048576 bytes"),
    "a list": (b'["native"]', "must hold a JSON object"),
    "a string": (b'"native"', "must hold a JSON object"),
    "null": (b"null", "must hold a JSON object"),
    "a number": (b"3", "must hold a JSON object"),
    "floatx wrong": (b'{"floatx": "float8"}', 'floatx must be "float16"'),
    "floatx a number": (b'{"floatx": 32}', "floatx must be a string"),
    "floatx null": (b'{"floatx": null}', "floatx must be a string"),
    "floatx with a zero": (b'{"floatx": "float32\\u0000"}', r'got "float32\x00"'),
    "floatx on two lines": (b'{"floatx": "a\\nb"}', r'got "a\x0ab"'),
    "floatx long": (b'{"floatx": "' + b"x" * 100000 + b'"}', 'xxx..."'),
    "epsilon text": (b'{"epsilon": "1e-7"}', "epsilon must be a finite number"),
    "epsilon negative": (b'{"epsilon": -1e-7}', "epsilon must be a finite number"),
    "epsilon true": (b'{"epsilon": true}', "epsilon must be a finite number"),
    "epsilon a list": (b'{"epsilon": [' + b"1," * 1000 + b"1]}", "epsilon must be a finite number"),
    "backend a list": (b'{"backend": ["native"]}', "backend must be a string"),
    "backend empty": (b'{"backend": ""}', "must name an engine"),
    "backend a path": (b'{"backend": "../../tmp/evil"}', "must name an engine"),
    "backend large": (b'{"backend": "Native"}', 'Did you mean "native"?'),
    "backend unknown": (b'{"backend": "no_such_engine"}', "no_such_engine"),
    "data format wrong": (b'{"image_data_format": "tf"}', "image_data_format must be"),
    "data format a number": (b'{"image_data_format": 1}', "image_data_format must be"),
    "dim ordering wrong": (b'{"image_dim_ordering": "channels_last"}', 'must be "tf" or "th"'),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_that_means_nothing(kind, tmp_path):
    text, said = TEXTS[kind]
    file = tmp_path / "keras.json"
    file.write_bytes(text)
    os.utime(file, (1, 1))
    assert_clear_error(run(tmp_path), "keras.json", said)
    assert file.read_bytes() == text and file.stat().st_mtime == 1
    assert os.listdir(tmp_path) == ["keras.json"]


READ = {
    "byte order mark": (b'\xef\xbb\xbf{"floatx": "float64"}', "float64"),
    "equal keys": (b'{"floatx": "float16", "floatx": "float64"}', "float64"),
    "unknown keys": (b'{"floatx": "float64", "more": [1, {"a": null}]}', "float64"),
    "other line ends": (b'{\r\n"floatx":\r"float64"\r\n}', "float64"),
    "escaped letters": (rb'{"floatx": "\u0066loat64"}', "float64"),
    "nothing in it": (b"{}", "float32"),
}


@pytest.mark.parametrize("kind", READ)
def test_a_file_that_is_only_unusual(kind, tmp_path):
    text, floatx = READ[kind]
    (tmp_path / "keras.json").write_bytes(text)
    code, out, said = run(tmp_path)
    assert code == 0 and out.split()[1] == floatx, said
    assert (tmp_path / "keras.json").read_bytes() == text


def test_things_that_are_no_files(tmp_path):
    file = tmp_path / "keras.json"
    file.mkdir()
    assert_clear_error(run(tmp_path), "keras.json: must be readable", "Is a directory")
    file.rmdir()
    os.mkfifo(file)
    assert_clear_error(run(tmp_path), "keras.json: must be a file; got a pipe")
    assert stat.S_ISFIFO(file.stat().st_mode)
    file.unlink()
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        file.symlink_to(device)
        assert_clear_error(run(tmp_path), "keras.json: must be")
        assert os.readlink(file) == device
        file.unlink()
    # The path of a socket is short by its nature.
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        try:
            os.chdir(tmp_path)
            listener.bind("keras.json")
        finally:
            os.chdir(here)
        assert_clear_error(run(tmp_path), "keras.json: must be")


def test_links_that_lead_nowhere(tmp_path):
    file = tmp_path / "keras.json"
    file.symlink_to(tmp_path / "not there")
    assert_clear_error(run(tmp_path), "keras.json: must be readable", "No such file")
    assert os.listdir(tmp_path) == ["keras.json"]
    file.unlink()
    file.symlink_to(file)
    assert_clear_error(run(tmp_path), "keras.json: must be readable", "symbolic links")
    file.unlink()
    (tmp_path / "real.json").write_text('{"floatx": "float64"}')
    file.symlink_to("real.json")
    assert run(tmp_path)[1].split()[1] == "float64"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    file = tmp_path / "keras.json"
    file.write_text("{}")
    file.chmod(0)
    assert_clear_error(run(tmp_path), "keras.json: must be readable", "Permission denied")


@pytest.mark.parametrize(
    "home, said",
    [
        (os.path.abspath(__file__), "Not a directory"),
        ("/dev/null", "Not a directory"),
        ("/" + "x" * 300, "File name too long"),
        ("/x" * 3000, "File name too long"),
    ],
    ids=["a file", "a device", "a long name", "a long path"],
)
def test_folders_that_are_none(home, said):
    done = run(home)
    assert_clear_error(done, "keras.json: must be readable", said, at_most=len(home) + 300)


def test_paths_that_are_not_utf8(tmp_path):
    home = os.fsencode(tmp_path) + b"/\xff\xfe home"
    os.mkdir(home)
    pathlib.Path(os.fsdecode(home), "keras.json").write_text('{"floatx": "float8"}')
    assert_clear_error(run(home), r"\xff\xfe home/keras.json", "floatx must be")
    show = "import horngate._horngate as h, os; print(os.fsencode(h.keras_home()))"
    code, out, said = run(home, show)
    assert code == 0 and r"\xff\xfe home" in out, said
    code, out, said = run(
        tmp_path, "import horngate._horngate as h; h.list_engines()", HORNGATE_ENGINE_PATH=home
    )
    assert code == 0, said


@pytest.mark.parametrize(
    "value, said",
    [
        ("../evil", 'got "../evil"'),
        ("Native", 'Did you mean "native"?'),
        (" native", 'got " native"'),
        ("native\n", r'got "native\x0a"'),
        (b"\xff\xfe", r'got "\xff\xfe"'),
        ("na\u0308tive", "got"),
        ("x" * 100000, 'xxx..."'),
        ("horngate.", 'got "horngate."'),
        ("no_such_engine", "no_such_engine"),
    ],
    ids=lambda v: repr(v)[:20],
)
def test_engines_that_are_none(value, said, tmp_path):
    assert_clear_error(run(tmp_path, KERAS_BACKEND=value), said)


FLAGS = ("HORNGATE_PLAIN", "HORNGATE_JIT", "HORNGATE_WINOGRAD", "HORNGATE_STRICT")
FLAGS += ("HORNGATE_QUIET", "HORNGATE_NO_CONFIG_WRITE")
COUNTS = ("HORNGATE_NUM_THREADS", "HORNGATE_PLAN_BYTES", "HORNGATE_TAPE_BYTES")
NONSENSE = {
    **{name: ("yes", "2", "01", " 1", b"\xff", "-1") for name in FLAGS},
    **{name: ("0", "-1", "1.5", "1e3", "9" * 30, "0x10", b"\xff", "1 ") for name in COUNTS},
    "HORNGATE_SIMD": ("mmx", "AVX2", b"\xff", "avx2,sse4"),
    "HORNGATE_LOG": ("everything", "plan compile", ",", b"\xff", "Plan"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_variables_that_mean_nothing(name, tmp_path):
    # All values of one variable in one process: a new one takes a second.
    values = [os.fsdecode(v) for v in NONSENSE[name]]
    program = f"""
import os, sys, subprocess
import horngate
for value in {values!r}:
    if os.fork() == 0:
        os.environ[{name!r}] = value
        import horngate as K
        try:
            K.floatx()
            K.eval(K.constant([1., 2.]) + 1)
            if {name!r} == "HORNGATE_QUIET":
                import horngate._horngate as h
                h.announce_chosen_engine()
            print("no error for", ascii(value))
        except ValueError as e:
            text = str(e)
            print("ok" if text.startswith({name!r} + ": must be ") and "; got " in text else ascii(text))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""
    code, out, said = run(tmp_path, program, HORNGATE_QUIET=None)
    assert code == 0 and out.split("\n")[:-1] == ["ok"] * len(values), out + said


@pytest.mark.parametrize("value", ["yes", "2", "off"])
def test_the_switch_of_the_part_for_keras(value, tmp_path):
    program = "import horngate.keras_compat as k, sys\ntry: k.is_wanted()\n"
    program += "except ValueError as e: print('ValueError:', e, file=sys.stderr); sys.exit(3)"
    done = run(tmp_path, program, HORNGATE_KERAS_COMPAT=value)
    assert_clear_error(done, f'HORNGATE_KERAS_COMPAT: must be 0 or 1; got "{value}".')


def test_a_trace_that_cannot_be_written(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "trace.json", os.fsencode(tmp_path) + b"/\xff/t"):
        done = run(tmp_path, HORNGATE_PROFILE=path, HORNGATE_NO_CONFIG_WRITE="1")
        assert_clear_error(done, "cannot write")
    assert os.listdir(tmp_path) == []


def test_at_least_forty_kinds():
    print(json.dumps({"kinds": len(TEXTS) + len(READ) + len(NONSENSE) + 20}))
    assert len(TEXTS) >= 40

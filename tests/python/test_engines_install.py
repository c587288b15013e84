"""`horngate engines install` and `remove`, with an index of our own that can be slow, broken or wrong."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

import engine_names
import engine_process
import horngate as K
import pytest
from horngate._installer import build, command, download, place
from horngate._installer.errors import InstallError

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALLER = ROOT / "python" / "horngate" / "_installer"
WHEEL = "tensorflow_cpu-9.9-py3-none-any.whl"
LIBRARY = "tensorflow/libtensorflow_cc.so.2"


class Server:
    """An index at `url`; what it does wrong is in its fields."""

    def __init__(self, wheel):
        self.contents = wheel.read_bytes()
        self.fragment = "#sha256=" + hashlib.sha256(self.contents).hexdigest()
        self.ranges = []  # of the requests for the file
        self.takes_ranges = True
        self.cuts_after = None  # bytes of each answer
        self.pause = 0.0  # before each piece
        self.password = None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.http.server_port}"
        self.url = f"http://{self.address}/simple"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def answer(self, request):
        if self.password and request.headers.get("Authorization") != self.password:
            request.send_error(401)
        elif request.path == "/simple/tensorflow-cpu/":
            page = f'<a href="../../files/{WHEEL}{self.fragment}">{WHEEL}</a>'.encode()
            request.send_response(200)
            request.send_header("Content-Length", str(len(page)))
            request.end_headers()
            request.wfile.write(page)
        elif request.path == f"/files/{WHEEL}":
            self.send(request)
        else:
            request.send_error(404)

    def send(self, request):
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        start = 0
        if asked and self.takes_ranges:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            request.send_response(206)
            total = len(self.contents)
            request.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        else:
            request.send_response(200)
        data = self.contents[start:]
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        data = data[: self.cuts_after]
        with contextlib.suppress(OSError):
            for at in range(0, len(data), 1 << 18):
                time.sleep(self.pause)
                request.wfile.write(data[at : at + (1 << 18)])


@pytest.fixture
def place_(tmp_path):
    """The installer with a small engine in its list, an index that has it, and a home."""
    wheel = tmp_path / WHEEL
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(LIBRARY, os.urandom(3_000_000))
        archive.writestr("tensorflow/other.so", b"not wanted")
    made = type("Place", (), {})()
    made.installer = tmp_path / "installer"
    shutil.copytree(INSTALLER, made.installer, ignore=shutil.ignore_patterns("__pycache__"))
    pinned = {
        "project": "tensorflow-cpu",
        "name": WHEEL,
        "size": wheel.stat().st_size,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
    }
    made.entry = {
        "version": "9.9",
        "machines": [os.uname().machine],
        "needs": 10_000_000,
        "keep": [LIBRARY],
        "files": [pinned],
    }
    made.write = lambda: (made.installer / "engines.json").write_text(
        json.dumps({"tensorflow": made.entry})
    )
    made.write()
    made.home = tmp_path / "home"
    made.library = made.home / "engines" / "tensorflow" / LIBRARY
    made.wheel, made.server = wheel, Server(wheel)
    yield made
    made.server.http.shutdown()


def environment(at, **more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "HORNGATE_"))}
    found = {"PIP_INDEX_URL": at.server.url, "PIP_CONFIG_FILE": os.devnull}
    return {**clean, **found, "HORNGATE_HOME": str(at.home), **more}


def start(at, *words, **more):
    return subprocess.Popen(
        [sys.executable, str(at.installer), *(words or ("install", "tensorflow"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(at, **more),
    )


def run(at, *words, **more):
    process = start(at, *words, **more)
    process.out, process.err = process.communicate(timeout=120)
    return process


def assert_untouched(at):
    engines = at.home / "engines"
    left = [p.name for p in engines.iterdir()] if engines.exists() else []
    assert [n for n in left if not n.endswith(".lock")] == []


def assert_whole(at):
    with zipfile.ZipFile(at.wheel) as archive:
        assert at.library.read_bytes() == archive.read(LIBRARY)
    assert not (at.library.parent / "other.so").exists(), "only what is needed"
    assert [p.name for p in at.home.glob("engines/.*.new.*")] == []
    assert list((at.home / "downloads").iterdir()) == []


def test_install(place_):
    done = run(place_)
    assert done.returncode == 0, done.err
    assert_whole(place_)
    assert done.out == f"tensorflow 9.9 is now in {place_.home}/engines/tensorflow.\n"
    lines = [f"downloading {WHEEL} (3.0 MB)", f"unpacking {WHEEL} (3.0 MB)"]
    assert done.err.splitlines() == lines, "plain lines without a terminal"
    again = run(place_)
    assert again.returncode == 0 and "is already in" in again.out
    assert len(place_.server.ranges) == 1
    forced = run(place_, "install", "tensorflow", "--force")
    assert forced.returncode == 0 and len(place_.server.ranges) == 2
    assert_whole(place_)


def test_a_bar_on_a_terminal(place_):
    mine, theirs = pty.openpty()
    words = [sys.executable, str(place_.installer), "install", "tensorflow"]
    process = subprocess.Popen(words, stderr=theirs, stdout=theirs, env=environment(place_))
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):
        while data := os.read(mine, 4096):
            shown += data
    assert process.wait() == 0
    assert b"\r\x1b[Kdownloading" in shown and b"[########################] 100% 3.0 MB" in shown


def test_a_connection_that_breaks_is_taken_up_again(place_):
    place_.server.cuts_after = 1_000_000
    done = run(place_)
    assert done.returncode == 0, done.err
    assert_whole(place_)
    ranges = place_.server.ranges
    assert ranges[:3] == [None, "bytes=1000000-", "bytes=2000000-"], ranges


def test_an_index_without_ranges_starts_over(place_):
    place_.server.takes_ranges = False
    part = place_.home / "downloads" / f"{WHEEL}.{place_.entry['files'][0]['sha256'][:12]}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 1000)
    done = run(place_)
    assert done.returncode == 0, done.err
    assert place_.server.ranges == ["bytes=1000-"]
    assert_whole(place_)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_download_goes_on_later(place_, number):
    place_.server.pause = 0.2
    process = start(place_)
    downloads = place_.home / "downloads"
    end = time.monotonic() + 60
    while not any(p.stat().st_size > 500_000 for p in downloads.glob("*.part")):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate()
    if number != signal.SIGKILL:
        assert process.returncode == 130 and "nothing is half-made" in err
    assert_untouched(place_)
    place_.server.pause = 0.0
    done = run(place_)
    assert done.returncode == 0, done.err
    assert place_.server.ranges[-1].startswith("bytes=") and "goes on after" in done.err
    assert_whole(place_)


def test_another_file_under_the_name_is_refused(place_):
    data = bytearray(place_.server.contents)
    data[1_000_000] ^= 1
    place_.server.contents, place_.server.fragment = bytes(data), ""
    done = run(place_)
    assert done.returncode == 1
    assert "has the sha256 hash" in done.err and "nothing was installed" in done.err
    assert_untouched(place_)
    assert list((place_.home / "downloads").iterdir()) == []
    place_.server.contents += b"more"
    done = run(place_)
    assert done.returncode == 1 and "the index sends more" in done.err
    # The index itself says that it is another file: it is not downloaded.
    place_.server.fragment = "#sha256=" + "0" * 64
    place_.server.ranges.clear()
    done = run(place_)
    assert done.returncode == 1 and "must have the sha256 hash" in done.err
    assert place_.server.ranges == []


def test_no_network(place_):
    done = run(place_, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert done.returncode == 1
    wanted = f"{WHEEL} could not be found: http://127.0.0.1:9/simple/tensorflow-cpu/: "
    assert wanted in done.err and "Is there a network?" in done.err
    assert_untouched(place_)
    done = run(place_, PIP_NO_INDEX="1")
    assert done.returncode == 1 and "pip is configured for no index" in done.err


def test_an_index_lacks_the_file(place_):
    place_.entry["files"][0]["name"] = "tensorflow_cpu-8.8-py3-none-any.whl"
    place_.write()
    done = run(place_)
    assert done.returncode == 1 and "/simple/tensorflow-cpu/: no such file" in done.err


def test_pip_settings_count(place_, tmp_path):
    """Files in a folder need no index, other indexes are asked too, and passwords are passed on."""
    done = run(place_, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 0, done.err
    assert place_.server.ranges == []
    assert_whole(place_)
    settings = tmp_path / "pip.conf"
    place_.server.password = "Basic bWU6c2VjcmV0"  # me:secret
    settings.write_text(
        f"[global]\nextra-index-url = http://me:secret@{place_.server.address}/simple\n"
    )
    shutil.rmtree(place_.home)
    empty = f"http://{place_.server.address}/nothing"
    done = run(place_, PIP_CONFIG_FILE=str(settings), PIP_INDEX_URL=empty)
    assert done.returncode == 0, done.err
    assert "secret" not in done.err + done.out
    assert_whole(place_)


def test_two_installs_at_once(place_):
    place_.server.pause = 0.1
    both = [start(place_), start(place_)]
    said = [p.communicate(timeout=120) for p in both]
    assert [p.returncode for p in both] == [0, 0], said
    assert len(place_.server.ranges) == 1, "the second waits and finds it there"
    assert any("waiting" in err for _, err in said)
    assert_whole(place_)


def test_damage_is_repaired_and_strangers_are_left_alone(place_):
    assert run(place_).returncode == 0
    place_.library.write_bytes(b"cut off")
    assert run(place_).returncode == 0
    assert_whole(place_)
    (place_.home / "engines/tensorflow/installed.json").unlink()
    done = run(place_)
    assert done.returncode == 1 and "was not made by this command; --force replaces it" in done.err
    assert_whole(place_)


def test_remove(place_):
    assert run(place_).returncode == 0
    (place_.home / "cache/tensorflow").mkdir(parents=True)
    done = run(place_, "remove", "tensorflow")
    assert done.returncode == 0 and done.out.endswith("engines/tensorflow is removed.\n")
    assert_untouched(place_)
    assert not (place_.home / "cache/tensorflow").exists()
    done = run(place_, "remove", "tensorflow")
    assert done.returncode == 1 and "there is no" in done.err


def test_words_that_are_not_understood(place_):
    for words in (("install",), ("improve", "tensorflow"), ("remove", "tensorflow", "--force")):
        done = run(place_, *words)
        assert done.returncode == 2 and done.err.startswith("usage: horngate engines install")
    done = run(place_, "install", "abacus")
    assert done.returncode == 2
    assert 'there is no "abacus"; it can be tensorflow.' in done.err


def test_wrong_machine_and_python(place_):
    place_.entry["python"] = "3.2"
    place_.write()
    done = run(place_)
    assert done.returncode == 1
    assert "needs Python 3.2 with the module venv" in done.err and "HORNGATE_PYTHON" in done.err
    assert place_.server.ranges == [], "it is found out before the download"
    place_.entry["machines"] = ["abacus"]
    place_.write()
    done = run(place_)
    assert done.returncode == 1
    assert "can be installed on Linux on abacus; this is" in done.err
    assert_untouched(place_)


def test_a_full_disk_and_a_folder_that_cannot_be_written(place_):
    place_.entry["needs"] = 10**18
    place_.write()
    done = run(place_)
    assert done.returncode == 1
    assert "1000000000003 MB are needed" in done.err
    assert place_.server.ranges == []
    blocked = place_.home.with_name("file")
    blocked.write_text("")
    done = run(place_, HORNGATE_HOME=str(blocked))
    assert done.returncode == 1 and "cannot be written" in done.err


def test_what_fails_half_way_leaves_the_old(monkeypatch, tmp_path):
    monkeypatch.setenv("HORNGATE_HOME", str(tmp_path))
    old = place.folder_of("onnx")
    old.mkdir(parents=True)
    (old / "a").write_text("old")
    with pytest.raises(InstallError), place.made_aside("onnx") as folder:
        (folder / "a").write_text("half")
        raise InstallError("no")
    assert [p.name for p in old.parent.iterdir()] == ["onnx"] and (old / "a").read_text() == "old"
    for exchange in (True, False):
        if not exchange:
            monkeypatch.setattr(place.ctypes, "CDLL", lambda *_, **__: object())
        (old.parent / ".onnx.new.killed").mkdir()
        with place.made_aside("onnx") as folder:
            (folder / "a").write_text(f"new {exchange}")
        assert [p.name for p in old.parent.iterdir()] == ["onnx"]
        assert (old / "a").read_text() == f"new {exchange}"


def test_a_server_that_always_fails(place_, monkeypatch, tmp_path):
    monkeypatch.setattr(download, "_PAUSES", (0, 0))

    class Index:
        def find(self, file):
            return "http://nowhere"

        def open(self, url, headers):
            raise OSError("connection refused")

    part = tmp_path / "downloads" / f"{WHEEL}.{place_.entry['files'][0]['sha256'][:12]}.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 10)
    with pytest.raises(InstallError) as error:
        download.fetch(Index(), place_.entry["files"][0], part.parent)
    assert "connection refused. 10 of" in str(error.value) and part.exists()


def test_the_list_is_pinned():
    assert list(command.ENGINES) == engine_names.installable()
    for name, engine in command.ENGINES.items():
        for file in engine["files"]:
            assert len(file["sha256"]) == 64 and int(file["sha256"], 16) and file["size"] > 1000
        assert any(engine["version"] in f["name"] for f in engine["files"]), name
        assert engine["needs"] > sum(f["size"] for f in engine["files"]) / 2
        assert ("keep" in engine) != ("python" in engine)


def test_python_is_found():
    version = "{}.{}".format(*sys.version_info)
    assert build.find_python(version) == sys.executable


def command_line(*words, **more):
    tool = ROOT / "build" / "bin" / "horngate"
    if not tool.exists():
        pytest.skip("build/bin/horngate is not built")
    return subprocess.run(
        [tool, *words], capture_output=True, text=True, env={**os.environ, **more}
    )


def test_the_command_runs_it(tmp_path):
    done = command_line(
        "engines",
        "install",
        "onnx",
        HORNGATE_HOME=str(tmp_path),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS="",
    )
    assert done.returncode == 1
    assert "horngate engines install: onnxruntime-" in done.stderr, done.stderr
    done = command_line("engines", "remove", "onnx", HORNGATE_HOME=str(tmp_path))
    assert done.returncode == 1 and "there is no" in done.stderr
    done = command_line("engines", "install", HORNGATE_PYTHON="/no/such/python")
    assert done.returncode == 1 and '"/no/such/python" cannot be run' in done.stderr
    done = command_line("engines", "improve")
    assert done.returncode == 2 and 'unknown argument "improve"' in done.stderr


def test_both_commands_list_the_same(tmp_path):
    """By default, as JSON, and where an engine is broken."""
    broken = tmp_path / "engines/onnx/onnxruntime/capi"
    broken.mkdir(parents=True)
    (broken / "libonnxruntime.so.1").write_text("no library")
    where = {f"HORNGATE_{name.upper()}": "" for name in command.ENGINES}
    where |= {"HORNGATE_HOME": str(tmp_path), "HORNGATE_PYTHON_PATHS": ""}
    python = [sys.executable, "-m", "horngate", "engines"]
    for words in ([], ["--json"]):
        said = command_line("engines", *words, **where)
        done = engine_process.run(*python, *words, **where)
        assert said.returncode == done.returncode == 0, done.stderr + said.stderr
        if words:
            both = [{r["name"]: r for r in json.loads(d.stdout)} for d in (said, done)]
            for found in both:
                assert found["native"]["ready"] and found["onnx"]["installed"]
                assert not found["onnx"]["ready"]
                assert "is not a 64-bit shared library" in found["onnx"]["problem"]
                assert found["onnx"]["where"].endswith("libonnxruntime.so.1")
            assert list(both[0]["null"]) == list(both[1]["null"])
        else:
            assert "native       0.1.0    ready          built in" in said.stdout
            assert "onnx         -        not ready      " in said.stdout
            assert (
                "theano       -        not installed  `horngate engines install theano`"
                in said.stdout
            )
            assert "null         1        ready" in done.stdout


def test_the_command_tests_an_engine(tmp_path):
    """The examples of all functions, then the cases; arguments go to pytest."""
    done = command_line("engines", "test", "native", "-k", "softsign", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"native: examples of {len(K.__all__) - 1} functions, 0 wrong" in done.stdout
    passed = re.search(r"(\d+) passed, \d+ deselected", done.stdout)
    assert passed and int(passed[1]) > 5, done.stdout
    done = command_line("engines", "test", "abacus")
    assert done.returncode == 2 and "there are native, " in done.stderr
    done = command_line("engines", "test", "onnx", HORNGATE_ONNX=str(tmp_path))
    assert done.returncode == 1 and "it is not ready: ONNX Runtime was not found" in done.stderr


def test_examples_find_what_is_wrong():
    """An engine that gives zeros fails them."""
    done = engine_process.run(sys.executable, "-m", "horngate._engine_examples", engine="null")
    wrong = re.search(r"null: examples of \d+ functions, (\d+) wrong", done.stdout)
    assert done.returncode == 1 and wrong and int(wrong[1]) > 50, done.stdout

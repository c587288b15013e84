"""What docs/adding_an_op.md and docs/writing_an_engine.md say is enough: their steps are taken in a copy of the clone, what
they change is compiled and linked with the other objects of build/, and the files that a hand touched are counted."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import engine_names
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MOST = 5  # files touched by hand

needs_build = pytest.mark.skipif(
    not (BUILD / "build.ninja").exists() or not (BUILD / "compile_commands.json").exists(),
    reason="links with the objects of build/, which Ninja made (`make build`)",
)


def listed():
    """The files of the clone, those that are new too."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"git does not list the files of the clone: {done.stderr}")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


class Copy:
    """A copy of the clone, with its own sources and the objects of build/ for all that does not change."""

    def __init__(self, folder):
        self.root, self.by_hand, self.made = folder, set(), set()
        for name in listed():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
        (folder / ".venv").symlink_to(ROOT / ".venv")

    def changed(self):
        """Files that are new or not as in the clone."""
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in ("build", ".venv", "__pycache__")]
            for name in names:
                path = pathlib.Path(folder, name).relative_to(self.root)
                ours = ROOT / path
                if not ours.exists() or ours.read_bytes() != (self.root / path).read_bytes():
                    found.add(str(path))
        return found

    def write(self, name, text):
        """Takes one step of a page: puts `text` where the page says that it goes."""
        self.by_hand.add(name)
        path = self.root / name
        before = path.read_text() if path.exists() else ""
        start = re.match(r"\s*\W*\w+[(:]", text)
        kin = start and [
            i for i in re.finditer(r"^.*\n", before, re.M) if i[0].startswith(start[0])
        ]
        if not before:
            path.parent.mkdir(parents=True, exist_ok=True)
            after = text
        elif kin:  # a line of a list
            after = before[: kin[-1].end()] + text + before[kin[-1].end() :]
        elif name.endswith((".h", ".cpp")):
            head, end, tail = before.rpartition("}  // namespace horngate\n")
            assert end, name
            after = f"{head}{text}\n{end}{tail}"
        elif name.endswith(".def"):
            at = before.rindex(" driver)\n") + len(" driver)\n")
            after = before[:at] + text + before[at:]
        elif name.endswith(".json"):
            after = before.rstrip().removesuffix("}").rstrip() + f",\n{text}}}\n"
        elif name == "src/README.md":
            at = before.index("\n", before.rindex("\n| `engines/") + 1) + 1
            after = before[:at] + text + before[at:]
        elif name.endswith(".md"):
            at = before.index("\n- ") + 1
            after = before[:at] + text + before[at:]
        else:
            after = f"{before}\n\n{text}"
        path.write_text(after)

    def steps(self, page, part=""):
        """Takes those that a page, or the part under one heading, writes out: ```language file."""
        text = (ROOT / "docs" / page).read_text()
        if part:
            text = text.split(f"\n## {part}\n")[1].split("\n## ")[0]
        blocks = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.S | re.M)
        assert blocks, page
        for name, block in blocks:
            self.write(name, block)

    def run(self, *words, env=None, check=True):
        given = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("HORNGATE_", "KERAS_", "PYTEST"))
        }
        given |= {"HORNGATE_NO_CONFIG_WRITE": "1", "KERAS_HOME": str(self.root / "build" / "keras")}
        given |= {"PYTHONPATH": str(self.root / "build" / "python"), **(env or {})}
        done = subprocess.run(
            [str(w) for w in words], cwd=self.root, env=given, capture_output=True, text=True
        )
        assert not check or done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done

    def generate(self):
        """`make generate`."""
        self.made |= set(self.run(sys.executable, "tools/generate.py").stdout.split())

    def pytest(self, *words):
        done = self.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words)
        return int(re.search(r"(\d+) passed", done.stdout)[1])

    def compile(self, source, like=None):
        """The object of one changed source, with the flags of build/; (the object of build/, ours)."""
        entries = json.loads((BUILD / "compile_commands.json").read_text())
        known = str(ROOT / (like or source))
        entry = next(e for e in entries if e["file"] == known)
        theirs = re.search(r" -o (\S+)", entry["command"])[1]
        ours = self.root / "build" / source.replace("/", "_").replace(".cpp", ".o")
        ours.parent.mkdir(exist_ok=True)
        command = entry["command"].replace(f" -o {theirs}", f" -o {ours}")
        command = command.replace(like or source, source).replace(str(ROOT), str(self.root))
        done = subprocess.run(
            shlex.split(command), cwd=entry["directory"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return theirs, str(ours)

    def link(self, target, objects):
        """A target of build/ again, with some objects replaced, in the place that it has in build/."""
        cache = (BUILD / "CMakeCache.txt").read_text()
        ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", cache, re.M)[1]
        words = [ninja, "-C", str(BUILD), "-t", "commands", target]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        command = said.splitlines()[-1]
        to = self.root / "build" / target
        to.parent.mkdir(parents=True, exist_ok=True)
        replaced = {
            target: str(to),
            library(): str(self.root / "build" / library()),
        }
        replaced |= objects
        words = [replaced.get(word, word) for word in command.split(" ")]
        assert not objects or set(objects.values()) <= set(words), target
        command = " ".join(words).replace(str(BUILD), str(self.root / "build"))
        subprocess.run(command, shell=True, cwd=BUILD, check=True)

    def take(self, folder):
        """Links to what build/ has in a folder and we have not."""
        (self.root / "build" / folder).mkdir(parents=True, exist_ok=True)
        for path in (BUILD / folder).iterdir():
            ours = self.root / "build" / folder / path.name
            if not ours.exists() and path.name != "horngate":
                ours.symlink_to(path)

    def package(self):
        """The Python package of the copy beside its libraries."""
        self.take("lib")
        self.take("lib/horngate/engines")
        for path in (self.root / "python" / "horngate").iterdir():
            ours = self.root / "build" / "python" / "horngate" / path.name
            ours.parent.mkdir(parents=True, exist_ok=True)
            ours.symlink_to(path)
        self.take("python/horngate")


def library():
    """The library in build/, by the name that has its version."""
    return f"lib/{(BUILD / 'lib' / 'libhorngate.so').resolve().name}"


def module():
    """The extension module in build/."""
    found = list((BUILD / "python" / "horngate").glob("_horngate.*.so"))
    return str(found[0].relative_to(BUILD))


def row(what):
    """The files of a row of CONTRIBUTING's table."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    cells = re.search(rf"^\| {what} \|([^|]*)\|", text, re.M)
    return set(re.findall(r"`([^` ]*[/.][^` ]*)`", cells[1]))


def taken(folder, part):
    """A copy in which the steps of a part of adding_an_op.md are taken."""
    copy = Copy(folder)
    copy.steps("adding_an_op.md", part)
    copy.generate()
    return copy


@pytest.fixture(scope="module")
def with_function(tmp_path_factory):
    return taken(tmp_path_factory.mktemp("function"), "A composed function")


def test_the_files_of_a_composed_function(with_function):
    copy = with_function
    assert len(copy.by_hand) <= MOST, copy.by_hand
    named = {
        n.replace("<section>", "nn").replace("<op>", "silu") for n in row("a composed function")
    }
    assert copy.by_hand == named | {"CHANGELOG.md"}
    assert copy.changed() == copy.by_hand | copy.made
    assert not copy.by_hand & copy.made
    assert copy.run(sys.executable, "tools/generate.py", "--check").stdout == ""
    for name in ("docs/functions.md", "python/horngate/backend.pyi", "python/src/bind_regular.cpp"):
        assert name in copy.made and "silu(" in (copy.root / name).read_text()


@needs_build
@pytest.mark.slow
def test_those_are_enough_for_a_composed_function(with_function):
    copy = with_function
    copy.link(library(), dict([copy.compile("src/api/nn.cpp")]))
    copy.link(module(), dict([copy.compile("python/src/bind_regular.cpp")]))
    copy.package()
    assert copy.pytest("tests/cases/silu.py") > 10
    # The whole files: a new name must not disturb what they say of the others.
    assert (
        copy.pytest("tests/python/test_signatures.py", "tests/python/test_generated_docs.py") > 300
    )
    names = ["test_cpp_signatures", "test_stubs", "test_doc_examples", "test_wrong_arguments"]
    assert copy.pytest(*(f"tests/python/{n}.py" for n in names), "-k", "silu") >= 5
    words = ["tests/python/test_fuzz.py", "-k", "every_function_of_the_catalogue"]
    assert copy.pytest(*words) == 1


@pytest.fixture(scope="module")
def with_primitive(tmp_path_factory):
    return taken(tmp_path_factory.mktemp("primitive"), "A primitive")


def test_the_files_of_an_elementwise_primitive(with_primitive):
    copy = with_primitive
    assert len(copy.by_hand) <= MOST, copy.by_hand
    named = {n.replace("<op>", "reciprocal") for n in row("an element-wise primitive")}
    assert copy.by_hand == named
    assert copy.changed() == copy.by_hand | copy.made
    assert copy.made == {"docs/primitives.md"}
    assert "| `reciprocal` |  | y = 1 / x. |" in (copy.root / "docs/primitives.md").read_text()


@needs_build
@pytest.mark.slow
def test_those_are_enough_for_an_elementwise_primitive(with_primitive):
    """What is made from the lists compiles. All objects know the number of a primitive, so nothing can be linked."""
    copy = with_primitive
    folder = "src/engines/native"
    sources = ["src/prims/build.cpp", "src/prims/table.cpp", f"{folder}/jit/lower.cpp"]
    sources += [f"{folder}/fused/{name}.cpp" for name in ("ops_float", "program", "machine_build")]
    for source in sources:
        copy.compile(source)
    copy.compile("src/prims/reciprocal.cpp", like="src/prims/erf.cpp")
    for name in ("fused_math", "jit", "prims_shape", "engine_support"):
        copy.compile(f"tests/cpp/{name}_test.cpp")


def test_an_argument_that_no_table_converts(tmp_path):
    """Making the binding fails, and says where to write it instead."""
    copy = Copy(tmp_path)
    declaration = "Tensor twice(const std::function<Tensor()>& fn);\n"
    copy.write("include/horngate/ops/nn.h", f"/// Calls.\n[[nodiscard]] HORNGATE_API {declaration}")
    copy.write(
        "python/horngate/_nn.py", "def twice(fn: object) -> Tensor:\n    return _hg.twice(fn)\n"
    )
    done = copy.run(sys.executable, "tools/generate.py", check=False)
    assert done.returncode == 1
    assert "cannot bind twice: std::function<Tensor()> fn is not in its table." in done.stderr
    assert "Bind it in python/src/bind_*.cpp." in done.stderr


@pytest.fixture(scope="module")
def with_engine(tmp_path_factory):
    copy = Copy(tmp_path_factory.mktemp("engine"))
    copy.steps("writing_an_engine.md")
    stub = (ROOT / "tests" / "engines" / "stub.cpp").read_text()
    assert stub.count('"stub"') == 1
    copy.write("src/engines/abacus/abacus.cpp", stub.replace('"stub"', '"abacus"'))
    copy.generate()
    return copy


def test_the_files_of_an_engine(with_engine):
    copy = with_engine
    assert len(copy.by_hand) <= MOST, copy.by_hand
    named = {n.replace("<engine>", "abacus") for n in row("an engine")}
    assert {re.sub(r"[^/]*\.cpp$", "", n) for n in copy.by_hand} == named | {"CHANGELOG.md"}
    assert copy.changed() == copy.by_hand | copy.made
    assert copy.made == {
        "python/horngate/_engine_names.py",
        "python/horngate/abacus.py",
        "docs/engines.md",
    }
    page = (copy.root / "docs" / "engines.md").read_text()
    assert "| `abacus` | Abacus 1.0 |" in page and "| `HORNGATE_ABACUS` |" in page
    assert copy.run(sys.executable, "tools/engine_names.py").stdout.split()[-1] == "abacus"


RUN = "import horngate.abacus as K; print(K.backend(), K.eval(-K.ones((2,))))"
BACKEND = "import horngate as K; K.backend()"


@needs_build
@pytest.mark.slow
def test_those_are_enough_for_an_engine(with_engine):
    copy = with_engine
    sources = [n for n in listed() if n.startswith("src/") and n.endswith(".cpp")]
    readers = [n for n in sources if "engines/names.h" in (ROOT / n).read_text()]
    assert len(readers) >= 3
    objects = dict(copy.compile(n) for n in readers)
    copy.link(library(), objects)
    null, ours = "src/engines/null/null.cpp", "src/engines/abacus/abacus.cpp"
    theirs, made = copy.compile(ours, like=null)
    copy.link("lib/horngate/engines/libhorngate_engine_null.so", {theirs: made})
    folder = copy.root / "build" / "lib" / "horngate" / "engines"
    (folder / "libhorngate_engine_null.so").rename(folder / "libhorngate_engine_abacus.so")
    copy.package()
    said = copy.run(sys.executable, "-c", RUN)
    assert said.stdout == "abacus [-1. -1.]\n" and "Using abacus backend.\n" in said.stderr
    wrong = copy.run(sys.executable, "-c", BACKEND, env={"KERAS_BACKEND": "Abacus"}, check=False)
    assert "onnx, abacus) or a plug-in" in wrong.stderr
    assert 'Did you mean "abacus"?' in wrong.stderr
    # The column of what it supports.
    copy.link(
        "bin/horngate_tests", objects | dict([copy.compile("tests/cpp/engine_support_test.cpp")])
    )
    copy.run(sys.executable, "tools/engines_doc.py", "--record")
    support = (copy.root / "api" / "engine_support.tsv").read_text()
    assert "\tabacus\n" in support and "\nneg\tdirect\tdirect\tdirect\tdirect\tdirect\n" in support
    assert copy.pytest("tests/python/test_generated_docs.py", "tests/python/test_includes.py") >= 10
    assert copy.pytest("tests/python/test_engines_install.py", "-k", "pinned") == 1


GENERATED = {"python/horngate/_engine_names.py"}
CODE = (".cpp", ".h", ".py", ".sh", ".cmake", ".txt", ".yml", ".yaml", ".toml", "Makefile", "run")


def test_engines_stand_in_one_list():
    """No three lines of code name them all; what is known of each of them alone may stand anywhere."""
    names = engine_names.installable()
    assert len(names) >= 4
    found = []
    for file in listed():
        if not file.endswith(CODE) or file in GENERATED or file.startswith(("docs/", "api/")):
            continue
        lines = (ROOT / file).read_text().splitlines()
        for i in range(len(lines)):
            words = set(re.findall(r"[a-z]+", " ".join(lines[i : i + 3])))
            if set(names) <= words:
                found.append(f"{file}:{i + 1}")
    assert found == [], (
        "ask src/engines/engines.def (engines/names.h, tools/engine_names.py) instead"
    )


def test_every_engine_has_its_folder():
    """CMake makes a plug-in of each folder; the list has the same."""
    folders = ROOT / "src" / "engines"
    with_sources = {path.parent.name for path in folders.glob("*/*.cpp")}
    assert with_sources == {engine.name for engine in engine_names.read()}

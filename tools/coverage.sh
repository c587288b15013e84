#!/usr/bin/env bash
# How much of the library the tests reach: builds it in build-coverage/, runs C++ tests and Python tests on it, prints one
# JSON line and writes build-coverage/coverage.txt (per file) and html/. Plug-in engines count only where they are
# installed, so they are left out. Ends with 1 below 90 % of lines or 80 % of branches.
# Clang counts what the source says: each condition, true and false, a template once. GCC counts what the compiler makes
# of it: destructors, copies that it inlined, every instantiation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs="${1:-2}"
build="$PWD/build-coverage"
if ! command -v clang++-19 llvm-cov-19 >/dev/null; then
  echo "coverage: install clang-19, llvm-19 and libomp-19-dev (Debian)" >&2
  exit 2
fi

cmake --preset coverage >/dev/null
cmake --build "$build" -j "$jobs"

rm -rf "$build/profiles"
mkdir "$build/profiles"
unset KERAS_BACKEND
export KERAS_HOME="$build/keras" HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1 HORNGATE_TEST_ENGINES=native
# One file a library, to which all processes add.
export LLVM_PROFILE_FILE="$build/profiles/%m.profraw"
# The module of that build instead of the one that .venv points to.
export PYTHONPATH="$build/python"
"$build/bin/horngate_tests" --gtest_brief=1 --gtest_filter='-Speed*'
"$build/bin/keras_tests" --gtest_brief=1
HORNGATE_PLAIN=1 "$build/bin/horngate_tests" --gtest_brief=1 --gtest_filter='Api*'
# On a full disk the counters cannot be written either, and Clang says so.
.venv/bin/python -m pytest tests/cases tests/python -q -n "$jobs" -k "not full_disk" || echo "coverage: some Python tests failed"

llvm-profdata-19 merge -o "$build/all.profdata" "$build"/profiles/*.profraw
plugins="$(.venv/bin/python tools/engine_names.py --plugins)"
report=("$build/bin/horngate_tests" -object "$build/bin/keras_tests" -object "$build/lib/libhorngate.so" -instr-profile "$build/all.profdata"
  -ignore-filename-regex "src/engines/(${plugins// /|})/|src/cli/|/tests/|/bench/|/examples/|/build-coverage/|^/usr/|/python/|/\.venv/")
llvm-cov-19 report "${report[@]}" >"$build/coverage.txt"
llvm-cov-19 show "${report[@]}" -format=html -output-dir "$build/html" -show-branches=count -show-instantiations=false
llvm-cov-19 export "${report[@]}" -summary-only >"$build/coverage.json"
.venv/bin/python - "$build/coverage.json" <<'PY'
import json
import sys

totals = json.load(open(sys.argv[1]))["data"][0]["totals"]
lines, branches = (round(totals[k]["percent"], 1) for k in ("lines", "branches"))
print(json.dumps({"lines": lines, "branches": branches, "ok": lines >= 90 and branches >= 80}))
sys.exit(lines < 90 or branches < 80)
PY

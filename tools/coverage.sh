#!/usr/bin/env bash
# How much of the library the tests reach: builds it in build-coverage/, runs C++ tests and Python tests on it, prints one
# JSON line and writes build-coverage/coverage.txt (per file) and coverage.html. Plug-in engines count only where they
# are installed, so they are left out. Ends with 1 below 90 % of lines or 80 % of branches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs="${1:-2}"
build="$PWD/build-coverage"
venv="$build/venv"

cmake --preset coverage >/dev/null
cmake --build "$build" -j "$jobs"
if [[ ! -x $venv/bin/gcovr ]]; then
  .venv/bin/python -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check gcovr==8.3
fi

find "$build" -name '*.gcda' -delete
unset KERAS_BACKEND
export KERAS_HOME="$build/keras" HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1 HORNGATE_TEST_ENGINES=native
# The module of that build instead of the one that .venv points to.
export PYTHONPATH="$build/python"
"$build/bin/horngate_tests" --gtest_brief=1 --gtest_filter='-Speed*'
HORNGATE_PLAIN=1 "$build/bin/horngate_tests" --gtest_brief=1 --gtest_filter='Api*'
.venv/bin/python -m pytest tests/cases tests/python -q -n "$jobs" || echo "coverage: some Python tests failed"

plugins="$(.venv/bin/python tools/engine_names.py --plugins)"
"$venv/bin/gcovr" --root . --object-directory "$build" -j "$jobs" --filter 'src/' --filter 'include/' \
  --exclude "src/engines/(${plugins// /|})/" --exclude 'src/cli/' \
  --exclude-throw-branches --exclude-unreachable-branches --gcov-ignore-parse-errors=all \
  --merge-mode-functions=separate --txt "$build/coverage.txt" --html "$build/coverage.html" \
  --json-summary "$build/coverage.json"
"$venv/bin/python" - "$build/coverage.json" <<'PY'
import json
import sys

said = json.load(open(sys.argv[1]))
lines, branches = said["line_percent"], said["branch_percent"]
print(json.dumps({"lines": lines, "branches": branches, "ok": lines >= 90 and branches >= 80}))
sys.exit(lines < 90 or branches < 80)
PY

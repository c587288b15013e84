#!/usr/bin/env bash
# Runs every test of a built clone: tools/test.sh [jobs] [pytest arguments]. Goes on after a failure,
# so that one run shows all of them; ends with the totals and a non-zero status if anything failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs="${1:-2}"
shift || true
results=build/test-results
status=0

# The user's own configuration does not matter here.
unset KERAS_BACKEND
export KERAS_HOME="$PWD/build/keras" HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1

# Old results would be counted again, and Keras may have left a keras.json that names another engine.
rm -rf "$results" "$KERAS_HOME/keras.json"
mkdir -p "$results"

# Engines that are ready here are tested too: a sample of the cases on each, and their own tests.
export HORNGATE_TEST_SAMPLE="${HORNGATE_TEST_SAMPLE:-8}"
export HORNGATE_THEANO_CACHE="${HORNGATE_THEANO_CACHE:-$PWD/build/theano-cache}"
HORNGATE_TEST_ENGINES="$(.venv/bin/python tools/test_engines.py)" || exit 1
export HORNGATE_TEST_ENGINES
echo "== Engines: $HORNGATE_TEST_ENGINES (one of $HORNGATE_TEST_SAMPLE cases on all but native)"

echo "== C++ and installation"
ctest --test-dir build --output-on-failure --no-tests=error -j "$jobs" \
  --output-junit "$PWD/$results/ctest.xml" || status=1

echo "== Python"
folders=()
for folder in tests/python tests/cases; do [[ -d $folder ]] && folders+=("$folder"); done
if ((${#folders[@]})); then
  # Workers cost a second to start and save half of a minute.
  .venv/bin/python -m pytest "${folders[@]}" -q -rs -n "$jobs" -m "not alone" \
    --junitxml "$results/pytest.xml" "$@" || status=1
  # Those that measure how fast processes answer each other; 5: arguments leave none of them.
  .venv/bin/python -m pytest tests/python -q -rs -m alone --junitxml "$results/pytest_alone.xml" "$@" || [[ $? == 5 ]] || status=1
else
  echo "no Python tests yet"
fi

# Several processes, where an MPI library is installed (`horngate comm install openmpi`): a minute; `make test-distributed` is
# the long form. One after the other: these tests measure how fast a fault is noticed.
comm="${HORNGATE_HOME:-$HOME/.horngate}/comm"
if compgen -G "$comm/*/bin/mpirun" >/dev/null; then
  echo "== Several processes"
  HORNGATE_HOME="${comm%/comm}" HORNGATE_TEST_SHORT=1 .venv/bin/python -m pytest tests/distributed -q -rs -p no:cacheprovider \
    --junitxml "$results/distributed/pytest.xml" || status=1
  .venv/bin/python tools/test_totals.py "$results/distributed" || status=1
else
  echo "== Several processes: no MPI library is installed, not tested"
fi

.venv/bin/python tools/test_totals.py "$results" || status=1
exit "$status"

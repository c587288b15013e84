#!/usr/bin/env bash
# Builds and runs the C++ tests under a sanitizer: tools/sanitize.sh asan|tsan [jobs] [gtest arguments]; or fuzzes whole
# graphs under the address and undefined sanitizers: tools/sanitize.sh fuzz [jobs] [arguments of the fuzzer].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind="${1:?asan, tsan or fuzz}"
case "$kind" in asan | tsan | fuzz) ;; *) echo "sanitize: asan, tsan or fuzz; got $kind" >&2; exit 2 ;; esac
jobs="${2:-2}"
shift $(($# < 2 ? $# : 2))
tools="$PWD/tools"
build="build-$kind"

if [[ $kind == fuzz ]]; then
  build=build-asan
  cmake --preset asan -DHORNGATE_BUILD_PYTHON=ON
  cmake --build "$build" -j "$jobs"
else
  [[ -f $build/build.ninja ]] || cmake --preset "$kind"
  cmake --build "$build" -j "$jobs" --target horngate_tests keras_tests
fi

export HORNGATE_ENGINE_PATH="$PWD/$build/lib/horngate/engines"
# The user's own settings do not count.
unset KERAS_BACKEND
export KERAS_HOME="$PWD/$build/keras" HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1"
export LSAN_OPTIONS="suppressions=$tools/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:suppressions=$tools/ubsan.supp"
export TSAN_OPTIONS="suppressions=$tools/tsan.supp:halt_on_error=1:second_deadlock_stack=1"

# All tests of a program in shards, `jobs` at a time, as ctest runs them; a sanitizer leaves most of a test on one CPU.
run_tests() { # program, words before it
  local program=$1 shards=8 log
  shift
  for ((i = 0; i < shards; ++i)); do echo "$i"; done |
    GTEST_TOTAL_SHARDS=$shards xargs -P "$jobs" -I{} sh -c \
      'shard=$1; log=$2/shard_$1.txt; shift 2; GTEST_SHARD_INDEX=$shard "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }' \
      shard {} "$logs" "$@" "$build/bin/$program" --gtest_brief=1 "${arguments[@]}" || failed=1
  for log in "$logs"/shard_*.txt; do
    tests=$((tests + $(sed -nE 's/^\[ +PASSED +\] ([0-9]+) tests?.*/\1/p' "$log" | tail -1 | grep . || echo 0)))
    skipped=$((skipped + $(sed -nE 's/^\[ +SKIPPED +\] ([0-9]+) tests?.*/\1/p' "$log" | tail -1 | grep . || echo 0)))
  done
}

arguments=("$@") tests=0 skipped=0 failed=0
case "$kind" in
  asan)
    words=() ;;
  # The libraries of plug-in engines synchronise where the thread sanitizer cannot see it: their tests are skipped. GCC 12's
  # does not know the address layouts of newer kernels.
  tsan)
    export HORNGATE_HOME="$PWD/$build/no-engines"
    words=(setarch -R) ;;
  # Python itself is not built for it: the run time is loaded first, and what Python never frees is no leak of ours.
  fuzz)
    export ASAN_OPTIONS="detect_leaks=0:$ASAN_OPTIONS" PYTHONPATH="$PWD/$build/python:$PWD/tests"
    (($#)) || set -- --seconds 600
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
      exec .venv/bin/python -m fuzz --jobs "$jobs" "$@" ;;
esac

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# A call with more than 64 variables holds more locks than the thread sanitizer's search for deadlocks counts.
wide='WholeSafetensors.*'
[[ $kind == tsan && ${#arguments[@]} == 0 ]] && arguments=("--gtest_filter=-$wide") || wide=
for program in keras_tests horngate_tests; do run_tests "$program" "${words[@]}"; done
if [[ $wide ]]; then
  arguments=("--gtest_filter=$wide")
  TSAN_OPTIONS+=":detect_deadlocks=0" run_tests keras_tests "${words[@]}"
fi
printf '{"tests": %d, "skipped": %d, "ok": %s}\n' "$tests" "$skipped" "$( ((failed)) && echo false || echo true)"
exit "$failed"

#!/usr/bin/env bash
# Builds and runs the C++ tests under a sanitizer: tools/sanitize.sh asan|tsan [jobs] [gtest arguments]; or fuzzes whole
# graphs under the address and undefined sanitizers: tools/sanitize.sh fuzz [jobs] [arguments of the fuzzer].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind="${1:?asan, tsan or fuzz}"
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

case "$kind" in
  asan)
    "$build/bin/keras_tests" --gtest_brief=1 "$@"
    exec "$build/bin/horngate_tests" --gtest_brief=1 "$@" ;;
  # The libraries of plug-in engines synchronise where the thread sanitizer cannot see it: their tests are skipped. GCC 12's
  # does not know the address layouts of newer kernels.
  tsan)
    export HORNGATE_HOME="$PWD/$build/no-engines"
    setarch -R "$build/bin/keras_tests" --gtest_brief=1 "$@"
    exec setarch -R "$build/bin/horngate_tests" --gtest_brief=1 "$@" ;;
  # Python itself is not built for it: the run time is loaded first, and what Python never frees is no leak of ours.
  fuzz)
    export ASAN_OPTIONS="detect_leaks=0:$ASAN_OPTIONS" PYTHONPATH="$PWD/$build/python:$PWD/tests"
    (($#)) || set -- --seconds 600
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
      exec .venv/bin/python -m fuzz --jobs "$jobs" "$@" ;;
  *) echo "sanitize: asan, tsan or fuzz; got $kind" >&2; exit 2 ;;
esac

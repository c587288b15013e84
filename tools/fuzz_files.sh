#!/usr/bin/env bash
# Hunts faults in the readers of HDF5, safetensors and JSON under the address and undefined sanitizers:
# tools/fuzz_files.sh [seconds] [arguments of libFuzzer]. With clang++-19 libFuzzer steers it; without it our own program
# does damage at random. What is found is in build/fuzz/; make it a case of tests/models/hostile_test.cpp.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:-600}"
shift || true
work=build/fuzz
mkdir -p "$work/objects" "$work/corpus"

flags=(-std=c++20 -O1 -g -Iinclude -Isrc -Itests/models -fno-omit-frame-pointer -fno-sanitize-recover=all)
if command -v clang++-19 >/dev/null; then
  compiler=clang++-19
  flags+=(-fsanitize=fuzzer,address,undefined -DHORNGATE_LIBFUZZER)
else
  compiler=g++
  flags+=(-fsanitize=address,undefined -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
fi

# Each file by itself: a change costs one of them. Headers count for all.
is_old() { [[ ! -f $2 || -n $(find "$1" src/files include/horngate tests/models '(' -path "$1" -o -name '*.h' ')' -newer "$2") ]]; }
objects=()
for source in src/files/*.cpp tests/models/fuzz_files.cpp; do
  object="$work/objects/$(basename "$source" .cpp).o"
  objects+=("$object")
  if is_old "$source" "$object"; then "$compiler" "${flags[@]}" -c "$source" -o "$object"; fi
done
"$compiler" "${flags[@]}" "${objects[@]}" -o "$work/files"

export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
if [[ $compiler == g++ ]]; then
  exec "$work/files" tests/models/corpus "$seconds"
fi
# A file of 64 KB may take no 80 MB. It takes milliseconds; a minute, because others use the machine too.
exec "$work/files" -max_total_time="$seconds" -max_len=65536 -timeout=60 -malloc_limit_mb=80 -rss_limit_mb=2048 \
  -artifact_prefix="$work/" -print_final_stats=1 "$@" "$work/corpus" tests/models/corpus

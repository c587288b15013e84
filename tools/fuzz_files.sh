#!/usr/bin/env bash
# Hunts faults in the readers of HDF5, safetensors and JSON under the address and undefined sanitizers:
# tools/fuzz_files.sh [seconds] [processes] [arguments of libFuzzer]. With clang++-19 libFuzzer steers it; without it our own
# program does damage at random. What is found is in build/fuzz/; make it a case of tests/models/hostile_test.cpp. Ends with
# a JSON line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:-600}"
processes="${2:-1}"
shift $(($# < 2 ? $# : 2))
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
  command=("$work/files" tests/models/corpus "$seconds")
else
  # A file of 64 KB may take no 80 MB. It takes milliseconds; a minute, because others use the machine too.
  command=("$work/files" -max_total_time="$seconds" -max_len=65536 -timeout=60 -malloc_limit_mb=80 -rss_limit_mb=2048
    -artifact_prefix="$work/" -print_final_stats=1 -reload=1 "$@" "$work/corpus" tests/models/corpus)
fi

# Each process writes what it finds new into the one corpus and reads there what the others found.
pids=() ok=true
for ((i = 0; i < processes; ++i)); do
  "${command[@]}" >"$work/log_$i.txt" 2>&1 &
  pids+=($!)
done
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
for ((i = 0; i < processes; ++i)); do
  wait "${pids[$i]}" || { ok=false; tail -n 60 "$work/log_$i.txt"; }
done
runs="$(sed -nE 's/^stat::number_of_executed_units: ([0-9]+)|^\{.*"runs": ([0-9]+).*/\1\2/p' "$work"/log_*.txt | awk '{n += $1} END {print n + 0}')"
cpu="$(times | tail -n 1 | awk -F '[ms ]+' '{printf "%d", 60 * $1 + $2 + 60 * $3 + $4}')"
printf '{"files": %s, "cpu_s": %s, "ok": %s}\n' "$runs" "$cpu" "$ok"
$ok

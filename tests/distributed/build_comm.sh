#!/usr/bin/env bash
# Builds communicators, their tests and their rank without the rest of the library, in a minute:
# tests/distributed/build_comm.sh FOLDER [compiler flags]. For sanitizers: `build_comm.sh build-comm-tsan -fsanitize=thread`.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
mkdir -p "${1:?a folder}"
out="$(cd "$1" && pwd)"
shift
cd "$root"

compiler=(ccache "${CXX:-c++}")
command -v ccache >/dev/null || compiler=("${compiler[@]:1}")
flags=(-std=c++20 -O1 -g -fPIC -Wall -Wextra -Iinclude -Isrc -Itests/cpp "-DHORNGATE_TEST_COMM_DIR=\"$out/comm\"" "$@")
# What communicators need of the basic types.
basic=(src/ir/{check,checked,dtype,environment,fork,interrupt,shape,switches,warn}.cpp)

mkdir -p "$out/objects" "$out/comm"
objects=()
for source in src/comm/*.cpp "${basic[@]}" tests/cpp/comm_*_test.cpp tests/cpp/comm_test.cpp tests/distributed/worker.cpp; do
  [[ -e $source ]] || continue
  object="$out/objects/$(tr / _ <<<"${source%.cpp}").o"
  "${compiler[@]}" "${flags[@]}" -c "$source" -o "$object"
  case "$source" in
    tests/cpp/*) tests+=("$object") ;;
    tests/*) worker="$object" ;;
    *) objects+=("$object") ;;
  esac
done
for name in mpi threads; do
  "${compiler[@]}" "${flags[@]}" -fvisibility=hidden -shared src/comm/"$name"/*.cpp -o "$out/comm/libhorngate_comm_$name.so" -ldl
done
"${compiler[@]}" "${flags[@]}" "${objects[@]}" "${tests[@]}" -o "$out/comm_tests" -lgtest -lgtest_main -lpthread -ldl
"${compiler[@]}" "${flags[@]}" "${objects[@]}" "$worker" -o "$out/comm_worker" -lpthread -ldl

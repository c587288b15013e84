#!/usr/bin/env bash
# Installs a build into a fresh folder and builds and runs a project that uses it: run.sh <build>.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="$(cd "${1:?build folder}" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
# Moved: nothing in an installation may remember where it was put.
mv "$work/first" "$work/prefix"
cmake -S "$here" -B "$work/app" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug
cmake --build "$work/app"
"$work/app/app"
(cd "$work" && "$work/app/models")

# Programs ask for the library by a name with its version, and for a package of no other version.
version="$("$work/prefix/bin/horngate" --version | cut -d' ' -f2)"
abi="$(cut -d. -f1,2 <<<"$version")"
objdump -p "$work/app/models" | grep -q "NEEDED *libhorngate_keras.so.$abi\$"
objdump -p "$work/app/app" | grep -q "NEEDED *libhorngate.so.$abi\$"
for wrong in 0.0 "${abi%.*}.$((${abi#*.} + 1))" 99; do
  mkdir -p "$work/wrong"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\nfind_package(Horngate %s REQUIRED)\n' \
    "$wrong" >"$work/wrong/CMakeLists.txt"
  if cmake -S "$work/wrong" -B "$work/wrong/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/why" 2>&1; then
    echo "install test: find_package(Horngate $wrong) took $version" >&2
    exit 1
  fi
  grep -q "compatible with requested version" "$work/why" || { cat "$work/why" >&2; exit 1; }
done
# The same two programs with a compiler and pkg-config alone.
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$(dirname "$(find "$work/prefix" -name horngate.pc)")"
  [[ "$(pkg-config --modversion horngate-keras)" == "$version" ]]
  for program in main:horngate models:horngate-keras; do
    read -ra flags <<<"$(pkg-config --cflags --libs "${program#*:}")"
    libs="$(pkg-config --variable=libdir "${program#*:}")"
    g++ -std=c++20 "$here/${program%:*}.cpp" -o "$work/${program%:*}" "${flags[@]}" -Wl,-rpath,"$libs"
    (cd "$work" && "./${program%:*}")
  done
else
  echo "install test: no pkg-config here, its files were not tried"
fi

root="$(cd "$here/../.." && pwd)"
python="$root/.venv/bin/python"
horngate="$work/prefix/bin/horngate"
if [[ -x $horngate ]]; then
  "$horngate" --version
  "$horngate" engines >"$work/list"
  grep -q "native .* ready" "$work/list"
fi
# The command finds its installer of engines, which asks pip where files come from.
if [[ -x $horngate && -x $python ]]; then
  if HORNGATE_HOME="$work/home" HORNGATE_PYTHON="$python" PIP_NO_INDEX=1 PIP_FIND_LINKS="" \
    "$horngate" engines install onnx 2>"$work/why"; then exit 1; fi
  grep -q "pip is configured for no index" "$work/why" || { cat "$work/why" >&2; exit 1; }
fi
# Engines are tested by the Python module. A Python without it: one line that says so.
if [[ -x $horngate && -x $python ]]; then
  printf '#!/bin/sh\nexec "%s" -I -S "$@"\n' "$python" >"$work/bare"
  chmod +x "$work/bare"
  if HORNGATE_PYTHON="$work/bare" "$horngate" engines test native 2>"$work/why"; then exit 1; fi
  grep -q "^horngate engines test: needs Horngate's Python module, which $work/bare does not have" "$work/why" &&
    [[ $(wc -l <"$work/why") == 1 ]] || { cat "$work/why" >&2; exit 1; }
fi
# The wheel of this checkout, with the binding compiled against that installation.
if [[ -x $python ]]; then
  "$python" -m pip install "$root" --quiet --no-deps --no-build-isolation --disable-pip-version-check \
    --target "$work/site" -C cmake.define.Horngate_ROOT="$work/prefix"
  (cd "$work" && PYTHONPATH="$work/site" "$python" -c "
import horngate as K, numpy as np
assert K.__file__.startswith('$work/site'), K.__file__
x = K.placeholder(shape=(None, 2))
assert K.function([x], [K.sum(x * x)])([np.ones((3, 2))])[0] == 6")
  (cd "$work" && PYTHONPATH="$work/site" "$python" -m horngate engines >"$work/list")
  grep -q "native .* ready" "$work/list"
fi
# No header of ours may need a third party's, or a folder that is not installed.
for header in $(cd "$work/prefix/include" && find horngate -name '*.h'); do
  echo "#include <$header>" >"$work/one.cpp"
  g++ -std=c++20 -fsyntax-only -I"$work/prefix/include" "$work/one.cpp" || {
    echo "install test: <$header> does not compile by itself" >&2
    exit 1
  }
done
echo "install test: ok"

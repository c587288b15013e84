#!/usr/bin/env bash
# Prepares a clone for building: Debian packages that are missing, and .venv with pinned tools and
# libraries. Safe to call again: a stamp makes the second call free.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
stamp="$venv/.horngate-setup"

source "$root/tools/debian.sh"
say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# The clone's place belongs to the key because a venv does not survive being moved.
key="$(printf '%s\n' "$root" | cat - "$root/tools/setup.sh" "$root/tools/requirements.txt" | sha256sum | cut -d' ' -f1)"
if [[ -x "$venv/bin/python" && -f "$stamp" && "$(cat "$stamp")" == "$key" ]]; then
  touch "$stamp"
  exit 0
fi

# --- Python: the one on PATH if it can build an extension, else Debian's -----------------------

python_is_new() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
python_has_parts() {
  "$1" - 2>/dev/null <<'PY'
import ensurepip, os, sys, sysconfig, venv
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PY
}

packages=()
python="$(command -v "${PYTHON:-python3}" || true)"
if [[ -z "$python" ]] || ! python_is_new "$python" || ! python_has_parts "$python"; then
  python=/usr/bin/python3
  if ! python_has_parts "$python"; then packages+=(python3 python3-venv python3-dev); fi
fi

# --- Debian packages --------------------------------------------------------------------------

packages+=(libhwy-dev libxbyak-dev nlohmann-json3-dev libgtest-dev ninja-build)
command -v g++ >/dev/null || packages+=(g++)
command -v cmake >/dev/null || packages+=(cmake)
[[ "$(uname -m)" == x86_64 ]] || packages+=(libdnnl-dev)

need_debian setup "${packages[@]}"

python_is_new "$python" || fail "Python 3.11 or newer is needed; set PYTHON to one."

# --- .venv ------------------------------------------------------------------------------------

say "preparing .venv with $("$python" --version)"
# --clear: a half-made or moved venv is not worth repairing.
"$python" -m venv --clear "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/tools/requirements.txt"

# The build tree is the package: `import horngate` and `horngate` follow each build without an install.
site="$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
printf '%s\n' "$root/build/python" >"$site/horngate-build.pth"
cat >"$venv/bin/horngate" <<'LAUNCHER'
#!/bin/sh
# Runs the horngate of the build tree.
venv="$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)"
tool="$venv/../build/bin/horngate"
if [ -x "$tool" ]; then exec "$tool" "$@"; fi
exec "$venv/bin/python" -m horngate "$@"
LAUNCHER
chmod +x "$venv/bin/horngate"

printf '%s\n' "$key" >"$stamp"
say "ready"

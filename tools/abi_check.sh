#!/usr/bin/env bash
# Compares what two installations export: abi_check.sh BEFORE AFTER, prefixes of `cmake --install`. Ends with 1 if
# programs built with BEFORE would not run with AFTER, and says why. Needs abidiff (Debian: abigail-tools) and builds
# with debug information (-DCMAKE_CXX_FLAGS=-g1 is not enough: -g).
set -euo pipefail

before="${1:?prefix of the older installation}"
after="${2:?prefix of the newer one}"
command -v abidiff >/dev/null || { echo "abi_check: needs abidiff: apt-get install abigail-tools" >&2; exit 2; }

library_of() { # prefix, stem -> the library itself, whatever its number
  local found
  found="$(find "$1" -name "lib$2.so" | head -1)"
  [[ -n "$found" ]] || { echo "abi_check: $1 has no lib$2.so" >&2; exit 2; }
  readlink -f "$found"
}
soname_of() { objdump -p "$1" | awk '$1 == "SONAME" { print $2 }'; }

status=0
for stem in horngate horngate_keras; do
  old="$(library_of "$before" "$stem")"
  new="$(library_of "$after" "$stem")"
  for library in "$old" "$new"; do
    objdump -h "$library" | grep -q '\.debug_info' ||
      { echo "abi_check: $library has no debug information: build it with -g" >&2; exit 2; }
  done
  echo "== $(soname_of "$old") -> $(soname_of "$new")"
  # Only what the installed headers declare counts; templates of the C++ library are exported too.
  code=0
  abidiff --headers-dir1 "$before/include" --headers-dir2 "$after/include" --drop-private-types \
    --no-added-syms "$old" "$new" || code=$?
  # Bits: 1 abidiff failed, 2 wrong usage, 4 something changed, 8 incompatible for certain.
  if ((code & 3)); then exit 2; fi
  if ((code & 12)) && [[ "$(soname_of "$old")" == "$(soname_of "$new")" ]]; then status=1; fi
done
if ((status)); then
  echo "abi_check: the interface changed under the same name: programs would have to be built again." >&2
else
  echo "abi_check: ok"
fi
exit "$status"

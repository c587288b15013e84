#!/usr/bin/env bash
# Builds the site into build/docs/html: tools/docs.sh [arguments of sphinx-build]. Doxygen comes from Debian, Sphinx and what
# belongs to it from PyPI, into build/docs/venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/debian.sh
source tools/venv.sh

command -v doxygen >/dev/null || need_debian docs doxygen
mkdir -p build/docs
need_venv build/docs/venv tools/docs/requirements.txt
build/docs/venv/bin/python tools/docs/build.py "$@"

#!/usr/bin/env bash
# Runs the notebooks on this build, in an environment with Jupyter's kernel, matplotlib and Keras in build/notebooks:
# tools/notebooks.sh [arguments of tools/notebooks.py]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/venv.sh

need_venv build/notebooks/venv tools/notebooks_requirements.txt
export KERAS_HOME="$PWD/build/keras" HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1 KERAS_BACKEND=horngate
PYTHONPATH="$PWD/build/python" build/notebooks/venv/bin/python tools/notebooks.py "$@"

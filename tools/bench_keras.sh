#!/usr/bin/env bash
# Keras 2.3.1 on our module beside tf_keras: tools/bench_keras.sh [arguments of bench/keras/run.py].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/oracle_venv.sh
.venv/bin/python bench/keras/run.py "$keras_python" "$oracle_python" "$@"

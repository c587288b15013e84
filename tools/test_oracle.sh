#!/usr/bin/env bash
# Compares our functions with those of tf_keras on TensorFlow: tools/test_oracle.sh [function ...].
# Both run in processes of their own, on the same random arguments; see tests/oracle/README.md.
# ORACLE_TIMES multiplies the number of draws, ORACLE_SEED makes others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$PWD/build/oracle"
times="${ORACLE_TIMES:-3}"
seed="${ORACLE_SEED:-0}"
source tools/oracle_venv.sh

# Each side has settings of its own: theirs writes a keras.json that names another engine.
unset KERAS_BACKEND
export HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1
KERAS_HOME="$folder/ours" PYTHONPATH="$PWD/build/python" \
  .venv/bin/python tests/oracle/side.py ours "$folder/ours.pickle" "$times" "$seed" "$@" &
ours=$!
# oneDNN's convolutions inside TensorFlow 2.21 are wrong for some strides.
KERAS_HOME="$folder/theirs" TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=0 CUDA_VISIBLE_DEVICES= \
  "$oracle_python" tests/oracle/side.py theirs "$folder/theirs.pickle" "$times" "$seed" "$@" \
  >"$folder/theirs.log" 2>&1 || { tail -20 "$folder/theirs.log"; kill $ours; exit 1; }
wait $ours

part=()
(($# == 0)) || part=(--part)
.venv/bin/python tests/oracle/compare.py "$folder/ours.pickle" "$folder/theirs.pickle" "${part[@]}"

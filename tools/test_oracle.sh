#!/usr/bin/env bash
# Compares our functions with those of tf_keras on TensorFlow: tools/test_oracle.sh [function ...].
# Both run in processes of their own, on the same random arguments; see tests/oracle/README.md.
# ORACLE_TIMES multiplies the number of draws, ORACLE_SEED makes others. Without names of functions it
# also trains nets with Keras 2.3.1 on our module and with tf_keras, and compares the losses, and has models go from
# tf_keras to C++ and back in files; `training` and `files` alone do only that. ORACLE_MODULE is the folder of another build of our module.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$PWD/build/oracle"
times="${ORACLE_TIMES:-3}"
seed="${ORACLE_SEED:-0}"
source tools/oracle_venv.sh

# Each has settings of its own, none from before: Keras writes a keras.json that names its engine.
rm -rf "$folder"/home-*
unset KERAS_BACKEND
export HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1
module="${ORACLE_MODULE:-$PWD/build/python}"

ours() { KERAS_HOME="$folder/home-$1" PYTHONPATH="$module" "${@:2}"; }
# oneDNN's convolutions inside TensorFlow 2.21 are wrong for some strides.
theirs() {
  KERAS_HOME="$folder/home-theirs" TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=0 CUDA_VISIBLE_DEVICES= \
    "$oracle_python" "$@" >"$folder/theirs.log" 2>&1 || { tail -20 "$folder/theirs.log"; return 1; }
}

compare_functions() {
  local part=()
  (($# == 0)) || part=(--part)
  ours plain .venv/bin/python tests/oracle/side.py ours "$folder/ours.pickle" "$times" "$seed" "$@" &&
    theirs tests/oracle/side.py theirs "$folder/theirs.pickle" "$times" "$seed" "$@" &&
    .venv/bin/python tests/oracle/compare.py "$folder/ours.pickle" "$folder/theirs.pickle" "${part[@]}"
}

compare_training() {
  ours keras env KERAS_BACKEND=horngate "$keras_python" tests/oracle/training.py ours "$folder/ours.json" &&
    theirs tests/oracle/training.py theirs "$folder/theirs.json" &&
    .venv/bin/python tests/oracle/training.py compare "$folder/ours.json" "$folder/theirs.json"
}

compare_files() {
  rm -rf "$folder/files"
  theirs tests/oracle/files.py write "$folder/files" && ours files .venv/bin/python tests/oracle/files.py ours "$folder/files" &&
    theirs tests/oracle/files.py read "$folder/files" && grep -E ": (same|DIFFERS)" "$folder/theirs.log"
}

status=0
[[ "$*" == training || "$*" == files ]] || compare_functions "$@" || status=1
[[ $# != 0 && "$*" != training ]] || compare_training || status=1
[[ $# != 0 && "$*" != files ]] || compare_files || status=1
exit $status

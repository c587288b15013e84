#!/usr/bin/env bash
# Ours beside its peers: tools/bench_peers.sh [arguments of bench/compare/compare.py].
# Peers are installed once, each into a virtual environment of its own under build/peers/venv, or under
# the folder that HORNGATE_PEERS names. About 9 GB: PyPI's torch brings its CUDA libraries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export HORNGATE_PEERS=${HORNGATE_PEERS:-$PWD/build/peers/venv}

install() { # name, packages...
  local venv=$HORNGATE_PEERS/$1
  shift
  [ -e "$venv/.ready" ] && return
  echo "installing $* into $venv" >&2
  .venv/bin/python -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  touch "$venv/.ready"
}
install torch torch==2.15.0 numpy
install jax jax==0.10.2 jaxlib==0.10.2 optax numpy
install tf tensorflow-cpu==2.21.0 tf_keras==2.21.0 numpy
install ort onnxruntime==1.31.1 onnx numpy

export PYTHONPATH=$PWD/build/python
case " $* " in
*" --only "* | *" --nets "*) ;;
*" --write "*)
  .venv/bin/python bench/compare/startup.py --peers
  .venv/bin/python bench/compare/memory.py
  .venv/bin/python bench/compare/compare.py --nets
  ;;
esac
exec .venv/bin/python bench/compare/compare.py "$@"

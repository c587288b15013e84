# Sourced by scripts that need tf_keras, or Keras 2.3.1: makes their environments in build/oracle once
# and sets oracle_python and keras_python.
oracle_environment() {
  local name="$1" wanted
  wanted="$(cat "$2")"
  local folder="$PWD/build/oracle/$name"
  [[ "$(cat "$folder/.done" 2>/dev/null)" != "$wanted" ]] || return 0
  echo "oracle: installing $(grep -vc '^#' "$2") packages and what they need into build/oracle/$name"
  rm -rf "$folder"
  .venv/bin/python -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
  printf '%s\n' "$wanted" >"$folder/.done"
}

oracle_environment venv tests/oracle/requirements.txt
oracle_environment keras tests/oracle/keras_requirements.txt
oracle_python="$PWD/build/oracle/venv/bin/python"
keras_python="$PWD/build/oracle/keras/bin/python"

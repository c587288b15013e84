# Sourced by scripts that need tf_keras: makes build/oracle/venv once and sets oracle_python to its Python.
oracle_venv="$PWD/build/oracle/venv"
oracle_python="$oracle_venv/bin/python"
oracle_wanted="$(cat tests/oracle/requirements.txt)"
if [[ "$(cat "$oracle_venv/.done" 2>/dev/null)" != "$oracle_wanted" ]]; then
  echo "oracle: installing tf_keras and TensorFlow into build/oracle/venv"
  rm -rf "$oracle_venv"
  .venv/bin/python -m venv "$oracle_venv"
  "$oracle_python" -m pip install --quiet --disable-pip-version-check -r tests/oracle/requirements.txt
  printf '%s\n' "$oracle_wanted" >"$oracle_venv/.done"
fi

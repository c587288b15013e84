# For scripts with an environment of their own: source it, then `need_venv FOLDER REQUIREMENTS` makes a virtual environment
# with the packages of that file, unless it is there and up to date.

need_venv() {
  local folder="$1" requirements="$2" key
  key="$(sha256sum <"$requirements")"
  [[ -x $folder/bin/python && -f $folder/.ready && "$(cat "$folder/.ready")" == "$key" ]] && return
  .venv/bin/python -m venv --clear "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  printf '%s\n' "$key" >"$folder/.ready"
}

# For scripts that need Debian packages: source it, then `need_debian NAME PACKAGE..` installs those that are missing, with
# NAME before its messages. Without root or sudo it says what to ask for and ends the script.

debian_installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

need_debian() {
  local name="$1" missing=() as_root=() package
  shift
  if ! command -v dpkg-query >/dev/null; then
    printf '%s: this is not Debian; you need what these packages hold: %s\n' "$name" "$*"
    return
  fi
  for package in "$@"; do debian_installed "$package" || missing+=("$package"); done
  ((${#missing[@]})) || return 0
  if [[ "$(id -u)" == 0 ]]; then
    as_root=(env)
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    as_root=(sudo)
  else
    printf '%s: no root and no sudo here; ask your administrator for: apt-get install %s\n' "$name" "${missing[*]}" >&2
    exit 1
  fi
  printf '%s: installing Debian packages: %s\n' "$name" "${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

#!/usr/bin/env bash
# Pictures for docs/pictures/, after `make build docs`: the site's front page, and the page of K.plot_function for a training
# step: tools/screenshots.sh [page ..]. With pages ("howto/nan"), only looks at them: build/docs/shots/<page>-desktop.png and
# -phone.png. Needs Debian's chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/debian.sh

command -v chromium >/dev/null || need_debian screenshots chromium
html="$PWD/build/docs/html"
[[ -f $html/index.html ]] || { echo "screenshots: run \`make docs\` first" >&2; exit 1; }
mkdir -p build/docs/shots

shoot() { # address, file, width, height
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
    --window-size="$3,$4" --virtual-time-budget=3000 --screenshot="$2" "$1" >/dev/null 2>&1
}

# Chromium has no window as narrow as a phone, but a frame may be: the page then takes itself for one of 390 pixels.
phone() { # page, file
  local frame="$PWD/build/docs/shots/frame.html"
  printf '<body style="margin:0"><iframe src="%s" style="border:0;width:390px;height:1200px"></iframe>' \
    "file://$html/$1.html" >"$frame"
  shoot "file://$frame" "$2" 500 1200
}

if (($#)); then
  for page in "$@"; do
    name="build/docs/shots/${page//\//_}"
    shoot "file://$html/$page.html" "$name-desktop.png" 1280 1200
    phone "$page" "$name-phone.png"
    echo "$name-desktop.png $name-phone.png"
  done
else
  shoot "file://$html/index.html" docs/pictures/site.png 1280 800
  .venv/bin/python tools/docs/pictures.py "$PWD/build/docs/shots/step.html"
  shoot "file://$PWD/build/docs/shots/step.html#0,steps" docs/pictures/function.png 700 1000
  du -b docs/pictures/site.png docs/pictures/function.png
fi

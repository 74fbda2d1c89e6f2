#!/bin/sh
# Registers this folder's Astrolab for you: .astrolab files open in it, and so do astrolab:// links.
# Run it again after moving the folder; "register.sh --remove" takes it back.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
entry=$data/applications/astrolab.desktop
type=$data/mime/packages/astrolab.xml
if [ "${1:-}" = --remove ]; then
  rm -f "$entry" "$type"
else
  mkdir -p "$data/applications" "$data/mime/packages"
  escaped=$(printf '%s' "$here" | sed 's/[\\&|]/\\&/g')
  sed "s|@HERE@|$escaped|" "$here/share/astrolab.desktop" > "$entry"
  cp "$here/share/astrolab-mime.xml" "$type"
fi
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime"; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database -q "$data/applications"; fi
if [ "${1:-}" = --remove ]; then
  echo "Astrolab is no longer registered."
else
  if command -v xdg-mime > /dev/null; then xdg-mime default astrolab.desktop application/x-astrolab x-scheme-handler/astrolab; fi
  echo "Registered: .astrolab files and astrolab:// links open $here/astrolab"
fi

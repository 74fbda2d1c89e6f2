// @ts-check
// How the system learns that .astrolab files and astrolab:// links belong to a packaged Astrolab. On macOS the Info.plist says it
// (`associations`, read by electron-builder, also by its installers). A folder that was unpacked on Linux or Windows is known to nobody,
// so it carries a script that registers it for the user and takes that back with --remove: desktop entry and MIME type, or registry keys.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MIME = 'application/x-astrolab';

/** For electron-builder's configuration. */
export const associations = {
  fileAssociations: [
    { ext: 'astrolab', name: 'Astrolab runs', description: 'Runs and studies of Astrolab', mimeType: MIME, role: 'Viewer' },
  ],
  protocols: [{ name: 'Astrolab link', schemes: ['astrolab'], role: 'Viewer' }],
};

const DESKTOP = `[Desktop Entry]
Type=Application
Name=Astrolab
Comment=Reinforcement learning of multi-turn text agents
Exec="@HERE@/astrolab" %U
Terminal=false
Categories=Science;Education;
MimeType=${MIME};x-scheme-handler/astrolab;
StartupWMClass=Astrolab
`;

const MIME_TYPE = `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="${MIME}">
    <comment>Astrolab runs</comment>
    <glob pattern="*.astrolab"/>
  </mime-type>
</mime-info>
`;

const LINUX = `#!/bin/sh
# Registers this folder's Astrolab for you: .astrolab files open in it, and so do astrolab:// links.
# Run it again after moving the folder; "register.sh --remove" takes it back.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
data=\${XDG_DATA_HOME:-$HOME/.local/share}
entry=$data/applications/astrolab.desktop
type=$data/mime/packages/astrolab.xml
if [ "\${1:-}" = --remove ]; then
  rm -f "$entry" "$type"
else
  mkdir -p "$data/applications" "$data/mime/packages"
  escaped=$(printf '%s' "$here" | sed 's/[\\\\&|]/\\\\&/g')
  sed "s|@HERE@|$escaped|" "$here/share/astrolab.desktop" > "$entry"
  cp "$here/share/astrolab-mime.xml" "$type"
fi
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime"; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database -q "$data/applications"; fi
if [ "\${1:-}" = --remove ]; then
  echo "Astrolab is no longer registered."
else
  if command -v xdg-mime > /dev/null; then xdg-mime default astrolab.desktop ${MIME} x-scheme-handler/astrolab; fi
  echo "Registered: .astrolab files and astrolab:// links open $here/astrolab"
fi
`;

const COMMAND = String.raw`"\"%~dp0astrolab.exe\" \"%%1\""`;
const CLASSES = String.raw`HKCU\Software\Classes`;
const WINDOWS = [
  '@echo off',
  "rem Registers this folder's Astrolab for you: .astrolab files open in it, and so do astrolab:// links.",
  'rem Run it again after moving the folder; "register.cmd --remove" takes it back.',
  'if "%~1"=="--remove" goto remove',
  String.raw`reg add "${CLASSES}\.astrolab" /ve /d "Astrolab.Runs" /f`,
  String.raw`reg add "${CLASSES}\Astrolab.Runs" /ve /d "Astrolab runs" /f`,
  String.raw`reg add "${CLASSES}\Astrolab.Runs\shell\open\command" /ve /d ${COMMAND} /f`,
  String.raw`reg add "${CLASSES}\astrolab" /ve /d "URL:Astrolab" /f`,
  String.raw`reg add "${CLASSES}\astrolab" /v "URL Protocol" /d "" /f`,
  String.raw`reg add "${CLASSES}\astrolab\shell\open\command" /ve /d ${COMMAND} /f`,
  'exit /b',
  ':remove',
  ...['.astrolab', 'Astrolab.Runs', 'astrolab'].map((key) => `reg delete "${CLASSES}\\${key}" /f`),
  '',
].join('\r\n');

/**
 * Writes what an unpacked application carries; returns the entries for electron-builder's `extraFiles`.
 * @param {string} folder
 * @param {NodeJS.Platform} platform
 */
export function writeAssociations(folder, platform) {
  /** @type {{ from: string, to: string }[]} */
  const files = [];
  const add = (/** @type {string} */ name, /** @type {string} */ text, mode = 0o644) => {
    const from = join(folder, name);
    mkdirSync(join(from, '..'), { recursive: true });
    writeFileSync(from, text, { mode });
    files.push({ from, to: name });
  };
  if (platform === 'linux') {
    add('share/astrolab.desktop', DESKTOP);
    add('share/astrolab-mime.xml', MIME_TYPE);
    add('register.sh', LINUX, 0o755);
  }
  if (platform === 'win32') add('register.cmd', WINDOWS);
  return files;
}

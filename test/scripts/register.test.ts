// An unpacked package registers itself: the desktop entry leads to where the folder lies, whatever that is called, and both files
// and links name it.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder, resourceFile } from '../../main/base/paths.ts';
import { PROTOCOL } from '../../main/base/links.ts';

const MIME = 'application/x-astrolab';

test.runIf(process.platform === 'linux')('register.sh makes files and links known on Linux, and --remove takes that back', () => {
  const place = mkdtempSync(join(tmpdir(), 'astrolab-register-'));
  const folder = join(place, 'a & b|c (lab)');
  cpSync(resourceFile('register', 'linux'), folder, { recursive: true });
  const data = join(place, 'data');
  // Without the desktop's own tools: they are not on every machine, and must not be needed.
  const run = (...words: string[]) =>
    spawnSync('/bin/sh', [join(folder, 'register.sh'), ...words], {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', HOME: place, XDG_DATA_HOME: data, XDG_CONFIG_HOME: place },
    });
  const entry = join(data, 'applications', 'astrolab.desktop');
  for (const again of [1, 2]) {
    const { status, stdout, stderr } = run();
    expect([again, status, stderr]).toEqual([again, 0, '']);
    expect(stdout).toContain(`open ${folder}/astrolab`);
    const lines = readFileSync(entry, 'utf8').split('\n');
    expect(lines).toContain(`Exec="${folder}/astrolab" %U`);
    expect(lines).toContain(`MimeType=${MIME};x-scheme-handler/${PROTOCOL};`);
  }
  expect(readFileSync(join(data, 'mime', 'packages', 'astrolab.xml'), 'utf8')).toContain('<glob pattern="*.astrolab"/>');
  expect(run('--remove').status).toBe(0);
  expect(existsSync(entry)).toBe(false);
});

test('Windows gets registry keys of the user, macOS its plist entries', () => {
  const script = readFileSync(resourceFile('register', 'windows', 'register.cmd'), 'utf8');
  expect(script.replaceAll('\r\n', '')).not.toMatch(/\n/); // cmd.exe finds its labels only after CR LF
  const command = String.raw`/ve /d "\"%~dp0astrolab.exe\" \"%%1\"" /f`;
  expect(script).toContain(String.raw`reg add "HKCU\Software\Classes\Astrolab.Runs\shell\open\command" ${command}`);
  expect(script).toContain(String.raw`reg add "HKCU\Software\Classes\astrolab\shell\open\command" ${command}`);
  expect(script).toContain(String.raw`reg delete "HKCU\Software\Classes\.astrolab" /f`);
  const configuration = readFileSync(join(projectFolder(), 'scripts', 'package.mjs'), 'utf8');
  expect(configuration).toContain(`mimeType: '${MIME}'`);
  expect(configuration).toContain(`schemes: ['${PROTOCOL}']`);
});

// The packaged application: made, then started and driven. Takes minutes, so it runs with `npm run test:slow`.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';

const script = join(projectFolder(), 'scripts/package.mjs');
const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;
// Packaging runs in the system's Node, as `npm run package` does.
const makePackage = (...args: string[]) => spawnSync(process.env.npm_node_execpath ?? 'node', [script, ...args], { encoding: 'utf8', env });

test('a development build starts, its doctor is content, and its worker process computes', () => {
  const { status, stdout, stderr } = makePackage('--dev', '--smoke');
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Package: .*linux-unpacked, \d+ MB, a development build: not for release/);
  expect(stdout).toContain('Smoke test: passed');
  const page = readdirSync(join(projectFolder(), 'out/renderer/assets')).join();
  expect(page).toContain('compare');
  expect(page).not.toContain('gallery'); // it is for contributors
  expect(status).toBe(0);
});

test('a release is not made from an Electron that is not the official one', () => {
  const { status, stderr } = makePackage();
  expect(status).toBe(1);
  expect(stderr).toMatch(/tried: {2}packaging a release\n[\s\S]*to do: {2}.*--dev/);
});

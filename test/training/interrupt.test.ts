// Ctrl-C in a terminal reaches the lab and its training process alike; the run must still end in order, with a checkpoint.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const data = mkdtempSync(join(tmpdir(), 'astrolab-interrupt-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

const SETTINGS = [
  'reference.demonstrations=32',
  'reference.steps=2',
  'reference.checkTasks=2',
  'training.updates=5000',
  'training.tasks=8',
  'evaluation.every=0',
  'checkpoints.every=0',
];

test.skipIf(process.platform === 'win32')('Ctrl-C ends the run in order, with a checkpoint', async () => {
  const cli = join(import.meta.dirname, '..', '..', 'main', 'cli.ts');
  const args = ['train', '--preset', 'shop-tiny', '--data', data, '--json', ...SETTINGS.flatMap((setting) => ['--set', setting])];
  // A separate group, as a terminal's foreground job is.
  const lab = spawn(process.execPath, [cli, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
  });
  let output = '';
  let asked = false;
  lab.stdout.on('data', (text) => (output += String(text)));
  lab.stderr.on('data', (text) => {
    if (asked || !String(text).includes('training:')) return;
    asked = true;
    if (lab.pid !== undefined) process.kill(-lab.pid, 'SIGINT');
  });
  const code = await new Promise((resolve) => lab.on('close', resolve));
  const { state, updates } = JSON.parse(output);
  expect([code, state]).toEqual([4, 'stopped']);
  expect(updates).toBeGreaterThanOrEqual(1);
  expect(updates).toBeLessThan(5000);
});

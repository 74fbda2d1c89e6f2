import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Store } from '../../main/store/store.ts';

test('the window and the command line may add runs at the same moment: each waits for the other and nothing is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'astrolab-writers-'));
  Store.open(folder).close();
  const script = fileURLToPath(new URL('./processes/creator.ts', import.meta.url));
  const ends = ['window', 'command line'].map(
    (name) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [script, folder, name, '40'], {
          stdio: 'inherit',
          env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
        });
        child.on('exit', resolve);
      }),
  );
  expect(await Promise.all(ends)).toEqual([0, 0]);
  const store = Store.read(folder);
  const runs = store.runs.list();
  expect(runs).toHaveLength(80);
  expect(new Set(runs.map(({ position }) => position)).size).toBe(80);
  store.close();
  rmSync(folder, { recursive: true });
}, 60_000);

// Every algorithm through the real command line: reference, V* where it needs one, updates, evaluation, in miniature. Finite numbers
// under known names, and the same ones when it is run again with the same seed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { Store } from '../../main/store/store.ts';
import { glossary } from '../catalog.ts';

const data = mkdtempSync(join(tmpdir(), 'astrolab-algorithms-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

function train(algorithm: string): Record<string, number[]> {
  const settings = ['training.updates=2', 'evaluation.every=0', 'evaluation.finalTasks=4', `algorithm.id=${algorithm}`];
  const args = ['train', '--preset', 'shop-tiny', '--data', data, '--json', ...settings.flatMap((setting) => ['--set', setting])];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '..', '..', 'main', 'commands', 'cli.ts'), ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    },
  );
  expect(status, stderr).toBe(0);
  const { run, state, updates } = JSON.parse(stdout);
  expect([state, updates]).toEqual(['done', 2]);
  const store = Store.read(data);
  try {
    const series = store.metrics.many(run, store.metrics.names(run));
    return Object.fromEntries(Object.entries(series).map(([name, { values }]) => [name, [...values]]));
  } finally {
    store.close();
  }
}

const repeatable = (series: Record<string, number[]>) => Object.entries(series).filter(([name]) => !name.startsWith('system/'));

for (const { id } of builtInAlgorithms) {
  test(`${id} trains from the command line and repeats exactly`, () => {
    const first = train(id);
    for (const [name, values] of Object.entries(first)) {
      expect(glossary.has(name), name).toBe(true);
      for (const value of values) expect(Number.isFinite(value), `${name} of ${id}`).toBe(true);
    }
    expect(first['gradient.norm']).toHaveLength(2);
    expect(repeatable(train(id))).toEqual(repeatable(first));
  });
}

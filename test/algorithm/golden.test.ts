// Every algorithm's loss and gradients against an independent PyTorch script (test/golden/make_algorithms.py).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import type { RewardKind } from '../../main/algorithm/vstar.ts';
import { type PlainEpisode, runLoss, trajectory } from './batch.ts';
import { algorithmOf, glossary } from '../catalog.ts';

interface Golden {
  readonly shape: readonly [number, number];
  readonly episodes: readonly PlainEpisode[];
  readonly logProbs: readonly number[];
  readonly entropies: readonly number[];
  readonly values: readonly number[];
  readonly kl: readonly number[];
  readonly cases: readonly {
    readonly id: string;
    readonly settings: Readonly<Record<string, unknown>>;
    readonly reward: RewardKind;
    readonly loss: number;
    readonly gradients: Readonly<Record<'logProbs' | 'entropies' | 'values' | 'kl', readonly number[]>>;
  }[];
}

const golden: Golden = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'golden', 'algorithms.json'), 'utf8'));
const trajectories = golden.episodes.map(trajectory);
const leaves = {
  logProbs: Float32Array.from(golden.logProbs),
  entropies: Float32Array.from(golden.entropies),
  values: Float32Array.from(golden.values),
  kl: Float32Array.from(golden.kl),
};

for (const [index, { id, settings, reward, loss, gradients }] of golden.cases.entries()) {
  test(`${id} agrees with PyTorch to 1e-5 (case ${index}, ${reward} reward)`, async () => {
    const algorithm = algorithmOf({ id, ...settings });
    const prepared = algorithm.prepare(trajectories, { update: 0, updates: 10, reward });
    const outcome = await runLoss(algorithm, trajectories, prepared, leaves);
    expect(Math.abs(outcome.loss - loss)).toBeLessThan(1e-5 * Math.max(1, Math.abs(loss)));
    let largest = 0;
    for (const leaf of ['logProbs', 'entropies', 'values', 'kl'] as const) {
      gradients[leaf].forEach((expected, i) => (largest = Math.max(largest, Math.abs(outcome.gradients[leaf][i]! - expected))));
    }
    expect(largest).toBeLessThan(1e-5);
    for (const name of [...Object.keys(outcome.metrics), ...Object.keys(prepared.metrics), ...Object.keys(prepared.distributions)])
      expect(glossary.has(name), name).toBe(true);
    for (const value of [...Object.values(outcome.metrics), ...Object.values(prepared.metrics)]) expect(Number.isFinite(value)).toBe(true);
  });
}

test('every algorithm of the registry has a golden case, or a test of its numbers in a file with its name', () => {
  const golds = new Set(golden.cases.map((one) => one.id));
  const untested = builtInAlgorithms.filter(({ id }) => !golds.has(id) && !existsSync(join(import.meta.dirname, `${id}.test.ts`)));
  expect(untested.map(({ id }) => id)).toEqual([]);
  expect(golds.size).toBe(8);
});

import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { rewind, RunWriter } from '../../main/store/run-writer.ts';
import type { Store } from '../../main/store/store.ts';
import { runReport } from '../../main/training/reports.ts';
import { openStore } from './helpers.ts';
import { newRun, record, someEvaluation, someUpdate } from './samples.ts';

// Real processes and real disks: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000 });

function checkpoint(store: Store, run: number, update: number): Parameters<RunWriter['apply']>[0] {
  const files = new CheckpointFiles(store.dataFolder, store.runs.get(run).uid);
  return { type: 'checkpoint', checkpoint: files.save(update, (path) => writeFileSync(path, `weights after ${update}`)), kept: false };
}

function train(store: Store, run: number, from: number, to: number): void {
  const writer = new RunWriter(store, run);
  for (let update = from; update <= to; update++) {
    writer.apply(runReport.parse(someUpdate(1, update)));
    if (update % 4 === 0) writer.apply(runReport.parse(someEvaluation(99, update)));
    if (update % 5 === 0) writer.apply(runReport.parse(checkpoint(store, run, update)));
  }
}

describe('a run that is resumed after a crash', () => {
  it('has exactly the record of a run that was never interrupted, wherever the crash was', () => {
    const straight = openStore();
    train(straight, straight.runs.create(newRun()).id, 1, 12);
    for (const crash of [3, 5, 6, 8, 9, 10, 11]) {
      const store = openStore();
      const run = store.runs.create(newRun()).id;
      train(store, run, 1, crash);
      const from = rewind(store, run)?.update ?? 0;
      expect(from).toBe(crash - (crash % 5));
      expect(store.runs.get(run).updates).toBe(from);
      train(store, run, from + 1, 12);
      expect(record(store, run)).toEqual(record(straight, 1));
    }
  });

  it('goes back to an older checkpoint when the newest file was damaged', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    train(store, run, 1, 11);
    const newest = store.checkpoints.list(run).at(-1);
    if (newest === undefined) throw new Error('no checkpoint');
    writeFileSync(store.checkpoints.path(newest), 'weights after 1O');
    expect(rewind(store, run)?.update).toBe(5);
    expect(store.metrics.series(run, 'loss').updates.at(-1)).toBe(5);
  });

  it('keeps only the newest three checkpoints and those marked to be kept, and their files', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    const writer = new RunWriter(store, run);
    for (let update = 1; update <= 6; update++) {
      const report = checkpoint(store, run, update);
      writer.apply(report.type === 'checkpoint' ? { ...report, kept: update === 2 } : report);
    }
    expect(store.checkpoints.list(run).map(({ update }) => update)).toEqual([2, 4, 5, 6]);
    expect(store.checkpoints.sweep(store.runs.get(run).uid, run)).toBe(0);
  });
});

it('the checkpoint with the best validation success is kept until a better one comes', () => {
  const store = openStore();
  const run = store.runs.create(newRun()).id;
  const writer = new RunWriter(store, run);
  const successes = [0, 3, 1, 1, 1, 1, 4, 2, 2, 2];
  const kept: number[][] = [];
  for (const [update, k] of successes.entries()) {
    const report = someEvaluation(5, update);
    const results = report.results.map((result, index) => ({ ...result, success: index < k }));
    writer.apply({ ...report, results });
    writer.apply(checkpoint(store, run, update));
    kept.push(store.checkpoints.list(run).map((one) => one.update));
  }
  expect([kept[5], kept[9]]).toEqual([
    [1, 3, 4, 5],
    [6, 7, 8, 9],
  ]);
});

describe('a report that cannot be stored', () => {
  it('leaves nothing of itself behind', () => {
    const store = openStore();
    const run = store.runs.create(newRun()).id;
    train(store, run, 1, 2);
    const before = record(store, run);
    const broken = someUpdate(1, 3);
    const last = broken.episodes.at(-1);
    if (last === undefined) throw new Error('no episode');
    const [step] = last.steps;
    if (step === undefined) throw new Error('no step');
    broken.episodes[3] = { ...last, steps: [{ ...step, tokens: { ...step.tokens, entropies: new Float32Array(1) } }] };
    expect(() => new RunWriter(store, run).apply(broken)).toThrow('expected as many, or none');
    expect(record(store, run)).toEqual(before);
    new RunWriter(store, run).apply(someUpdate(1, 3));
    expect(store.runs.get(run).updates).toBe(3);
  });
});

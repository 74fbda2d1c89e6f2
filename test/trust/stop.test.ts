// A pause or stop (to a training process they are the same) ends the run after the batch under way, in whatever stage it comes, and the
// resumed run equals an undisturbed one. The run looks at its signal once before every batch; the tests abort it at the nth look.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../main/base/canonical.ts';
import { readCheckpoint, writeCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { startRun } from '../../main/queue/start.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { purge } from '../../main/store/maintenance.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import type { RunReport } from '../../main/training/reports.ts';
import type { TrainingHost } from '../../main/training/host.ts';
import { train } from '../../main/training/train.ts';
import { smallest } from '../training/host.ts';
import { recordOf } from './fort.ts';
import { newRun } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** V* of tasks is estimated in the updates that first meet them (a schedule), so that every stage occurs in an update as well. */
const config = smallest({
  reference: { demonstrations: 48, batch: 12, steps: 6, warmup: 2, checkEvery: 3, checkTasks: 4 },
  training: { updates: 2, batch: 6, tasks: 8, warmup: 1, microBatch: 512 },
  evaluation: { every: 1, tasks: 4, finalTasks: 4 },
  checkpoints: { every: 0 },
});
const scheduled = { ...config, vstar: { ...config.vstar, samples: [2, 1] } };

interface Outcome {
  readonly ended: 'done' | 'stopped' | 'killed';
  /** The stage at every look at the signal. */
  readonly stages: string[];
}

/** At the nth batch of a stage the run is stopped, or its process dies instead of reporting one of these. */
type Disturbance = { readonly stage: string; readonly batch: number } | { readonly dies: readonly RunReport['type'][] };

class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), 'astrolab-stop-'));
  readonly #store: Store;
  readonly run: number;

  constructor(description = config) {
    folders.push(this.folder);
    this.#store = Store.open(this.folder);
    this.run = this.#store.runs.create(newRun(description, null, [])).id;
  }

  /** Trains until the end or the disturbance; resumes what is there. */
  async train(description = config, disturbance?: Disturbance): Promise<Outcome> {
    const store = this.#store;
    const { run, checkpoint } = startRun(store, this.run);
    store.locks.release(this.run);
    const writer = new RunWriter(store, this.run);
    const stages: string[] = [];
    let stage = 'cloning';
    const stopping = new AbortController();
    const { signal } = stopping;
    signal.throwIfAborted = () => {
      stages.push(stage);
      const stops = disturbance && 'stage' in disturbance ? disturbance : undefined;
      if (stage === stops?.stage && stages.filter((one) => one === stage).length === stops.batch) stopping.abort();
      AbortSignal.prototype.throwIfAborted.call(signal);
    };
    const host: TrainingHost = {
      catalog: BUILT_IN,
      dataFolder: this.folder,
      files: new CheckpointFiles(this.folder, run.uid),
      references: store.references,
      vstar: store.vstar,
      report: async (report) => {
        if (disturbance && 'dies' in disturbance && disturbance.dies.includes(report.type)) throw new Killed('killed here');
        if (report.type === 'started') stage = `after ${report.update}`;
        if (report.type === 'update' || report.type === 'evaluation') stage = `after ${report.update}`;
        if (report.type === 'progress' && report.phase.startsWith('evaluating')) stage = `evaluating ${report.update}`;
        writer.apply(report);
      },
      resumeFrom: checkpoint && store.checkpoints.path(checkpoint),
      until: null,
    };
    try {
      const ended = await train(description, host, signal);
      writer.apply({ type: 'finished', outcome: ended, update: 0 });
      return { ended, stages };
    } catch (error) {
      if (error instanceof Killed) return { ended: 'killed', stages };
      throw error;
    }
  }

  /** Writes the newest checkpoint as it was written when it said what was `unfinished`. */
  makeOlder(): void {
    const { checkpoints } = this.#store;
    const newest = checkpoints.newestSound(this.run);
    if (!newest) throw new Error('There is no checkpoint');
    const path = checkpoints.path(newest);
    const { tensors, step, notes } = readCheckpoint(path);
    const { evaluated, ...memory } = JSON.parse(notes.memory ?? '');
    const unfinished = evaluated === memory.update ? {} : { unfinished: evaluated < 0 ? 'start' : 'evaluation' };
    writeCheckpoint(path, { tensors, step, notes: { ...notes, memory: JSON.stringify({ ...memory, ...unfinished }) } });
    const data = readFileSync(path);
    checkpoints.add(this.run, { ...newest, sha256: sha256(data), bytes: data.byteLength }, newest.kept);
  }

  /** Everything that must not depend on interruptions. */
  record(): object {
    const store = this.#store;
    const episodes = store.db.prepare<[], { id: number }>('SELECT id FROM episodes ORDER BY id').all();
    return {
      ...recordOf(store, this.run),
      vstar: store.vstar.ofRun(this.run),
      events: store.events.list(this.run, ['alert', 'level', 'reference']).map(({ update, kind, text }) => [update, kind, text]),
      episodes: episodes.map(({ id }) => store.trajectories.read(id)),
    };
  }

  /** Another run of the lab, which waits. */
  add(description = config): number {
    return this.#store.runs.create(newRun(description, null, [])).id;
  }

  /** Deletes a run for good. */
  purge(run: number): void {
    this.#store.runs.change(run, { state: 'stopped' }); // as the queue notes
    this.#store.runs.delete([run]);
    purge(this.#store);
  }

  /** Files of references that are not finished. */
  unfinished(): string[] {
    return readdirSync(join(this.folder, 'references')).filter((file) => file.includes('unfinished'));
  }

  close(): void {
    this.#store.close();
  }
}

class Killed extends Error {}

/** In every stage: at its second batch, and at a later one. */
const SECOND = 2;
const LATER = 7;

describe.each([
  ['V* before the first update', config, ['cloning', 'after 0', 'evaluating 0', 'evaluating 1', 'after 1', 'evaluating 2']],
  ['V* in the updates', scheduled, ['after 0', 'after 1']],
])('%s', (_name, description, stages) => {
  let calm: object;

  beforeAll(async () => {
    const lab = new Lab(description);
    await lab.train(description);
    calm = lab.record();
    lab.close();
  }, 120_000);

  test('a stop is obeyed after the batch under way in every stage, and the resumed run is byte-equal', async () => {
    const lab = new Lab(description);
    for (const stage of stages) {
      for (const batch of [SECOND, LATER]) {
        const { ended, stages: seen } = await lab.train(description, { stage, batch });
        // Nothing was begun after the stop, and nothing of an earlier stage was done again.
        expect([ended, seen.at(-1), seen.filter((one) => one === stage).length]).toEqual(['stopped', stage, batch]);
      }
    }
    expect(await lab.train(description)).toMatchObject({ ended: 'done' });
    expect(lab.record()).toEqual(calm);
    expect(lab.unfinished()).toEqual([]);
    lab.close();
  }, 120_000);

  test('a run that an older version stopped is resumed with the same numbers', async () => {
    const lab = new Lab(description);
    for (const stage of stages.slice(1)) {
      await lab.train(description, { stage, batch: SECOND });
      lab.makeOlder();
    }
    expect(await lab.train(description)).toMatchObject({ ended: 'done' });
    expect(lab.record()).toEqual(calm);
    lab.close();
  }, 120_000);

  test('a process that dies in a stage in which the run was stopped before loses no number and records none twice', async () => {
    const lab = new Lab(description);
    for (const stage of stages) {
      await lab.train(description, { stage, batch: SECOND });
      if (stage === 'cloning') continue;
      const deaths = stage.startsWith('evaluating') ? ([['evaluation'], ['checkpoint']] as const) : ([['vstar', 'update']] as const);
      for (const dies of deaths) expect(await lab.train(description, { dies })).toMatchObject({ ended: 'killed' });
    }
    expect(await lab.train(description)).toMatchObject({ ended: 'done' });
    expect(lab.record()).toEqual(calm);
    lab.close();
  }, 120_000);
});

test('cloning continues where it was stopped', async () => {
  const whole = new Lab();
  const all = (await whole.train(config, { stage: 'after 0', batch: 1 })).stages.filter((one) => one === 'cloning');
  const lab = new Lab();
  const batch = Math.floor(all.length * 0.75);
  const before = (await lab.train(config, { stage: 'cloning', batch })).stages;
  const after = (await lab.train(config, { stage: 'after 0', batch: 1 })).stages.filter((one) => one === 'cloning');
  expect(before).toHaveLength(batch);
  // Only the batch under way, or the check it belongs to, is done again.
  expect(after.length).toBeLessThan(all.length / 2);
  for (const one of [whole, lab]) one.close();
}, 60_000);

test('what cloning left is deleted with the last run that could continue it', async () => {
  const lab = new Lab();
  const sameReference = lab.add({ ...config, seed: 2 });
  const otherReference = lab.add({ ...config, reference: { ...config.reference, seed: 7 } });
  await lab.train(config, { stage: 'cloning', batch: 3 });
  expect(lab.unfinished()).toHaveLength(1);
  lab.purge(lab.run);
  expect(lab.unfinished()).toHaveLength(1);
  lab.purge(sameReference);
  expect(lab.unfinished()).toEqual([]);
  lab.purge(otherReference);
  lab.close();
}, 60_000);

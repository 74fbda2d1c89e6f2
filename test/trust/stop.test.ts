// A pause or stop is obeyed after the batch under way, in whatever stage it comes, and the resumed run equals an undisturbed one. The run
// asks for commands once before every batch; the tests answer at the nth time and count how often it asked.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { begin } from '../../main/queue/resume.ts';
import { newRun } from '../../main/queue/new-run.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import { purge } from '../../main/store/maintenance.ts';
import { RunWriter } from '../../main/store/run-writer.ts';
import { Store } from '../../main/store/store.ts';
import type { RunCommand } from '../../main/training/reports.ts';
import { train } from '../../main/training/train.ts';
import { smallest } from '../training/host.ts';
import { recordOf } from './fort.ts';

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
  /** The stage at every question for a command. */
  readonly stages: string[];
}

/** A command at the nth batch of a stage. */
interface Asked {
  readonly stage: string;
  readonly batch: number;
  readonly what: RunCommand;
}
type Answer = (stage: string) => RunCommand | undefined;

class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), 'astrolab-stop-'));
  readonly #store: Store;
  readonly run: number;
  reports: string[] = [];

  constructor(description = config) {
    folders.push(this.folder);
    this.#store = Store.open(this.folder);
    this.run = this.#store.runs.create(newRun(description, null, [])).id;
  }

  /** Trains until the end or the command; resumes what is there. `waiting` answers when it is paused. */
  async train(description = config, command?: Asked | Answer, waiting: () => RunCommand = stop): Promise<Outcome> {
    const store = this.#store;
    const { run, checkpoint } = begin(store, this.run);
    store.locks.release(this.run);
    const writer = new RunWriter(store, this.run);
    const stages: string[] = [];
    let stage = 'cloning';
    try {
      const ended = await train(description, {
        dataFolder: this.folder,
        files: new CheckpointFiles(this.folder, run.uid),
        references: store.references,
        vstar: store.vstar,
        report: async (report) => {
          if (report.type === 'started') stage = `after ${report.update}`;
          // An update that is interrupted during its evaluation is recorded before it.
          if (report.type === 'evaluation' || (report.type === 'update' && !stage.startsWith('evaluating')))
            stage = `after ${report.update}`;
          if (report.type === 'progress' && report.phase.startsWith('evaluating')) stage = `evaluating ${report.update}`;
          else if (report.type !== 'progress') this.reports.push(report.type);
          writer.apply(report);
        },
        takeCommand: () => {
          stages.push(stage);
          if (typeof command === 'function') return command(stage);
          const due = stage === command?.stage && stages.filter((one) => one === stage).length === command.batch;
          return due ? command.what : undefined;
        },
        waitForCommand: async () => waiting(),
        resumeFrom: checkpoint && store.checkpoints.path(checkpoint),
        until: null,
      });
      return { ended, stages };
    } catch (error) {
      if (error instanceof Killed) return { ended: 'killed', stages };
      throw error;
    }
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
const stop = (): RunCommand => ({ type: 'stop' });
/** The process ends while it is paused, as when the window is closed. */
const kill = (): RunCommand => {
  throw new Killed('killed while paused');
};

/** In every stage: at its second batch, and at a later one. */
const SECOND = 2;
const LATER = 7;

describe.each([
  ['V* before the first update', config, ['cloning', 'after 0', 'evaluating 0', 'evaluating 1', 'after 1', 'evaluating 2']],
  ['V* in the updates', scheduled, ['after 0', 'after 1']],
])('%s', (_name, description, stages) => {
  let calm: object;
  let undisturbed: string[];

  beforeAll(async () => {
    const lab = new Lab(description);
    ({ stages: undisturbed } = await lab.train(description));
    calm = lab.record();
    lab.close();
  }, 120_000);

  test('a stop is obeyed after the batch under way in every stage, and the resumed run is byte-equal', async () => {
    const lab = new Lab(description);
    for (const stage of stages) {
      for (const [batch, what, waiting, end] of [
        [SECOND, 'stop', stop, 'stopped'],
        [LATER, 'pause', kill, 'killed'],
      ] as const) {
        const { ended, stages: asked } = await lab.train(description, { stage, batch, what: { type: what } }, waiting);
        // Nothing was asked for after the command, and nothing of an earlier stage was done again.
        expect([ended, asked.at(-1), asked.filter((one) => one === stage).length]).toEqual([end, stage, batch]);
      }
    }
    expect(await lab.train(description)).toMatchObject({ ended: 'done' });
    expect(lab.record()).toEqual(calm);
    expect(lab.unfinished()).toEqual([]);
    lab.close();
  }, 120_000);

  test('a pause in every stage continues in the same process where it was', async () => {
    const lab = new Lab(description);
    const seen = new Set<string>();
    const { ended, stages: asked } = await lab.train(
      description,
      (stage) => (seen.has(stage) ? undefined : (seen.add(stage), { type: 'pause' })),
      () => ({ type: 'go', until: null }),
    );
    expect([ended, asked]).toEqual(['done', undisturbed]);
    expect(lab.reports.filter((type) => type === 'paused')).toHaveLength(seen.size);
    expect(lab.record()).toEqual(calm);
    lab.close();
  }, 60_000);
});

test('cloning continues where it was stopped', async () => {
  const whole = new Lab();
  const all = (await whole.train(config, { stage: 'after 0', batch: 1, what: { type: 'stop' } })).stages.filter((one) => one === 'cloning');
  const lab = new Lab();
  const batch = Math.floor(all.length * 0.75);
  const before = (await lab.train(config, { stage: 'cloning', batch, what: { type: 'stop' } })).stages;
  const after = (await lab.train(config, { stage: 'after 0', batch: 1, what: { type: 'stop' } })).stages.filter((one) => one === 'cloning');
  expect(before).toHaveLength(batch);
  // Only the batch under way, or the check it belongs to, is done again.
  expect(after.length).toBeLessThan(all.length / 2);
  for (const one of [whole, lab]) one.close();
}, 60_000);

test('what cloning left is deleted with the last run that could continue it', async () => {
  const lab = new Lab();
  const sameReference = lab.add({ ...config, seed: 2 });
  const otherReference = lab.add({ ...config, reference: { ...config.reference, seed: 7 } });
  await lab.train(config, { stage: 'cloning', batch: 3, what: { type: 'stop' } });
  expect(lab.unfinished()).toHaveLength(1);
  lab.purge(lab.run);
  expect(lab.unfinished()).toHaveLength(1);
  lab.purge(sameReference);
  expect(lab.unfinished()).toEqual([]);
  lab.purge(otherReference);
  lab.close();
}, 60_000);

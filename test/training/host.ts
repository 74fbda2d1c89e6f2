// A host for training inside a test: real files in a temporary folder, reports kept in memory, V* and references found
// again as the store would. `dieAfter` throws in place of the nth report, as if the process had been killed there.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCheckpoint } from '../../main/engine/runtime/checkpoint.ts';
import { CheckpointFiles } from '../../main/store/checkpoints.ts';
import type { ReferencePolicy } from '../../main/store/reference-policies.ts';
import type { RunReport } from '../../main/training/reports.ts';
import type { TrainingHost } from '../../main/training/host.ts';
import { parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

export class Killed extends Error {}

/** Every stage of a run, as small as it gets. */
export const smallest = (changes: Record<string, unknown> = {}) =>
  parseConfig({
    threads: 1,
    policy: { width: 16, layers: 1, heads: 2, feedForward: 32, aids: { tokenShift: 2 } },
    reference: { demonstrations: 48, batch: 12, steps: 6, warmup: 2, checkEvery: 6, checkTasks: 4 },
    vstar: { samples: [2] },
    training: { updates: 4, batch: 8, tasks: 12, warmup: 1, microBatch: 4096 },
    evaluation: { every: 2, tasks: 6, finalTasks: 6 },
    checkpoints: { every: 2 },
    ...changes,
  });

/** Cloned once for the whole test file, as the lab clones once for many runs. */
const references = new Map<string, { policy: ReferencePolicy; path: string }>();

export class TestHost implements TrainingHost {
  readonly catalog = BUILT_IN;
  readonly dataFolder = mkdtempSync(join(tmpdir(), 'astrolab-train-'));
  readonly files = new CheckpointFiles(this.dataFolder, 'test-run');
  reports: RunReport[] = [];
  resumeFrom: string | undefined;
  branchFrom: string | undefined;
  until: number | null = null;
  dieAfter = Number.POSITIVE_INFINITY;
  #said = 0;

  readonly references = {
    find: (recipe: string) => references.get(recipe)?.policy,
    path: ({ recipe }: ReferencePolicy) => references.get(recipe)?.path ?? '',
    /** This host has one run. */
    checkpoint: (_run: number, update: number) => {
      const found = this.reports.find((report) => report.type === 'checkpoint' && report.checkpoint.update === update);
      if (found?.type !== 'checkpoint') throw new Error(`There is no checkpoint ${update}`);
      return this.files.path(found.checkpoint);
    },
  };
  readonly vstar = { find: () => undefined };

  async report(report: RunReport): Promise<void> {
    if (this.#said++ >= this.dieAfter) throw new Killed('killed here');
    if (report.type === 'reference') {
      const path = join(tmpdir(), `astrolab-reference-${process.pid}-${report.policy.recipe}.safetensors`);
      copyFileSync(join(this.dataFolder, ...report.policy.file.split('/')), path);
      references.set(report.policy.recipe, { policy: { ...report.policy, createdAt: 0 }, path });
    }
    if (report.type !== 'progress') this.reports.push(report);
  }

  /** What the store does before a run is resumed: drops everything after the newest checkpoint. */
  rewind(): void {
    const checkpoints = this.reports.flatMap((report) => (report.type === 'checkpoint' ? [report.checkpoint] : []));
    const newest = checkpoints.at(-1);
    this.resumeFrom = newest && this.files.path(newest);
    const last = newest?.update ?? -1;
    this.reports = this.reports.filter((report) => report.type !== 'started' && 'update' in report && report.update <= last);
    this.dieAfter = Number.POSITIVE_INFINITY;
  }

  /** Everything that must repeat: metrics but for measurements of the machine, and evaluations. */
  numbers(): unknown[] {
    return this.reports.flatMap((report): unknown[] => {
      if (report.type === 'update') {
        const repeatable = Object.entries(report.metrics).filter(([name]) => !name.startsWith('system/'));
        return [[report.update, repeatable.sort(([a], [b]) => (a < b ? -1 : 1)), report.episodes.map(({ task, return: r }) => [task, r])]];
      }
      return report.type === 'evaluation' ? [[report.update, report.kind, report.results]] : [];
    });
  }

  /** Hash of weights, Adam's moments and step of the last checkpoint (the file itself also holds times). */
  lastWeights(): string {
    const found = this.reports.findLast((report) => report.type === 'checkpoint');
    if (found?.type !== 'checkpoint') throw new Error('No checkpoint was written');
    const { tensors, step } = readCheckpoint(this.files.path(found.checkpoint));
    const hash = createHash('sha256').update(String(step));
    for (const [name, { data }] of tensors) hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return hash.digest('hex');
  }

  static forgetReferences(): void {
    for (const { path } of references.values()) rmSync(path, { force: true });
    references.clear();
  }

  remove(): void {
    rmSync(this.dataFolder, { recursive: true, force: true });
  }
}

// A pretended training process: real process, real checkpoint files, real reports, but its "weights" are one number
// that each update changes. It resumes, stops, crashes and fills the disk as the real one would.

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckpointFiles, writeDurably } from '../../../main/store/checkpoints.ts';
import type { RunReport } from '../../../main/training/reports.ts';
import { someEvaluation, someUpdate } from '../samples.ts';

interface Settings {
  readonly dataFolder: string;
  readonly uid: string;
  readonly seed: number;
  readonly updates: number;
  readonly resumeFrom: string | null;
  readonly until: number | null;
  readonly delayMs: number;
  readonly crashAt: number | null;
  readonly holdAt: number | null;
  readonly released: string;
  readonly weightsBytes: number;
}

const settings: Settings = JSON.parse(process.argv[2] ?? '{}');
const files = new CheckpointFiles(settings.dataFolder, settings.uid);
const resumed: { update: number; weights: number } | null =
  settings.resumeFrom === null ? null : JSON.parse(readFileSync(files.path({ file: settings.resumeFrom }), 'utf8').trimEnd());

let { update, weights } = resumed ?? { update: 0, weights: settings.seed };
let stopping = false;

process.on('message', () => (stopping = true));
process.on('disconnect', () => process.exit(1));

/** Resolves when the message is out: the process must not end before. */
let lastSent: Promise<void> = Promise.resolve();
function report(message: RunReport): void {
  lastSent = new Promise((resolve) => process.send?.(message, () => resolve()));
}

function saveCheckpoint(): void {
  const text = JSON.stringify({ update, weights }).padEnd(settings.weightsBytes, ' ');
  report({
    type: 'checkpoint',
    checkpoint: files.save(update, (path) => writeDurably(path, Buffer.from(text))),
    kept: update === settings.updates,
  });
}

async function work(): Promise<void> {
  report({ type: 'started', update, device: 'cpu' });
  while (update < settings.updates) {
    update++;
    weights = (weights * 1.3 + 0.7) % 10;
    if (update === settings.crashAt) process.kill(process.pid, 'SIGKILL');
    const one = someUpdate(settings.seed, update);
    report({ ...one, metrics: { ...one.metrics, weights } });
    if (update % 4 === 0) report(someEvaluation(settings.seed, update));
    while (update === settings.holdAt && !stopping && !existsSync(settings.released)) await sleep(5);
    const ending = stopping || update === settings.until;
    if (update % 3 === 0 || ending || update === settings.updates) saveCheckpoint();
    if (ending && update < settings.updates) return report({ type: 'finished', outcome: 'stopped', update });
    await sleep(settings.delayMs);
  }
  report({ type: 'finished', outcome: 'done', update });
}

work()
  .catch((error: unknown) => {
    const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
    report({ type: 'failed', update, message: String(error), diskFull: full });
  })
  .then(() => lastSent)
  .then(() => process.exit(0));

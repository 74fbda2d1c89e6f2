// The training job inside the training process: connects train.ts with the files and the (read-only) database of the data
// folder, and turns every way a run can end into a report. The process ends with its run.

import { isDiskFull } from '../store/database.ts';
import { DeviceLostError } from '../engine/runtime/errors.ts';
import { CheckpointFiles } from '../store/checkpoints.ts';
import { Store } from '../store/store.ts';
import type { Job, JobResult } from './messages.ts';
import type { RunReport } from '../training/reports.ts';
import { train } from '../training/train.ts';
import { pluginChange } from '../config/catalog.ts';
import { loadCatalog } from '../plugin/load.ts';

/** Aborted, it saves and ends. */
export async function runTraining(
  job: Extract<Job, { kind: 'train' }>,
  send: (report: RunReport) => void,
  signal: AbortSignal,
): Promise<JobResult> {
  let update = 0;
  const report = async (message: RunReport): Promise<void> => {
    if ('update' in message) ({ update } = message);
    send(message);
    // The record is written by another process; give the message a chance to leave this one.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const store = Store.read(job.dataFolder);
  try {
    const catalog = await loadCatalog(job.dataFolder);
    const { config } = job;
    const changed = pluginChange(catalog, config.plugins);
    if (changed !== null) throw new Error(changed);
    const host = {
      catalog,
      dataFolder: job.dataFolder,
      files: new CheckpointFiles(job.dataFolder, job.uid),
      references: store.references,
      vstar: store.vstar,
      report,
      resumeFrom: job.resumeFrom ?? undefined,
      branchFrom: job.branchFrom ?? undefined,
      until: job.until,
    };
    const outcome = await train(config, host, signal);
    await report({ type: 'finished', outcome, update });
    return { outcome };
  } catch (error) {
    const deviceLost = error instanceof DeviceLostError;
    await report({ type: 'failed', update, message: describe(error), diskFull: isDiskFull(error), deviceLost });
    throw error;
  } finally {
    store.close();
  }
}

/** What went wrong, and what its author can do about it where that is known (a world in another process, say). */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'hint' in error && typeof error.hint === 'string' && error.hint !== '' ? `${error.message}. ${error.hint}` : error.message;
}

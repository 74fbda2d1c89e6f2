// One job in a worker process of its own, which ends with it.

import { spawnChild, type SpawnOptions } from '../process/child.ts';
import { fromWorker, type Job } from '../process/messages.ts';
import { CallFailure } from './definition.ts';

/** Resolves with what the job answered; rejects with a failure that begins with `what` did not happen. */
interface JobOptions extends SpawnOptions {
  readonly progress?: (done: number, total: number) => void;
  /** Aborted: the process ends at once. */
  readonly signal?: AbortSignal;
}

export function runJob(job: Job, what: string, { progress, signal, ...options }: JobOptions = {}): Promise<unknown> {
  const worker = spawnChild(options);
  return new Promise<unknown>((resolve, reject) => {
    const hint = 'Nothing was changed.';
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'progress') progress?.(message.done, message.total);
      if (message.kind === 'done') resolve(message.result);
      if (message.kind === 'failed') reject(new CallFailure('job-failed', `${what}: ${message.message}`, hint));
    });
    worker.onExit((reason) => reject(new CallFailure('job-failed', `${what}: the process ended unexpectedly (${reason}).`, hint)));
    signal?.addEventListener('abort', () => reject(new CallFailure('cancelled', `${what}: cancelled.`, hint)), { once: true });
    worker.send({ kind: 'job', id: 1, job });
  }).finally(() => worker.kill());
}

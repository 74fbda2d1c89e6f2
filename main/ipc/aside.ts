// A job that reads or writes many runs, in a separate worker process that ends with it: the window must not stand still.

import { fromWorker, type Job } from '../process/messages.ts';
import { CallFailure } from './dispatch.ts';
import { spawnUtility } from './utility.ts';

/** Resolves with what the job answered; rejects with a failure that begins with `what` did not happen. `gentle`: nobody waits for it. */
export function aside(job: Job, what: string, { gentle = false } = {}): Promise<unknown> {
  const worker = spawnUtility({ gentle });
  return new Promise<unknown>((resolve, reject) => {
    const hint = 'Nothing was changed.';
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'done') resolve(message.result);
      if (message.kind === 'failed') reject(new CallFailure('job-failed', `${what}: ${message.message}`, hint));
    });
    worker.onExit((reason) => reject(new CallFailure('job-failed', `${what}: the process ended unexpectedly (${reason}).`, hint)));
    worker.send({ kind: 'job', id: 1, job });
  }).finally(() => worker.kill());
}

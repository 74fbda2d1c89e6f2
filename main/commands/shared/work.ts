// What `lab tune` and `lab study run` share: several training processes, progress with an estimate for the whole on stderr, and
// Ctrl-C, which lets the running updates finish, saves checkpoints and leaves the rest for the next call.

import type { Command } from 'commander';
import { duration, percent } from '../../base/format.ts';
import { tabulate } from '../../evaluation/evaluate.ts';
import type { Store } from '../../store/store.ts';
import type { WorkOptions, WorkProgress } from '../../study/work.ts';
import { spawnChild } from '../../process/child.ts';
import { ConfigError } from '../../config/config.ts';
import { launchWith } from '../../process/launch.ts';
import { onInterrupt } from './interrupt.ts';
import { CallError, note, noteLine } from './output.ts';

export const collect = (text: string, before: readonly string[]): string[] => [...before, text];

export function wholeNumber(option: string, least = 0): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least) throw new CallError(`${option} takes a whole number from ${least} up, not "${text}"`);
    return Number(text);
  };
}

export const words = (text: string): string[] => text.split(',').map((word) => word.trim());

/** `--jobs`: how many runs train at once. */
export const addJobs = (command: Command): Command =>
  command.option('--jobs <n>', 'runs that train at the same time, one thread each', wholeNumber('--jobs', 1), 1);

/** Calls `act` with everything it needs to train many runs; a wrong setting is the caller's mistake. */
export async function working<T>(store: Store, jobs: number, act: (work: WorkOptions) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const ignore = onInterrupt(() => {
    if (stop.signal.aborted) process.exit(130);
    note('\nSaving checkpoints before stopping; Ctrl-C again ends at once');
    stop.abort();
  });
  try {
    return await act({ launch: launchWith(spawnChild, store.dataFolder), jobs, signal: stop.signal, progress: (now) => tell(store, now) });
  } catch (error) {
    if (error instanceof ConfigError) throw new CallError(error.message);
    throw error;
  } finally {
    ignore();
  }
}

function tell(store: Store, { done, total, secondsLeft, ended, elsewhere }: WorkProgress): void {
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`;
  const line = `${done} of ${total} runs${left}`;
  if (elsewhere) {
    const { run, holder } = elsewhere;
    noteLine(`Run ${run} is being trained by another lab (process ${holder.ownerPid}); this one takes other runs and waits for it`);
  } else if (ended) {
    const evaluation = store.evaluations.finalOrLatest(ended.id);
    const success = evaluation ? tabulate(store.evaluations.results(evaluation.id)).success : undefined;
    const outcome = success ? `${percent(success.rate)} of ${success.n} ${evaluation?.split} tasks` : (ended.reason ?? '');
    noteLine(`${line}: run ${ended.id} “${ended.name}” seed ${ended.seed} ${ended.state}, ${outcome}`);
  } else if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${line}`);
}

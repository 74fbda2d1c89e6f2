// What a run has gained over its reference: both on the same tasks, task by task, with tasks that belong together counted as one.

import type { Worlds } from '../environment/registry.ts';
import { points, pValue, signedPoints } from '../base/format.ts';
import { differenceOf } from './arms.ts';
import type { RunConfig } from '../config/config.ts';
import { TaskClusters } from './clusters.ts';
import type { EvaluationResult } from './evaluation-report.ts';
import { ALPHA } from './inference.ts';
import { pairedDifferences, successValue } from './pairing.ts';

export interface Against {
  /** Tasks that both played. */
  readonly n: number;
  /** Number of times each task was drawn by either. */
  readonly draws: number;
  readonly clusters: number;
  /** Success of the run less that of the reference, with its 95% interval. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  readonly p: number;
  /** Plays in which only the run, or only the reference, has solved the task. */
  readonly gained: number;
  readonly lost: number;
  readonly words: string;
}

/**
 * `config` is that of the run: its world says which tasks belong together. A task that both have drawn several times, each time with
 * another seed, stands in their results as often; its draws belong to one cluster, so they make the difference surer and not the tasks more.
 */
export function againstReference(
  catalog: Worlds,
  config: Pick<RunConfig, 'world'>,
  run: readonly EvaluationResult[],
  reference: readonly EvaluationResult[],
): Against | undefined {
  const clusters = new TaskClusters(catalog);
  const side = (results: readonly EvaluationResult[]) => new Map([[0, clusters.mark(config, results)]]);
  const table = pairedDifferences(side(run), side(reference), successValue);
  if (!table) return undefined;
  const { value, low: below, high: above, p, clusters: count } = differenceOf(table);
  const all = table.rows.flat();
  const both = new Set(reference.map(({ task }) => task));
  const n = new Set(run.flatMap(({ task }) => (both.has(task) ? [task] : []))).size;
  const draws = Math.round(all.length / n);
  const each = draws > 1 ? `, drawn ${draws} times each,` : '';
  const [low, high] = [Math.max(-1, below), Math.min(1, above)];
  const [gained, lost] = [all.filter((one) => one > 0).length, all.filter((one) => one < 0).length];
  const better = value > 0 ? 'does better than' : 'does worse than';
  const verdict = p <= ALPHA ? better : 'is not clearly different from';
  const words = [
    `The run ${verdict} its reference: ${points(table.a)}% against ${points(table.b)}%,`,
    `difference ${signedPoints(value)} points (95% interval ${signedPoints(low)} to ${signedPoints(high)}, p = ${pValue(p)};`,
    `of ${n} tasks${each} in ${count} clusters ${gained} were gained and ${lost} lost).`,
  ].join(' ');
  return { n, draws, clusters: count, difference: value, low, high, p, gained, lost, words };
}

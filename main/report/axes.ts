// Where an update lies on the other axes of a curve: episodes, optimizer steps and tokens so far, and time. Equal updates are not
// equal budgets, so a comparison may be looked at along any of them.

import type { CurveAxis } from '../base/vocabulary.ts';
import type { Series } from '../store/metrics.ts';
import type { Store } from '../store/store.ts';
import { stepsSoFar } from './budget.ts';

const METRICS = { episodes: 'episodes', tokens: 'tokens', time: 'system/time.elapsed' } as const;

/** The place of each update; both lists ascend, so one walk is enough. Before the first record everything is 0. */
export function placesOf(store: Store, run: number, axis: CurveAxis, updates: ArrayLike<number>): Float64Array<ArrayBuffer> {
  if (axis === 'update') return Float64Array.from(updates);
  const scale = axis === 'steps' ? stepsSoFar(store, store.runs.get(run)) : store.metrics.series(run, METRICS[axis]);
  return placed(updates, scale);
}

function placed(updates: ArrayLike<number>, scale: Pick<Series, 'updates' | 'values'>): Float64Array<ArrayBuffer> {
  let at = 0;
  return Float64Array.from(updates, (update) => {
    while (at + 1 < scale.updates.length && (scale.updates[at + 1] ?? 0) <= update) at++;
    return (scale.updates[at] ?? Number.POSITIVE_INFINITY) <= update ? (scale.values[at] ?? 0) : 0;
  });
}

export interface PlacedCurve {
  readonly run: number;
  readonly updates: Float64Array<ArrayBuffer>;
  readonly x: Float64Array<ArrayBuffer>;
  readonly y: Float64Array<ArrayBuffer>;
}

/** Drawn from the evaluations during training. */
const VALIDATION = 'evaluation.success';

/** A metric of a run, thinned out to what a chart can show. */
export function placedCurve(store: Store, run: number, name: string, axis: CurveAxis, points: number): PlacedCurve {
  const { updates, values } = name === VALIDATION ? validation(store, run) : store.metrics.series(run, name, { points });
  return { run, updates: Float64Array.from(updates), x: placesOf(store, run, axis, updates), y: Float64Array.from(values) };
}

function validation(store: Store, run: number): { updates: number[]; values: number[] } {
  const own = store.evaluations.list(run).filter(({ agent, kind, success }) => agent === 'policy' && kind === 'periodic' && success.n > 0);
  return { updates: own.map(({ update }) => update), values: own.map(({ success }) => success.k / success.n) };
}

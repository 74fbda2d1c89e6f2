// How stored things look on the wire: a run as a row of the list, k of n with its interval.

import type { Proportion } from '../../preload/contract/definition.ts';
import type { RunRow } from '../../preload/contract/runs.ts';
import { armHash } from '../config/config.ts';
import { wilson } from '../statistics.ts';
import type { RunStore, RunSummary, Successes } from '../store/runs.ts';

/** A spark line is as wide as a word: more points would not be seen. */
const SPARK_POINTS = 24;

export function proportionOf({ k, n }: Successes): Proportion {
  const { rate, low, high } = wilson(k, n);
  return { k, n, rate, low, high };
}

/** The arm of each raw config hash: many runs share one, and parsing thousands of configs would be felt. */
const arms = new Map<string, string>();

function armOf(runs: RunStore, { id, groupHash }: RunSummary): string {
  const known = arms.get(groupHash) ?? armHash(runs.get(id).config);
  arms.set(groupHash, known);
  return known.slice(0, 12);
}

export function rowOf(runs: RunStore, run: RunSummary): RunRow {
  const {
    uid: _uid,
    configHash: _config,
    groupHash: _group,
    pauseAt: _pause,
    deletedAt: _deleted,
    test,
    validation,
    best,
    spark,
    tags,
    ...shown
  } = run;
  return {
    ...shown,
    group: armOf(runs, run),
    test: test && { ...proportionOf(test), update: test.update, temperature: test.temperature },
    validation: validation && { ...proportionOf(validation), update: validation.update },
    best: best && { ...proportionOf(best), update: best.update },
    spark: thin(spark.map(([, share]) => share)),
    tags: [...tags],
  };
}

/** Means of neighbours, so that a thinned-out curve keeps its level. */
function thin(values: readonly number[]): number[] {
  if (values.length <= SPARK_POINTS) return [...values];
  return Array.from({ length: SPARK_POINTS }, (_, index) => {
    const part = values.slice(Math.floor((index * values.length) / SPARK_POINTS), Math.floor(((index + 1) * values.length) / SPARK_POINTS));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

// The mean difference of two arms over seeds and tasks, with the uncertainty of it. Seeds are a sample, and so are
// clusters of tasks: tasks about the same thing succeed and fail together, so they enter as one unit. The
// variance is the two-way clustered one (seeds + clusters − their intersection; Cameron, Gelbach and Miller 2011), which is what
// resampling whole seeds and whole clusters estimates. It is judged by Student's t with one degree of freedom less than there
// are seeds (or clusters, if fewer): an estimated freedom is too sure of itself when three seeds happen to agree.
// test/study/inference.test.ts checks both against simulated studies; docs/STATISTICS.md has the table.

import { type Estimate, mean, noncentralTail, signFlip, studentQuantile, studentTail } from '../base/statistics.ts';

/** Differences by seed (rows) and task (columns), and the cluster of each task. */
export interface DifferenceTable {
  readonly rows: readonly (readonly number[])[];
  readonly clusters: readonly string[];
}

export interface Difference extends Estimate {
  readonly error: number;
  /** Degrees of freedom of the error; 0 when a seed or a cluster stands alone and the spread cannot be estimated. */
  readonly freedom: number;
  readonly clusters: number;
  /** Two-sided p of no difference. */
  readonly p: number;
}

export const ALPHA = 0.05;

export function meanDifference(table: DifferenceTable): Difference {
  const { rows, clusters } = table;
  const value = mean(rows.map((row) => mean(row)));
  const groups = [...Map.groupBy(clusters.keys(), (column) => clusters[column] ?? '').values()];
  const count = groups.length;
  const unknown = { value, low: -1, high: 1, error: Number.POSITIVE_INFINITY, freedom: 0, clusters: count, p: 1 };
  if (rows.length < 2 || count < 2) return unknown;
  if (rows.every((row) => row.every((difference) => difference === 0))) {
    // No pair differs: resampling knows no spread, and the rule of three bounds what was missed.
    const bound = Math.min(1, 3 / count);
    return { ...unknown, low: -bound, high: bound, error: bound / 3, freedom: count - 1 };
  }
  const { bySeed, byCluster, both } = variances(rows, groups, value);
  const variance = Math.max(bySeed, byCluster, bySeed + byCluster - both);
  const error = Math.sqrt(variance);
  // Every pair differs in the same way: the sign test over clusters.
  if (error === 0) return { ...unknown, low: value, high: value, error, freedom: count - 1, p: 2 ** (1 - count) };
  const freedom = Math.min(rows.length, count) - 1;
  const half = studentQuantile(ALPHA / 2, freedom) * error;
  const p = 2 * studentTail(Math.abs(value) / error, freedom);
  return { value, low: Math.max(-1, value - half), high: Math.min(1, value + half), error, freedom, clusters: count, p };
}

/**
 * The same of two single policies: only clusters of tasks are a sample, so it says nothing of other seeds. The p is that of
 * turning round the signs of whole clusters, which is McNemar's exact test where every task is a cluster of its own; differences
 * that are not whole numbers (returns) are judged by Student's t.
 */
export function clusteredDifference(differences: readonly number[], clusters: readonly string[]): Difference {
  const value = mean(differences);
  const sums = new Map<string, { sum: number; size: number }>();
  differences.forEach((difference, index) => {
    const name = clusters[index] ?? '';
    const own = sums.get(name) ?? { sum: 0, size: 0 };
    sums.set(name, { sum: own.sum + difference, size: own.size + 1 });
  });
  const [n, count] = [differences.length, sums.size];
  const unknown = { value, low: -1, high: 1, error: Number.POSITIVE_INFINITY, freedom: 0, clusters: count, p: 1 };
  if (count < 2) return unknown;
  let squares = 0;
  for (const { sum, size } of sums.values()) squares += (sum - size * value) ** 2;
  const error = Math.sqrt((squares * count) / (count - 1)) / n;
  const freedom = count - 1;
  if (error === 0) {
    const bound = Math.min(1, 3 / count);
    if (value === 0) return { ...unknown, low: -bound, high: bound, error: bound / 3, freedom };
    return { ...unknown, low: value, high: value, error, freedom, p: 2 ** (1 - count) };
  }
  const half = studentQuantile(ALPHA / 2, freedom) * error;
  const whole = differences.every(Number.isInteger);
  const p = whole ? signFlip([...sums.values()].map(({ sum }) => sum)) : 2 * studentTail(Math.abs(value) / error, freedom);
  return { value, low: value - half, high: value + half, error, freedom, clusters: count, p };
}

/** Variances of the mean when seeds, clusters, or the cells of both vary. */
function variances(rows: readonly (readonly number[])[], groups: readonly (readonly number[])[], centre: number) {
  const cells = rows.map((row) => groups.map((columns) => columns.reduce((sum, column) => sum + (row[column] ?? 0) - centre, 0)));
  const [seeds, count] = [rows.length, groups.length];
  const entries = seeds * (rows[0]?.length ?? 1);
  const squares = (values: readonly number[]): number => values.reduce((sum, value) => sum + value * value, 0);
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const bySeed = squares(cells.map(total)) * (seeds / (seeds - 1));
  const byCluster = squares(groups.map((_, group) => total(cells.map((row) => row[group] ?? 0)))) * (count / (count - 1));
  const both = squares(cells.flat());
  return { bySeed: bySeed / entries ** 2, byCluster: byCluster / entries ** 2, both: both / entries ** 2 };
}

/** p of the claim that the difference is at least `margin`, either way: small means equivalent (two one-sided tests). */
export function equivalenceP({ value, error, freedom }: Difference, margin: number): number {
  if (freedom === 0) return 1;
  if (error === 0) return Math.abs(value) < margin ? 0 : 1;
  return Math.max(studentTail((margin - value) / error, freedom), studentTail((value + margin) / error, freedom));
}

/** p of the claim that the difference is at most `margin`, either way: small means that it is larger. */
export function outsideP({ value, error, freedom }: Difference, margin: number): number {
  const beyond = Math.abs(value) - margin;
  if (freedom === 0 || beyond <= 0) return 1;
  return error === 0 ? 0 : Math.min(1, 2 * studentTail(beyond / error, freedom));
}

/** p of the claim that the difference is at least `margin` upwards: small means that it is no higher, whatever it is downwards. */
export function notHigherP({ value, error, freedom }: Difference, margin: number): number {
  if (freedom === 0) return 1;
  return error === 0 ? (value < margin ? 0 : 1) : studentTail((margin - value) / error, freedom);
}

/** What a difference varies by: between seeds, between clusters (their means), and the residual of a single pair. */
export interface Components {
  readonly seed: number;
  readonly cluster: number;
  readonly rest: number;
}

export function componentsOf(table: DifferenceTable): Components | undefined {
  const { rows, clusters } = table;
  const groups = [...Map.groupBy(clusters.keys(), (column) => clusters[column] ?? '').values()];
  const [seeds, tasks, count] = [rows.length, rows[0]?.length ?? 0, groups.length];
  if (seeds < 2 || count < 2) return undefined;
  const centre = mean(rows.map((row) => mean(row)));
  const rowMeans = rows.map((row) => mean(row));
  const columns = Array.from({ length: tasks }, (_, column) => mean(rows.map((row) => row[column] ?? 0)));
  let squares = 0;
  rows.forEach((row, seed) => {
    row.forEach((difference, column) => (squares += (difference - (rowMeans[seed] ?? 0) - (columns[column] ?? 0) + centre) ** 2));
  });
  const rest = squares / ((seeds - 1) * Math.max(1, tasks - 1));
  const { bySeed, byCluster } = variances(rows, groups, centre);
  return {
    seed: Math.max(0, seeds * bySeed - rest / tasks),
    cluster: Math.max(0, count * byCluster - (count * rest) / (seeds * tasks)),
    rest,
  };
}

export interface Size {
  readonly seeds: number;
  readonly tasks: number;
  /** Tasks of one cluster. */
  readonly clusterSize: number;
}

/** The error that a study of this size would have, and how freely its estimate varies (Satterthwaite). */
export function expectedError(
  { seed, cluster, rest }: Components,
  { seeds, tasks, clusterSize }: Size,
): { error: number; freedom: number } {
  const clusters = Math.max(2, Math.floor(tasks / clusterSize));
  const noise = rest / (seeds * tasks);
  const variance = seed / seeds + cluster / clusters + noise;
  const freedom = variance ** 2 / ((seed / seeds + noise) ** 2 / (seeds - 1) + (cluster / clusters + noise) ** 2 / (clusters - 1));
  return { error: Math.sqrt(variance), freedom };
}

/** Power: the probability that a study of this size finds a true difference, at a level of significance. */
export function powerOf(difference: number, components: Components, size: Size, alpha = ALPHA): number {
  return powerCurve(components, size, alpha)(difference);
}

/** Power by true difference; what does not depend on the difference is worked out once. */
function powerCurve(components: Components, size: Size, alpha: number): (difference: number) => number {
  if (size.seeds < 2 || size.tasks < 2 * size.clusterSize) return () => 0;
  const { error, freedom } = expectedError(components, size);
  if (error === 0) return (difference) => (difference === 0 ? 0 : 1);
  const critical = studentQuantile(alpha / 2, Math.min(size.seeds, Math.floor(size.tasks / size.clusterSize)) - 1);
  return (difference) => {
    const shift = Math.abs(difference) / error;
    return noncentralTail(critical, freedom, shift) + noncentralTail(critical, freedom, -shift);
  };
}

/** The smallest difference that a study of this size finds with the given power. */
export function detectableDifference(components: Components, size: Size, power = 0.8, alpha = ALPHA): number {
  let [low, high] = [0, 1];
  const powerAt = powerCurve(components, size, alpha);
  if (powerAt(1) < power) return 1;
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (powerAt(middle) < power) low = middle;
    else high = middle;
  }
  return high;
}

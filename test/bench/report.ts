// How every benchmark reports: rows of ours against a peer measured in the same run, as a table for people or with
// --json as the document that DESIGN.md names. A goal bounds the ratio ours/peer, because ratios of one run hold on
// other machines and seconds do not; a row marked `absolute` bounds our number instead.

import { arch, availableParallelism, cpus, totalmem, type } from 'node:os';

export interface BenchRow {
  readonly name: string;
  readonly ours: number;
  /** null: no peer was measured. */
  readonly peer: number | null;
  /** Which of the peer's modes this is: the best one counts. */
  readonly mode?: string | undefined;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  /** null: shown for information. */
  readonly goal: number | null;
  readonly absolute?: boolean;
}

export interface JudgedRow extends Omit<BenchRow, 'absolute'> {
  readonly ratio: number | null;
  /** null: there is no goal, or nothing to hold it against. */
  readonly met: boolean | null;
}

export function judge({ absolute = false, ...row }: BenchRow): JudgedRow {
  const ratio = row.peer === null ? null : row.ours / row.peer;
  const value = absolute ? row.ours : ratio;
  const met = row.goal === null || value === null ? null : row.better === 'lower' ? value <= row.goal : value >= row.goal;
  return { ...row, ratio, met };
}

/** Prints the rows; called once, at the end of a benchmark. `peer` says what was measured against. */
export function report(rows: readonly BenchRow[], peer: string): void {
  const judged = rows.map(judge);
  const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} threads, ${(totalmem() / 1e9).toFixed(0)} GB, ${type()} ${arch()}`;
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ rows: judged, peer, machine }, null, 2)}\n`);
  else process.stdout.write(`${table(judged)}\npeer: ${peer}\nmachine: ${machine}\n`);
}

function table(rows: readonly JudgedRow[]): string {
  const cells = [['', 'ours', 'peer', 'unit', 'ratio', 'goal', '', 'against']];
  for (const { name, ours, peer, mode, unit, ratio, better, goal, met } of rows) {
    const bound = goal === null ? '' : `${better === 'lower' ? '≤' : '≥'} ${goal}`;
    const verdict = met === null ? '' : met ? 'met' : 'missed';
    cells.push([
      name,
      short(ours),
      peer === null ? '–' : short(peer),
      unit,
      ratio === null ? '–' : ratio.toFixed(2),
      bound,
      verdict,
      mode ?? '',
    ]);
  }
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const numeric = new Set([1, 2, 4]);
  const align = (text: string, column: number): string =>
    numeric.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(align).join('  ').trimEnd()).join('\n');
}

/** Four significant digits, without an exponent. */
function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 6));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (low === undefined || high === undefined) throw new RangeError('median of an empty list');
  return (low + high) / 2;
}

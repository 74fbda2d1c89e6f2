// Arms in a report: success with its interval over seeds and clusters of tasks, each against the baseline arm, and the same as CSV.

import { type ArmPair, type ArmSummary, compareArms, summarise } from '../evaluation/arms.ts';
import { interval, percent, pValue, signedPoints } from '../base/format.ts';
import type { FigureBar } from './figures.ts';
import { csv } from './report.ts';
import type { Contender } from '../evaluation/compare.ts';
import type { RunGroup } from './report-groups.ts';
import type { ReportTable } from './study-report.ts';

export interface ComparedArms {
  readonly arms: readonly ArmSummary[];
  readonly pairs: readonly ArmPair[];
  readonly baseline: string;
  /** Some arm has more than one run: then arms say more than runs. */
  readonly several: boolean;
}

export function armComparison(
  groups: readonly RunGroup<Contender>[],
  contenders: readonly Contender[],
  wanted: string | null,
): ComparedArms {
  const arms = groups.map(({ key, members }) => ({
    key,
    members: contenders.filter(({ run }) => members.some((member) => member.run === run)),
  }));
  const baseline = arms.some(({ key }) => key === wanted) && wanted !== null ? wanted : (arms[0]?.key ?? '');
  return {
    arms: arms.map(summarise),
    pairs: compareArms(arms, baseline),
    baseline,
    several: arms.some(({ members }) => members.length > 1),
  };
}

/** 300 (96) × 5; other seeds than the baseline's, or other settings of the world, are marked. */
function rests({ tasks, clusters, seeds, pairing, otherSettings }: ArmPair): string {
  const marks = `${pairing === 'order' ? ', other seeds' : ''}${otherSettings ? ' *' : ''}`;
  return `${clusters < tasks ? `${tasks} (${clusters})` : tasks} × ${seeds}${marks}`;
}

export function armTable({ arms, pairs, baseline, several }: ComparedArms): ReportTable {
  const header = [
    'arm',
    'seeds',
    'success',
    '95% interval',
    `vs. ${baseline}, points`,
    '95% interval',
    'p',
    'p (Holm)',
    'tasks (clusters) × seeds',
  ];
  const rows = arms.map(({ key, evaluated, success }) => {
    const pair = pairs.find((one) => one.key === key);
    const against = pair
      ? [
          signedPoints(pair.difference),
          `${signedPoints(pair.low)} to ${signedPoints(pair.high)}`,
          pValue(pair.p),
          pValue(pair.holm),
          rests(pair),
        ]
      : [key === baseline ? 'baseline' : '–', '–', '–', '–', '–'];
    return [key, String(evaluated), success ? percent(success.value) : '–', success ? interval(success) : '–', ...against];
  });
  return { header, rows: several ? rows : [] };
}

export function armCsv({ arms, pairs }: ComparedArms): string {
  const header = 'arm,runs,success,low,high,baseline,difference,differenceLow,differenceHigh,p,holm,seeds,tasks,clusters,onlyA,onlyB'.split(
    ',',
  );
  const rows = arms.map(({ key, evaluated, success }) => {
    const pair = pairs.find((one) => one.key === key);
    const own = [key, evaluated, success?.value ?? null, success?.low ?? null, success?.high ?? null];
    if (!pair) return [...own, ...Array.from({ length: header.length - own.length }, () => null)];
    const { baseline, difference, low, high, p, holm, seeds, tasks, clusters, onlyA, onlyB } = pair;
    return [...own, baseline, difference, low, high, p, holm, seeds, tasks, clusters, onlyA, onlyB];
  });
  return csv(header, rows);
}

export function armBars({ arms }: ComparedArms, groups: readonly RunGroup<Contender>[]): FigureBar[] {
  return arms.flatMap(({ key, evaluated, success }) => {
    const look = groups.find((group) => group.key === key)?.look;
    const label = `${key}, ${evaluated} ${evaluated === 1 ? 'seed' : 'seeds'}`;
    return success ? [{ ...look, label, value: success.value, low: success.low, high: success.high }] : [];
  });
}

// Two runs of the same config beside each other, update by update: the CPU's and a device's.

import type { RunReport } from '../../main/training/reports.ts';

interface Recorded {
  readonly reports: readonly RunReport[];
}

type Update = Extract<RunReport, { type: 'update' }>;

const updatesOf = ({ reports }: Recorded): Update[] => reports.flatMap((report) => (report.type === 'update' ? [report] : []));

export interface Comparison {
  /** Whether both drew the same tasks. */
  readonly tasks: boolean;
  readonly tokens: { readonly all: number; readonly different: number };
  /** The metric with the largest difference, relative to its size where that is above 1. */
  readonly worst: { readonly name: string; readonly difference: number };
}

export function compareRuns(one: Recorded, other: Recorded): Comparison {
  const [first, second] = [updatesOf(one), updatesOf(other)];
  let tasks = first.length === second.length && first.length > 0;
  const tokens = { all: 0, different: 0 };
  let worst = { name: '', difference: 0 };
  for (const [index, update] of first.entries()) {
    const twin = second[index];
    if (!twin) break;
    for (const [place, episode] of update.episodes.entries()) {
      const played = twin.episodes[place];
      tasks &&= played?.task === episode.task;
      for (const [turn, step] of episode.steps.entries()) {
        for (const [k, id] of step.tokens.ids.entries()) {
          tokens.all++;
          if (played?.steps[turn]?.tokens.ids[k] !== id) tokens.different++;
        }
      }
    }
    for (const [name, number] of Object.entries(update.metrics)) {
      if (name.startsWith('system/')) continue;
      const difference = Math.abs(number - (twin.metrics[name] ?? Number.POSITIVE_INFINITY)) / Math.max(1, Math.abs(number));
      if (!(difference <= worst.difference)) worst = { name: `${name} of update ${update.update}`, difference };
    }
  }
  return { tasks, tokens, worst };
}

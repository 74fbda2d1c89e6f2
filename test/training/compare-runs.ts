// Two runs of the same config beside each other, update by update: the CPU's and a device's.

import { z } from 'zod';
import type { RunReport } from '../../main/training/reports.ts';

export const PlayedUpdate = z.object({
  metrics: z.record(z.string(), z.number()),
  episodes: z.array(z.object({ task: z.string(), /** Token ids of every step. */ steps: z.array(z.array(z.number())) })),
});
export type PlayedUpdate = z.infer<typeof PlayedUpdate>;

/** What a run did in its updates, but for measurements of the machine. */
export const playedUpdates = ({ reports }: { readonly reports: readonly RunReport[] }): PlayedUpdate[] =>
  reports.flatMap((report) => {
    if (report.type !== 'update') return [];
    const metrics = Object.fromEntries(Object.entries(report.metrics).filter(([name]) => !name.startsWith('system/')));
    return [{ metrics, episodes: report.episodes.map(({ task, steps }) => ({ task, steps: steps.map(({ tokens }) => [...tokens.ids]) })) }];
  });

export interface Comparison {
  /** Whether both drew the same tasks. */
  readonly tasks: boolean;
  readonly tokens: { readonly all: number; readonly different: number };
  /** The metric with the largest difference, relative to its size where that is above 1. */
  readonly worst: { readonly name: string; readonly difference: number };
}

export function compareRuns(first: readonly PlayedUpdate[], second: readonly PlayedUpdate[]): Comparison {
  let tasks = first.length === second.length && first.length > 0;
  const tokens = { all: 0, different: 0 };
  let worst = { name: '', difference: 0 };
  for (const [index, update] of first.entries()) {
    const twin = second[index];
    if (!twin) break;
    for (const [place, { task, steps }] of update.episodes.entries()) {
      const played = twin.episodes[place];
      tasks &&= played?.task === task;
      for (const [turn, ids] of steps.entries()) {
        tokens.all += ids.length;
        tokens.different += ids.filter((id, k) => played?.steps[turn]?.[k] !== id).length;
      }
    }
    for (const [name, number] of Object.entries(update.metrics)) {
      const difference = Math.abs(number - (twin.metrics[name] ?? Number.POSITIVE_INFINITY)) / Math.max(1, Math.abs(number));
      if (!(difference <= worst.difference)) worst = { name: `${name} of update ${index + 1}`, difference };
    }
  }
  return { tasks, tokens, worst };
}

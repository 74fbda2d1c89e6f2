// When a run moves on to a harder level of its world: every K updates, or once the success rate of recent updates passes
// a threshold. The state is plain data and saved with the checkpoint, so a resumed run is at the same level.

import { z } from 'zod';
import { between, group, knob, whole } from '../base/knob.ts';

export const CurriculumSettings = group(
  {
    mode: knob(
      z.enum(['off', 'updates', 'success']),
      'off',
      'Off: the whole world from the start. Updates: one level up every so many updates. Success: one level up when recent episodes succeed often enough.',
    ),
    every: knob(whole(1, 100_000), 25, 'Updates spent on each level (mode updates).', 'updates'),
    threshold: knob(between(0, 1), 0.7, 'Success rate of the recent episodes that moves the run one level up (mode success).', 'share'),
    window: knob(whole(1, 1000), 5, 'Updates whose success rate is averaged before it is compared with the threshold.', 'updates'),
    start: knob(whole(0, 100), 0, 'Level to start from; 0 is the easiest.', 'level'),
  },
  'Easy tasks first: the levels of the world and when to move on.',
);
export type CurriculumSettings = z.infer<typeof CurriculumSettings>;

export const CurriculumState = z.strictObject({
  level: z.int().min(0),
  /** Updates done on this level. */
  updates: z.int().min(0),
  /** Success rates of the last updates on this level, newest last. */
  recent: z.array(z.number()),
});
export type CurriculumState = z.infer<typeof CurriculumState>;

export function startCurriculum(settings: CurriculumSettings, levels: number): CurriculumState {
  const last = Math.max(0, levels - 1);
  return { level: settings.mode === 'off' ? last : Math.min(settings.start, last), updates: 0, recent: [] };
}

/** The state after an update in which `success` of the episodes succeeded. */
export function advanceCurriculum(state: CurriculumState, settings: CurriculumSettings, levels: number, success: number): CurriculumState {
  const next = { level: state.level, updates: state.updates + 1, recent: [...state.recent, success].slice(-settings.window) };
  if (settings.mode === 'off' || state.level >= levels - 1) return next;
  const average = next.recent.reduce((sum, rate) => sum + rate, 0) / next.recent.length;
  const mastered = settings.mode === 'success' && next.recent.length === settings.window && average >= settings.threshold;
  const due = settings.mode === 'updates' && next.updates >= settings.every;
  return mastered || due ? { level: state.level + 1, updates: 0, recent: [] } : next;
}

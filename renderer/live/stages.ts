// How far a run is in each of its stages. No React in here.

import type { Stage } from '../../main/lab/features/runs.ts';
import type { Progressed } from '../state/progress.ts';

export interface StageProgress {
  readonly stage: Stage;
  readonly name: string;
  /** 0 … 1; null while it is under way and cannot be counted yet. */
  readonly share: number | null;
  readonly current: boolean;
}

const NAMES: Readonly<Record<Stage, string>> = { reference: 'Reference', vstar: 'V*', training: 'Training', test: 'Test' };

/** Which stage it is in; what it reported last counts, else what its record says. Null before the first. */
function currentStage({ updates, progress }: Progressed): Stage | null {
  return progress?.stage ?? (updates > 0 ? 'training' : null);
}

export function stageProgress(run: Progressed, stages: readonly Stage[]): StageProgress[] {
  const { progress } = run;
  const now = currentStage(run);
  const at = now === null ? -1 : stages.indexOf(now);
  const done = run.state === 'done';
  return stages.map((stage, index) => {
    const current = index === at && !done;
    const counted = stage === 'training' ? run.updates / Math.max(1, run.planned) : progress && progress.done / Math.max(1, progress.total);
    return { stage, name: NAMES[stage], share: done || index < at ? 1 : current ? counted : 0, current };
  });
}

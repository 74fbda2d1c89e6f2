// Pause, resume, step and stop of the run on screen, with what was asked and has not happened yet: a training process obeys after the
// batch or the update under way, which may take a while.

import { useState } from 'react';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { steer } from '../state/runs.ts';
import type { Steering } from '../state/runs.ts';

export function useSteering(run: RunRow): { asked: string | null; ask: (action: Steering) => void } {
  /** The update that was the last one when a pause was asked for. */
  const [pausing, setPausing] = useState<number | null>(null);
  const ask = (action: Steering): void => {
    setPausing(action === 'pause' && run.state === 'running' ? run.updates : null);
    steer(run.id, action);
  };
  const waits = pausing !== null && run.state === 'running' && run.updates <= pausing + 1;
  return { asked: waits ? 'pausing after the work under way' : null, ask };
}

// Pause, resume, step and stop of the run on screen, with what was asked and has not happened yet: a training process obeys between
// updates, which may take a while.

import { useState } from 'react';
import type { RunRow, Stage } from '../../preload/contract/runs.ts';
import { steer } from '../state/runs.ts';
import type { Steering } from '../state/runs.ts';

export function useSteering(run: RunRow, stage: Stage | null): { asked: string | null; ask: (action: Steering) => void } {
  /** The update that was the last one when a pause was asked for. */
  const [pausing, setPausing] = useState<number | null>(null);
  const ask = (action: Steering): void => {
    // In the last stage the lab says why it cannot be paused.
    setPausing(action === 'pause' && run.state === 'running' && stage !== 'test' ? run.updates : null);
    steer(run.id, action);
  };
  const waits = pausing !== null && run.state === 'running' && run.updates <= pausing + 1;
  const when = stage === 'training' ? 'this update' : 'the first update';
  return { asked: waits ? `pauses after ${when}` : null, ask };
}

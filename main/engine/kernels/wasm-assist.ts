// The lane's side of wasm-lanes.ts: computes its share of a WebAssembly program, then listens for a moment.

import { at } from '../../base/indexed.ts';
import type { Kernel } from './load.ts';

/** What a lane does: it has gone back to its messages, it listens, or it computes. */
export const LaneState = { away: 0, listening: 1, computing: 2 } as const;
/** The words of a control block: the lane's state, whether it failed, how many calls there are and how many parameters they have, then those. */
export const Control = { state: 0, failed: 1, calls: 2, parameters: 3, first: 4 } as const;
/** Milliseconds for which a lane listens: what happens between two calls of a rollout takes less. */
export const LISTENING = 5;

/** The lane's side: computes what is asked until nothing more comes for a while. */
export function assist(run: Kernel, control: Int32Array): void {
  do {
    try {
      const { calls, parameters, first } = Control;
      const size = at(control, parameters);
      for (let i = 0, begin: number = first; i < at(control, calls); i++, begin += size) run(...control.subarray(begin, begin + size));
    } catch (error) {
      control[Control.failed] = 1;
      Atomics.store(control, Control.state, LaneState.away);
      Atomics.notify(control, Control.state);
      throw error;
    }
    Atomics.store(control, Control.state, LaneState.listening);
    Atomics.notify(control, Control.state);
    Atomics.wait(control, Control.state, LaneState.listening, LISTENING);
  } while (Atomics.compareExchange(control, Control.state, LaneState.listening, LaneState.away) !== LaneState.listening);
}

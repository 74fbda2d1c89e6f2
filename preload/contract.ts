// The contract between window and lab, as types: what can be called and heard follows from main/lab/features.ts. The lab parses every input on
// arrival and every answer on departure.

import type { Failure, Outcome } from '../main/lab/definition.ts';
import type { Answer, CallName, EventName, Input, Payload } from '../main/lab/features.ts';

/** What the preload puts on `window.astrolab`: plain functions over plain data. */
export interface Bridge {
  call<N extends CallName>(name: N, input: Input<N>): Promise<Outcome<Answer<N>>>;
  /** Returns how to stop listening. */
  listen<N extends EventName>(name: N, listener: (payload: Payload<N>) => void): () => void;
  /** Where a file that was dropped on the page lies; empty for what is no file of the disk. */
  pathOf(file: File): string;
}

export type { Answer, CallName, EventName, Failure, Input, Outcome, Payload };

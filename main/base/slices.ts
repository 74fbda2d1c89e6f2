// Long work of the main process, cut into slices: between two of them whatever the windows asked meanwhile is answered. The work is a
// generator that yields wherever it may be interrupted.

import { setImmediate } from 'node:timers/promises';

/** Milliseconds without a pause; a call that waits this long is not felt. */
const AT_A_TIME = 20;

export async function inSlices<T>(work: Generator<unknown, T, void>): Promise<T> {
  let pause = performance.now() + AT_A_TIME;
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() < pause) continue;
    await setImmediate();
    pause = performance.now() + AT_A_TIME;
  }
}

/** The same without a pause. */
export function atOnce<T>(work: Generator<unknown, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

// What ends work from outside: Ctrl-C, the end of a batch job, and the loss of the terminal (a closed window, a broken ssh
// connection). All three mean the same: finish what is under way, save, and end. Under nohup the loss of the terminal is ignored,
// as asked for there.

import { readFileSync } from 'node:fs';

/** Calls back at every such signal. Returns how to stop listening. */
export function onInterrupt(interrupt: () => void): () => void {
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', ...(hangupIgnored() ? [] : (['SIGHUP'] as const))];
  for (const signal of signals) process.on(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
}

/** Whether whoever started this process (nohup) switched SIGHUP off; a handler of ours would switch it on again. */
function hangupIgnored(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    return ignored !== undefined && (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

// One lab at a time submits, cancels and retries in a submission, from whichever machine. The lock is a folder there (making one is
// atomic on every file system) with its owner in it: a lock of a process of this machine that is gone is taken over at once, any other
// after ten minutes, which is far longer than what it guards.

import { hostname } from 'node:os';
import { processStart } from '../store/locks.ts';
import { ClusterError } from './clusters.ts';
import { plainText } from './incoming.ts';
import type { Place } from './place.ts';

/** $1 the lock, $2 its new owner. Prints "taken", or the owner and "old" when it was taken long ago. */
const TAKE =
  'if mkdir "$1" 2>/dev/null; then printf "%s" "$2" > "$1/owner"; printf taken; else cat "$1/owner" 2>/dev/null; find "$1" -maxdepth 0 -mmin +10 -exec printf " old" \\;; fi';

export async function withLock<T>(place: Place, submission: string, work: () => Promise<T>): Promise<T> {
  const lock = `${place.there}/${submission}/lock`;
  const owner = `${hostname()} ${process.pid} ${processStart(process.pid) ?? ''}`;
  const take = async (): Promise<string> => {
    const { code, output, errors } = await place.run(['sh', '-c', TAKE, 'sh', lock, owner]);
    if (code !== 0) throw new ClusterError(`${lock} could not be made: ${plainText(errors) || `exit code ${code}`}`);
    return output;
  };
  let found = await take();
  if (found !== 'taken' && isStale(found)) {
    await place.run(['rm', '-rf', lock]);
    found = await take();
  }
  if (found !== 'taken') {
    const hint = `Try again in a moment. If that lab is gone, remove ${lock}; a lock older than ten minutes is taken over`;
    throw new ClusterError(`Another lab (${plainText(found, 200) || 'unknown'}) is submitting or cancelling in ${submission}`, hint);
  }
  try {
    return await work();
  } finally {
    await place.run(['rm', '-rf', lock]);
  }
}

function isStale(found: string): boolean {
  if (found.endsWith(' old')) return true;
  const [host, pid, ...started] = found.split(' ');
  return host === hostname() && processStart(Number(pid)) !== started.join(' ');
}

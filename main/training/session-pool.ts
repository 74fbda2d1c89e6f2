// How much memory the sessions of a run may hold: what the setting `memory` leaves beside the rest of the process. The process's resident
// memory itself is looked at, because what a session holds is known only roughly before it has run.

import type { RunConfig } from '../config/config.ts';
import { MemoryPool } from '../engine/session-cache.ts';

/** Kept free for what nobody asks room for: episodes under way, results not yet collected, growth of the JavaScript heap. */
const RESERVE = 0.1;
/** However little is left, sessions may take this part: where the world alone fills the memory, training would make them again at every step. */
const LEAST = 0.1;

/** Which sessions are kept changes no number, so the process's memory of this moment may decide. */
export function sessionPool(config: RunConfig): MemoryPool {
  const bytes = memoryLimit(config) * 1e6;
  return new MemoryPool((1 - RESERVE) * bytes, { used: () => process.memoryUsage.rss(), least: LEAST * bytes });
}

/**
 * The setting in MB. Language models take what they need, because their weights alone are more than it; on a graphics card the process's
 * memory says little about what sessions hold, and a driver may take more than the setting.
 */
export const memoryLimit = ({ policy, device, memory }: RunConfig): number =>
  policy.kind === 'model' || device !== 'cpu' ? Number.POSITIVE_INFINITY : memory;

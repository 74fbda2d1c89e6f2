// How much memory the sessions of a run may hold: what the setting `memory` leaves beside the process itself and the samplers.

import type { RunConfig } from '../config/config.ts';
import { MemoryPool } from '../engine/session-cache.ts';

/** What a session holds for every byte that its graph needs: the runtime's arena grows in powers of two. */
const ARENA = 1.5;
/** For samplers with their keys and values, episodes under way, and what the allocator keeps back. */
const RESERVE = 0.3;
/** However little is left, one session of this size may be kept. */
const LEAST_BYTES = 16e6;

/** Which sessions are kept changes no number, so the process's memory of this moment may decide. */
export function sessionPool(config: RunConfig): MemoryPool {
  const memory = memoryLimit(config);
  const free = (1 - RESERVE) * memory * 1e6 - process.memoryUsage.rss();
  return new MemoryPool(Math.max(LEAST_BYTES, free / ARENA));
}

/** The setting in MB; language models take what they need, because their weights alone are more than it. */
export const memoryLimit = ({ policy, memory }: RunConfig): number => (policy.kind === 'model' ? Number.POSITIVE_INFINITY : memory);

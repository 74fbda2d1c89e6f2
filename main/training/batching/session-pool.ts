// How much memory the sessions of a run may hold: what the setting `memory` leaves beside the rest of the process. The process's resident
// memory itself is looked at, because what a session holds is known only roughly before it has run. Of a card nobody says how much is in use,
// so there what was planned counts.

import { existsSync, readFileSync } from 'node:fs';
import type { Algorithms } from '../../algorithm/registry.ts';
import type { RunConfig } from '../../config/config.ts';
import { MemoryPool } from '../../engine/runtime/session-cache.ts';
import { networkOf, type PolicyModel, type PolicyNetwork } from '../../policy/transformer/network.ts';
import { USABLE, cardLimit, planCard, planMemory } from './memory-plan.ts';

/** Kept free for what nobody asks room for: episodes under way, results not yet collected, growth of the JavaScript heap. */
const RESERVE = 0.1;
/** However little is left, sessions may take this part: where the world alone fills the memory, training would make them again at every step. */
const LEAST = 0.1;

/** Which sessions are kept changes no number, so the process's memory of this moment may decide, and for a language model the machine's. */
export function sessionPool(catalog: Algorithms, config: RunConfig, model: PolicyModel): MemoryPool {
  const planned = config.policy.kind === 'model' && config.device === 'cpu';
  const network = networkOf(model);
  const card = config.device === 'cpu' ? null : cardLimit(config);
  if (card !== null) {
    const { needed, parts } = planCard(catalog, config, network, card);
    return new MemoryPool(Math.max(parts.activations, USABLE * card - needed + parts.activations));
  }
  const used = () => takenBytes(network);
  const bytes = planned
    ? Math.min(planMemory(catalog, config, network).most, USABLE * (process.availableMemory() + privateBytes()))
    : memoryLimit(config) * 1e6;
  return new MemoryPool((1 - RESERVE) * bytes, { used, least: LEAST * bytes });
}

/** What the process takes, mapped weights counted once. */
export const takenBytes = ({ mappedBytes }: Pick<PolicyNetwork, 'mappedBytes'>): number =>
  mappedBytes === undefined ? process.memoryUsage.rss() : privateBytes() + mappedBytes;

/**
 * The process's memory without what it maps from files: every session maps the model's weights, and though they are in memory only once, the
 * resident size counts them for each. Where the system does not say (elsewhere than on Linux), the resident size.
 */
export function privateBytes(): number {
  const status = '/proc/self/status';
  const [, kilobytes] = (existsSync(status) && /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))) || [];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024;
}

/**
 * The setting in MB. Language models take what was planned for them (memory-plan.ts), because their weights alone are more than it; on a graphics card the process's
 * memory says little about what sessions hold, and a driver may take more than the setting: there deviceMemory counts.
 */
export const memoryLimit = ({ policy, device, memory }: RunConfig): number =>
  policy.kind === 'model' || device !== 'cpu' ? Number.POSITIVE_INFINITY : memory;

// A memory plan as text, for the command line and for refusals.

import { bytes as size } from '../../base/format.ts';
import { type MemoryPart, memoryParts } from '../../base/vocabulary.ts';
import type { FittedRun } from './fit-memory.ts';
import type { MemoryPlan } from './memory-plan.ts';

export const partsText = ({ parts, card }: MemoryPlan): string =>
  (Object.keys(memoryParts) as MemoryPart[])
    .filter((part) => !card || part !== 'process')
    .map((part) => `${memoryParts[part].toLowerCase()} ${size(parts[part])}`)
    .join(', ');

/** The plan in words, for the command line. */
export function planText({ plan, changes, free }: FittedRun): string {
  if (!plan) return '';
  const adapted = changes.length === 0 ? '' : `\nAdapted to the ${plan.card ? 'card' : 'free memory'}: ${changes.join(', ')}`;
  const there =
    free === null ? 'the system does not say how much it has (deviceMemory does)' : `${size(free)} ${plan.card ? 'there' : 'free'}`;
  return `Memory${plan.card ? ' of the card' : ''}: ${size(plan.needed)} needed, up to ${size(plan.most)} used, ${there} (${partsText(plan)})${adapted}`;
}

// The original WebShop's small set is not ours to ship. Tests that need it look for it beside the project and say so
// when it is not there.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { projectFolder } from '../../../main/base/paths.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';

export const ORIGINAL = join(projectFolder(), '..', 'shared', 'webshop');
const present = existsSync(join(ORIGINAL, 'items_shuffle_1000.json'));

/** A suite over the original data; skipped, with the reason, where it is missing. */
export function describeOriginal(name: string, suite: () => void): void {
  if (!present) process.stderr.write(`Skipped "${name}": the original WebShop data is not in ${ORIGINAL}\n`);
  describe.skipIf(!present)(`original data: ${name}`, () => {
    suite();
  });
}

export function originalShop(settings: Readonly<Record<string, unknown>> = {}): WebShop {
  return createWebShop({ dataFolder: ORIGINAL, ...settings });
}

export interface Recorded {
  readonly search: readonly { query: string; page: number; complete: boolean; asins: readonly string[] }[];
  readonly sessions: readonly { instruction: string; actions: readonly string[]; reward: number }[];
}

export function recorded(): Recorded {
  const found: Recorded = JSON.parse(readFileSync(join(ORIGINAL, 'recorded.json'), 'utf8'));
  return found;
}

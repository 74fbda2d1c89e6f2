// Charts that belong together share where the pointer is and which part is shown. A group is found by its name; the
// shown part is remembered across pages and restarts.

import { useSyncExternalStore } from 'react';
import { z } from 'zod';
import { readView, writeView } from '../state/view.ts';
import type { Range } from './series.ts';

const rangeSchema = z.object({ min: z.number(), max: z.number() }).nullable();

export class ChartGroup {
  readonly #key: string | null;
  readonly #listeners = new Set<() => void>();
  #x: number | null = null;
  #range: Range | null;

  /** Without a name: a stand-alone chart, and nothing is remembered. */
  constructor(name: string | null) {
    this.#key = name === null ? null : `chart-range.${name}`;
    this.#range = this.#key === null ? null : readView(this.#key, rangeSchema, null);
  }

  /** Where the crosshair is; null when the pointer is elsewhere. */
  get x(): number | null {
    return this.#x;
  }

  /** What is shown; null = everything. */
  get range(): Range | null {
    return this.#range;
  }

  point(x: number | null): void {
    if (x === this.#x) return;
    this.#x = x;
    this.#tell();
  }

  show(range: Range | null): void {
    if (range?.min === this.#range?.min && range?.max === this.#range?.max) return;
    this.#range = range;
    if (this.#key !== null) writeView(this.#key, range);
    this.#tell();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const groups = new Map<string, ChartGroup>();

export function chartGroup(name: string): ChartGroup {
  let group = groups.get(name);
  if (!group) groups.set(name, (group = new ChartGroup(name)));
  return group;
}

/** The crosshair's x, for a component that shows values at it. */
export function useCrosshair(group: ChartGroup): number | null {
  return useSyncExternalStore(group.subscribe, () => group.x);
}

export function useRange(group: ChartGroup): Range | null {
  return useSyncExternalStore(group.subscribe, () => group.range);
}

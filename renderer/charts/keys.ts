// The keys of a focused chart: arrows move the crosshair from point to point, + − 0 zoom, Enter opens the point.

import type { KeyboardEvent } from 'react';
import { nextX } from './crosshair.ts';
import type { ChartGroup } from './group.ts';
import { extent, nearest } from './series.ts';
import type { Range, Series } from './series.ts';

interface KeyTargets {
  readonly group: ChartGroup;
  readonly visible: readonly Series[];
  readonly range: Range | null;
  readonly onPoint: ((series: string, x: number) => void) | undefined;
}

/** A range that holds everything is no zoom. */
export function showRange(group: ChartGroup, visible: readonly Series[], next: Range): void {
  const all = extent(visible);
  group.show(all && next.min <= all.min && next.max >= all.max ? null : next);
}

export function chartKeys({ group, visible, range, onPoint }: KeyTargets): (event: KeyboardEvent) => void {
  const xs = visible.map(({ x }) => x);
  const zoomBy = (factor: number): void => {
    const shown = range ?? extent(visible);
    if (!shown) return;
    const middle = group.x ?? (shown.min + shown.max) / 2;
    showRange(group, visible, { min: middle - (middle - shown.min) * factor, max: middle + (shown.max - middle) * factor });
  };
  const keys: Record<string, () => void> = {
    ArrowRight: () => group.point(nextX(xs, group.x, 1) ?? group.x),
    ArrowLeft: () => group.point(nextX(xs, group.x, -1) ?? group.x),
    Escape: () => group.point(null),
    '+': () => zoomBy(0.5),
    '-': () => zoomBy(2),
    '0': () => group.show(null),
    Enter: () => {
      const first = visible[0];
      const index = first && group.x !== null ? nearest(first.x, group.x) : -1;
      if (first && index >= 0) onPoint?.(first.id, first.x[index] ?? 0);
    },
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}

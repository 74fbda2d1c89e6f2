// The mark that the tour's second step sets into the chart: where the curves of its two arms diverge.

import { useMemo } from 'react';
import { z } from 'zod';
import type { Mark } from '../charts/series.ts';
import { useView, writeView } from '../state/view.ts';

const updateSchema = z.number().nullable();

export function markParting(update: number | null): void {
  writeView('tour.parting', update);
}

const NONE: readonly Mark[] = [];

export function usePartingMark(): readonly Mark[] {
  const [update] = useView('tour.parting', updateSchema, null);
  return useMemo(() => (update === null ? NONE : [{ x: update, label: 'they diverge', kind: 'level' }]), [update]);
}

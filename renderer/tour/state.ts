// Where the tour stands: which study, which step, open or put aside. Remembered like every view, so that it continues after a
// restart. Step 0 is the invitation. Kept as a tuple: this file is loaded with the frame, before zod is configured not to compile,
// and a z.object made then would try to.

import { useCallback, useMemo } from 'react';
import { z } from 'zod';
import { useView, writeView } from '../state/view.ts';

export const STEPS = 6;

const tourSchema = z.tuple([z.number().nullable(), z.int().min(0).max(STEPS), z.boolean()]);
const NOT_YET: z.infer<typeof tourSchema> = [null, 0, false];

export interface TourState {
  readonly study: number | null;
  readonly step: number;
  readonly open: boolean;
}

export function useTour(): [TourState, (state: TourState) => void] {
  const [[study, step, open], set] = useView('tour', tourSchema, NOT_YET);
  return [
    useMemo(() => ({ study, step, open }), [study, step, open]),
    useCallback((next) => set([next.study, next.step, next.open]), [set]),
  ];
}

/** After the sample study was opened: the invitation. */
export function offerTour(study: number): void {
  writeView('tour', [study, 0, true]);
}

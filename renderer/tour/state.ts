// Where the tour stands: which study, which step, open or put aside. Remembered like every view, so that it goes on after a
// restart. Step 0 is the invitation.

import { z } from 'zod';
import { useView, writeView } from '../state/view.ts';

const tourSchema = z.object({ study: z.number().nullable(), step: z.int().min(0).max(6), open: z.boolean() });
export type TourState = z.infer<typeof tourSchema>;
const NOT_YET: TourState = { study: null, step: 0, open: false };

export const STEPS = 6;

export function useTour(): [TourState, (state: TourState) => void] {
  return useView('tour', tourSchema, NOT_YET);
}

/** After the sample study was opened: the invitation. */
export function offerTour(study: number): void {
  writeView('tour', { study, step: 0, open: true });
}

// How curves are looked at, wherever there are curves: linear or log, and how much they are smoothed.

import { z } from 'zod';
import { Select } from '../components/field.tsx';
import { Segmented } from '../components/tabs.tsx';
import type { Scale } from './series.ts';

const SMOOTHINGS = [0, 0.6, 0.9, 0.97];
const SCALES = [
  { value: 'linear', label: 'Linear' },
  { value: 'log', label: 'Log' },
] as const;

export const scaleSchema: z.ZodType<Scale> = z.enum(['linear', 'log']);
export const smoothingSchema = z.number().min(0).max(0.99);

export function ScaleSwitch({ value, onValue }: { value: Scale; onValue: (scale: Scale) => void }) {
  return <Segmented label="Y axis" value={value} onValue={onValue} options={SCALES} />;
}

export function SmoothingSelect({ value, onValue }: { value: number; onValue: (smoothing: number) => void }) {
  return (
    <Select
      aria-label="Smoothing"
      value={String(value)}
      options={SMOOTHINGS.map((one) => ({ value: String(one), label: one === 0 ? 'No smoothing' : `Smoothing ${one}` }))}
      onValue={(text) => onValue(Number(text))}
    />
  );
}

// Small runs of the tiny preset that differ in their seed, for tests of many runs as one piece of work.

import type { WantedRun } from '../../main/study/work.ts';
import { applyOverrides, loadPreset } from '../catalog.ts';

const tiny = loadPreset('shop-tiny').config;

export const wanted = (...seeds: number[]): WantedRun[] =>
  seeds.map((seed) => ({ config: applyOverrides(tiny, [`seed=${seed}`, 'training.updates=10']), preset: 'shop-tiny', tags: ['mine'] }));

// What takes a catalog, with the built-in one: most tests know no other.

import { algorithmOf as algorithm } from '../main/algorithm/registry.ts';
import { BUILT_IN } from '../main/config/catalog.ts';
import { parseConfig as parse, type RunConfig } from '../main/config/config.ts';
import { applyOverrides as apply } from '../main/config/overrides.ts';
import { allPresets as all, loadPreset as load, type Preset, presetIds as ids } from '../main/config/presets.ts';
import { findWorld as find } from '../main/environment/registry.ts';
import { glossaryOf } from '../main/metrics/glossary.ts';
import { newRun as make } from '../main/queue/new-run.ts';
import { openRun as open, type OpenOptions } from '../main/training/run-setup.ts';

export const parseConfig = (input: unknown): RunConfig => parse(BUILT_IN, input);
export const applyOverrides = (config: unknown, overrides: readonly string[]): RunConfig => apply(BUILT_IN, config, overrides);
export const loadPreset = (id: string): Preset => load(BUILT_IN, id);
export const presetIds = (): string[] => ids(BUILT_IN);
export const allPresets = (): Preset[] => all(BUILT_IN);
export const findWorld = (name: string): ReturnType<typeof find> => find(BUILT_IN, name);
export const algorithmOf = (config: Parameters<typeof algorithm>[1]): ReturnType<typeof algorithm> => algorithm(BUILT_IN, config);
export const openRun = (config: RunConfig, options?: OpenOptions): ReturnType<typeof open> => open(BUILT_IN, config, options);
export const newRun = (config: RunConfig, preset: string | null, tags?: readonly string[]): ReturnType<typeof make> =>
  make(BUILT_IN, config, preset, tags);
export const glossary = glossaryOf(BUILT_IN);

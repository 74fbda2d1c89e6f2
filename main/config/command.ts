// Configs as the command that trains them: a preset and what differs from it, so that what the window starts can be started from a
// shell as well. A command is given only if it makes exactly these runs: it is applied here and compared.

import { canonicalJson } from '../base/canonical.ts';
import type { Catalog } from './catalog.ts';
import type { RunConfig } from './config.ts';
import { applyOverrides, flatten } from './overrides.ts';
import { loadPreset, presetIds } from './presets.ts';

const quote = (text: string): string => (/^[\w.,=:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

const written = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** `key=value` texts that make the config from the preset, its seed and name aside; null when no texts do. */
function overridesOf(catalog: Catalog, config: RunConfig, preset: RunConfig): string[] | null {
  const leave = new Set(['seed', 'name']);
  const changes = (from: unknown): string[] => {
    const before = flatten(from);
    return [...flatten(config)].flatMap(([key, value]) =>
      leave.has(key) || JSON.stringify(value) === JSON.stringify(before.get(key)) ? [] : [`${key}=${written(value)}`],
    );
  };
  try {
    // Another algorithm brings its defaults, so it is set before its settings.
    const first = config.algorithm.id === preset.algorithm.id ? [] : [`algorithm.id=${config.algorithm.id}`];
    const rest = changes(applyOverrides(catalog, preset, first)).filter((text) => !text.startsWith('algorithm.id='));
    const all = [...first, ...rest];
    const made = { ...applyOverrides(catalog, preset, all), seed: config.seed, name: config.name };
    return canonicalJson(made) === canonicalJson(config) ? all : null;
  } catch {
    return null;
  }
}

/** What a command starts from: `--preset NAME`, or `--from RUN@UPDATE`, with the config that this stands for. */
export interface CommandBase {
  readonly option: string;
  readonly config: RunConfig;
}

/** Null where there is no such preset. */
export function presetBase(catalog: Catalog, preset: string | null): CommandBase | null {
  return preset === null || !presetIds(catalog).includes(preset)
    ? null
    : { option: `--preset ${preset}`, config: loadPreset(catalog, preset).config };
}

/** One line per config, a loop over its seeds where there are several; null when a command could not make the same. */
export function trainCommands(
  catalog: Catalog,
  runs: readonly RunConfig[],
  from: CommandBase | null,
  tags: readonly string[] = [],
): string | null {
  if (from === null) return null;
  const { option, config: base } = from;
  const lines: string[] = [];
  for (const [, own] of Map.groupBy(runs, ({ seed: _seed, ...rest }) => canonicalJson(rest))) {
    const [config] = own;
    const overrides = config && overridesOf(catalog, config, base);
    if (!config || !overrides) return null;
    const parts = [
      `npm run lab -- train ${option}`,
      ...(config.name === base.name ? [] : [`--name ${quote(config.name)}`]),
      ...tags.map((tag) => `--tag ${quote(tag)}`),
      ...overrides.map((text) => `--set ${quote(text)}`),
    ];
    const seeds = own.map(({ seed }) => seed);
    if (seeds.length === 1) lines.push([...parts, `--seed ${seeds[0] ?? 1}`].join(' '));
    else lines.push(`for seed in ${seeds.join(' ')}; do ${[...parts, '--seed $seed'].join(' ')}; done`);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

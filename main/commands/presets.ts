// `lab presets`: what a run can start from, and for each where it departs from the system it is named after.

import type { Command } from 'commander';
import { allPresets, loadPreset, type Preset, SIZES, sized } from '../config/presets.ts';
import { presetsMarkdown } from '../config/presets-page.ts';
import { catalog } from './shared/catalog.ts';
import { answer } from './shared/output.ts';

export function register(program: Command): void {
  program
    .command('presets [name]')
    .description('the presets: what they are for, where they depart from their source, and their sizes')
    .option('--markdown', 'as docs/PRESETS.md')
    .action((name: string | undefined, { markdown }: { markdown?: boolean }) => {
      const presets = name === undefined ? allPresets(catalog()) : [loadPreset(catalog(), name)];
      if (markdown === true) return answer({ presets: presets.map(listed) }, presetsMarkdown(catalog(), presets).trimEnd());
      return answer({ presets: presets.map(listed) }, presets.map((preset) => textOf(preset, name !== undefined)).join('\n'));
    });
}

const listed = (preset: Preset) => {
  const { id, title, description, adapted, config } = preset;
  return {
    preset: id,
    title,
    description,
    adapted,
    world: config.world.name,
    algorithm: config.algorithm.id,
    updates: Object.fromEntries(SIZES.map((size) => [size, sized(catalog(), preset, size).training.updates])),
  };
};

function textOf({ id, title, description, adapted, config }: Preset, whole: boolean): string {
  const head = `${id}: ${title} (${config.world.name}, ${config.algorithm.id}, ${config.training.updates} updates)`;
  if (!whole) return adapted.length === 0 ? head : `${head}; ${adapted.length} departures from its source`;
  return [head, description, ...adapted.map((departure) => `- ${departure}`)].join('\n');
}

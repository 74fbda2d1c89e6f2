// docs/PRESETS.md: every preset with its sizes and its departures from the system it is named after.

import type { Catalog } from './catalog.ts';
import { type Preset, SIZES, sized } from './presets.ts';

export function presetsMarkdown(catalog: Catalog, presets: readonly Preset[]): string {
  const lines = [
    '# Presets',
    '',
    'Made from `resources/presets` (a test keeps it in step). `npm run lab -- train --preset NAME --size quick|small|medium|full` trains one; quick shows that it works,',
    'small where a small policy goes, medium where it goes. Where a preset is named after another system, the list says in what it differs and why. `lab presets NAME` prints one of them.',
  ];
  for (const preset of presets) {
    const { id, title, description, adapted, config } = preset;
    const updates = SIZES.map((size) => {
      const { training, evaluation } = sized(catalog, preset, size);
      return `${size}: ${training.updates} updates of ${training.batch} episodes, ${evaluation.finalTasks} test tasks`;
    });
    lines.push(
      '',
      `## ${id}: ${title}`,
      '',
      description,
      '',
      `World \`${config.world.name}\`, algorithm \`${config.algorithm.id}\`; ${updates.join('; ')}.`,
    );
    if (adapted.length > 0) lines.push('', 'Different from its source:', '', ...adapted.map((departure) => `- ${departure}`));
  }
  return `${lines.join('\n')}\n`;
}

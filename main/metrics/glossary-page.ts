// docs/metrics.md, made from the glossary.

import type { Catalog } from '../config/catalog.ts';
import { glossaryOf } from './glossary.ts';

const DIRECTIONS = { up: 'higher is better', down: 'lower is better', neither: '–' } as const;

/** Numbers of a finished evaluation (main/evaluation/conduct.ts): `lab eval` and `lab sources` show them; they are computed when asked for, not recorded. */
const CONDUCT = [
  ['achievable', 'Achievable success', 'Successes ÷ tasks whose target some sequence of allowed actions reaches', 'share', 'up'],
  ['efficiency', 'Step efficiency', 'Σ steps of the oracle ÷ Σ steps taken, over the successful episodes', 'share', 'up'],
  ['stepShare', 'Steps used', 'Mean steps of an episode ÷ the most that it may have (the write-ups call this efficiency)', 'share', 'down'],
  ['gap', 'Train–test gap', 'Success on training tasks − success on test tasks, same policy and decoding', 'points', 'down'],
  [
    'traits',
    'What successes have in common',
    'Episodes with a trait ÷ episodes, apart for successes and failures; the world declares the traits',
    'share',
    'neither',
  ],
  [
    'coverage',
    'Success against vocabulary',
    'Success on tasks of whose wanted words none, some or all may be said; rank correlation of coverage and success over the categories',
    'share',
    'neither',
  ],
  [
    'coverage.missing',
    'Failures with a missing word',
    'Failures at tasks with a wanted word that may not be said ÷ all failures',
    'share',
    'down',
  ],
] as const;

export function glossaryMarkdown(catalog: Catalog): string {
  const lines = [
    '# Every number the lab shows',
    '',
    'Made from `main/metrics/glossary.ts` (a test keeps it in step). Names that start with `system/` are measurements of the machine and are the only',
    'ones that may differ between two runs of the same config and seed on the same device.',
  ];
  for (const [group, metrics] of Map.groupBy(glossaryOf(catalog).values(), (metric) => metric.group)) {
    lines.push('', `## ${group}`, '', '| id | name | formula | unit | direction |', '|---|---|---|---|---|');
    for (const { id, name, formula, unit, direction } of metrics) {
      lines.push(`| \`${id}\` | ${name} | ${formula.replaceAll('|', '\\|')} | ${unit} | ${DIRECTIONS[direction]} |`);
    }
  }
  lines.push('', '## conduct', '', 'Of a finished evaluation, computed when it is shown (`lab eval`, `lab sources`).', '');
  lines.push('| id | name | formula | unit | direction |', '|---|---|---|---|---|');
  for (const [id, name, formula, unit, direction] of CONDUCT)
    lines.push(`| \`${id}\` | ${name} | ${formula} | ${unit} | ${DIRECTIONS[direction]} |`);
  return `${lines.join('\n')}\n`;
}

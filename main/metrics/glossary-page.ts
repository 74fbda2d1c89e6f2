// docs/metrics.md, made from the glossary.

import { glossary } from './glossary.ts';

const DIRECTIONS = { up: 'higher is better', down: 'lower is better', neither: '–' } as const;

export function glossaryMarkdown(): string {
  const lines = [
    '# Every number the lab shows',
    '',
    'Made from `main/metrics/glossary.ts` (a test keeps it in step). Names that start with `system/` are measurements of the machine and are the only',
    'ones that may differ between two runs of the same config and seed on the same device.',
  ];
  for (const [group, metrics] of Map.groupBy(glossary.values(), (metric) => metric.group)) {
    lines.push('', `## ${group}`, '', '| id | name | formula | unit | direction |', '|---|---|---|---|---|');
    for (const { id, name, formula, unit, direction } of metrics) {
      lines.push(`| \`${id}\` | ${name} | ${formula.replaceAll('|', '\\|')} | ${unit} | ${DIRECTIONS[direction]} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

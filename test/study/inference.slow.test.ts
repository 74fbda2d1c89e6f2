// 2,000 simulated studies of each kind: the table of docs/STATISTICS.md. UPDATE_DOCS=1 with this test writes the table anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { percent } from '../../main/base/format.ts';
import { projectFolder } from '../../main/base/paths.ts';
import { markdownTable } from '../../main/report/report.ts';
import { EFFECTS, measure, NULLS, type Row } from './simulated.ts';

const STUDIES = 2000;
const PAGE = join(projectFolder(), 'docs', 'STATISTICS.md');
const MARKS = /(<!-- table -->\n)[\s\S]*(\n<!-- end of table -->)/;
const HEADER = [
  'seeds',
  'clusters × tasks',
  'spread of seeds',
  'spread of clusters',
  'true difference',
  'decided',
  'planned',
  'any of 8, Holm',
  'decided if tasks were independent',
];

const cells = ({ world, decided, planned, corrected, unclustered }: Row): string[] => [
  String(world.seeds),
  `${world.clusters} × ${world.clusterSize}`,
  percent(world.seedSpread),
  percent(world.clusterSpread),
  percent(world.difference),
  percent(decided),
  percent(planned),
  percent(corrected),
  percent(unclustered),
];

test('under the null at most 5% of tests and of corrected studies are decided, and power is what the planner says within 5 points', () => {
  const nulls = NULLS.map((world) => measure(world, STUDIES));
  const effects = EFFECTS.map((world) => measure(world, STUDIES));
  const error = 3 * Math.sqrt((0.05 * 0.95) / STUDIES);
  for (const { world, decided, corrected } of nulls) {
    expect(decided, JSON.stringify(world)).toBeLessThan(0.05 + error);
    expect(corrected, JSON.stringify(world)).toBeLessThan(0.05 + error);
  }
  for (const { world, decided, planned } of effects) expect(Math.abs(decided - planned), JSON.stringify(world)).toBeLessThan(0.05);
  const table = markdownTable(HEADER, [...nulls, ...effects].map(cells));
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(MARKS, `$1${table}$2`));
  expect(readFileSync(PAGE, 'utf8')).toContain(table);
}, 1_800_000);

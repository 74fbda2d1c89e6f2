// A stored config has every setting. stored-settings.json lists those of the newest migration of configs: a setting that is added, renamed
// or removed needs another one, so that it reaches the configs that are stored already. New algorithms and worlds need none.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { builtInAlgorithms } from '../../main/algorithm/registry.ts';
import { flatten } from '../../main/config/overrides.ts';
import { BUILT_IN_WORLDS } from '../../main/environment/registry.ts';
import { readMigrations } from '../../main/store/database.ts';
import { parseConfig } from '../catalog.ts';

const file = join(import.meta.dirname, 'stored-settings.json');
const lists = z.record(z.string(), z.array(z.string()));
const known = z.object({ migration: z.string(), settings: z.array(z.string()), algorithms: lists, mistakes: lists });

const newest = readMigrations().findLast(({ name }) => name.endsWith('configs'));
const leaves = (config: object): string[] => [...flatten(config).keys()].sort();

function settingsOfToday(): z.infer<typeof known> {
  const { algorithm: _algorithm, reference, ...rest } = parseConfig({});
  const { imperfection: _imperfection, ...cloning } = reference;
  return {
    migration: `${String(newest?.version).padStart(3, '0')}-${newest?.name}`,
    settings: leaves({ ...rest, reference: cloning }),
    algorithms: Object.fromEntries(builtInAlgorithms.map(({ id }) => [id, leaves(parseConfig({ algorithm: { id } }).algorithm)])),
    mistakes: Object.fromEntries(BUILT_IN_WORLDS.map(({ name, mistakes }) => [name, Object.keys(mistakes).sort()])),
  };
}

test('every setting reaches stored configs: a new one comes with a migration', () => {
  const today = settingsOfToday();
  const before = known.parse(JSON.parse(readFileSync(file, 'utf8')));
  if (process.env.UPDATE_DOCS && before.migration !== today.migration) writeFileSync(file, `${JSON.stringify(today, null, 2)}\n`);
  const { migration, settings, algorithms, mistakes } = known.parse(JSON.parse(readFileSync(file, 'utf8')));
  const advice =
    'Stored configs lack a setting, or have one too many: add main/store/migrations/NNN-configs.sql (a comment is enough), say in main/config/upgrade.ts what became of a renamed one, then run this test with UPDATE_DOCS=1';
  expect(migration, advice).toBe(today.migration);
  expect(today.settings, advice).toEqual(settings);
  for (const id of Object.keys(algorithms)) expect(today.algorithms[id], `${id}: ${advice}`).toEqual(algorithms[id]);
  for (const world of Object.keys(mistakes)) expect(today.mistakes[world], `${world}: ${advice}`).toEqual(mistakes[world]);
});

// `lab --help` is written without loading a command: it says the same as the commands themselves.

import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addOverview, families, familyOf } from '../../main/commands/shared/families.mjs';

test('the overview lists every command with the words that the command has for itself', async () => {
  const overview = addOverview(new Command('lab'));
  const whole = new Command('lab');
  for (const { load } of families) (await load()).register(whole);
  expect(overview.helpInformation()).toBe(whole.helpInformation());
});

test('every command is found in its family', () => {
  for (const family of families) for (const term of Object.keys(family.commands)) expect(familyOf(term.replace(/ .*$/, ''))).toBe(family);
  expect(familyOf('docter')).toBeUndefined();
  expect(familyOf(undefined)).toBeUndefined();
});

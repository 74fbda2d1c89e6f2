// What is wrong with a call is said in words: the file, the place, what was expected and what to do; never a bare code of the
// system, and nothing that never ends is read to its end.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../store/helpers.ts';
import { lab } from '../commands/lab.ts';

const CODES = /\b(ENOENT|EISDIR|EEXIST|ENOTDIR|SyntaxError|ZodError|invalid_type)\b/;

test('errors of files are sentences, not codes', async () => {
  const folder = temporaryFolder();
  const broken = join(folder, 'broken.json');
  writeFileSync(broken, '{"world":');
  const wrongWorld = join(folder, 'world.json');
  writeFileSync(wrongWorld, '{"world":{"name":"nowhere"}}');
  const data = join(folder, 'data');
  const calls: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [['train', '--config', join(folder, 'none.json')], 2, /There is no file .*none\.json/],
    [['train', '--config', folder], 2, /There is no file/],
    [['train', '--config', broken], 2, /broken\.json is not JSON/],
    [['train', '--config', wrongWorld], 2, /world\.name|nowhere/],
    [['import', folder], 2, /There is no file/],
    [['import', broken], 1, /broken\.json was refused: it does not begin like an export/],
    [['play', 'shop', '--actions', folder], 2, /There is no file .* with actions/],
    ...(process.platform === 'linux' ? ([[['play', 'shop', '--actions', '/dev/zero'], 2, /has more than \d+ bytes/]] as const) : []),
  ];
  for (const [args, expected, says] of calls) {
    const { code, err } = await lab('--data', data, ...args);
    expect([args, code, err]).toEqual([args, expected, expect.stringMatching(says)]);
    expect(err).not.toMatch(CODES);
  }
  const listed = await lab('--data', data, '--json', 'runs');
  expect(JSON.parse(listed.out)).toEqual([]);
});

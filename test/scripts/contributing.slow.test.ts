// What the pages on adding an algorithm, a world and a page print, written into a copy of the tree: its checks pass, the tests of all
// algorithms and worlds hold for the new ones, the new algorithm trains, and the new page opens in the real window.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { copyTree, follow } from './follow.ts';

const copy = copyTree();
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function npmTest(args: readonly string[], environment: Record<string, string> = {}): string {
  const { ELECTRON_RUN_AS_NODE: _electron, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync('node', [join(copy, 'scripts', 'test.mjs'), ...args], {
    cwd: copy,
    env: { ...inherited, ...environment },
    encoding: 'utf8',
  });
  return status === 0 ? 'passed' : `${stdout}\n${stderr}`;
}

test('all three pages together: checks, generated pages, new tests and the real window', () => {
  for (const page of ['ADD_AN_ALGORITHM.md', 'ADD_AN_ENVIRONMENT.md', 'ADD_A_PAGE.md']) follow(page, copy);
  expect(npmTest(['test/config/docs'], { UPDATE_DOCS: '1' })).toBe('passed');
  expect(npmTest(['checks'])).toBe('passed');
  expect(npmTest(['test/algorithm', 'test/config', 'test/study/definition', 'test/environment/worlds', 'test/scripts/readme'])).toBe(
    'passed',
  );
  expect(npmTest(['test/e2e/machine.test.ts'])).toBe('passed');
});

// The pages that say how to add an algorithm, a world and a page are followed to the letter in a copy of the tree. Here: everything they
// name is there, and what they add keeps the import rules. contributing.slow.test.ts runs all checks and the new tests on that copy.

import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { applyDiff, blocksOf, copyTree, follow } from './follow.ts';
import { importFaults, namedWorlds } from './import-faults.ts';

const copy = copyTree();
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test.each(['ADD_AN_ALGORITHM.md', 'ADD_AN_ENVIRONMENT.md', 'ADD_A_PAGE.md'])('%s can be followed to the letter', (page) => {
  expect(follow(page, copy).length).toBeGreaterThanOrEqual(3);
  expect([...importFaults(copy), ...namedWorlds(copy)]).toEqual([]);
});

test('a page that fell behind the code is noticed', () => {
  const [block] = blocksOf('```diff a.ts\n one\n-two\n+three\n```');
  if (!block) throw new Error('the block was not found');
  expect(applyDiff('zero\none\ntwo\n', block)).toBe('zero\none\nthree\n');
  expect(() => applyDiff('zero\none\n', block)).toThrow(/expected once, found 0 times/);
});

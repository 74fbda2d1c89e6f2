// docs/SECURITY.md names a test for every point that an attack found: each must be there under that name.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test('every test that the page names for a point exists', () => {
  const page = readFileSync(join(root, 'docs/SECURITY.md'), 'utf8');
  const section = page.slice(page.indexOf('## What an attack found'), page.indexOf('## What is not covered'));
  const named = [...section.matchAll(/`(test\/[\w/.-]+\.test\.ts)`: ([^|]+?)(?=\. `test\/| \|)/g)].flatMap(([, file = '', names = '']) =>
    names.split('; ').map((name) => ({ file, name: name.replace(/ \((?:the window|that a full).*\)$/, '') })),
  );
  const missing = named.filter(({ file, name }) => {
    const source = readFileSync(join(root, file), 'utf8');
    return !["'", '`', '"'].some((quote) => source.includes(quote + name + quote));
  });
  expect(missing).toEqual([]);
  const points = [...section.matchAll(/^\| (\d+)\. .*`test\//gm)].map(([, point]) => Number(point));
  expect(points).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(named.length).toBeGreaterThan(points.length);
});

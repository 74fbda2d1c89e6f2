// Which changes of a run are announced to the user who looks elsewhere, and links into the lab.

import { expect, test } from 'vitest';
import { createNotices } from '../../main/lab/run-notices.ts';
import { addressOf, fileOf } from '../../main/base/links.ts';

const run = { id: 3, name: 'try', reason: null, test: { k: 9, n: 10, update: 5, temperature: 0 } };

test('a run that trained here is announced once at its end, with its result or its reason', () => {
  const told: unknown[] = [];
  const news = createNotices((...words) => told.push(words));
  news.changed({ ...run, state: 'done' }); // not seen training
  news.changed({ ...run, state: 'running' });
  news.changed({ ...run, state: 'done' });
  news.changed({ ...run, state: 'done' });
  news.changed({ ...run, id: 4, state: 'running' });
  news.changed({ ...run, id: 4, state: 'failed', reason: 'The loss is not a number.' });
  news.alert({ ...run, state: 'running' }, 'Entropy fell.');
  expect(told).toEqual([
    [3, 'Run 3 is done', 'try. Test success 90.0%.'],
    [4, 'Run 4 failed', 'try. The loss is not a number.'],
    [3, 'Alert in run 3', 'try: Entropy fell.'],
  ]);
});

test.each([
  ['astrolab://run/12', '/runs/12'],
  ['astrolab://run/12/episode/5', '/replay/12/5'],
  ['astrolab://run/12/episode/5/step/3', '/replay/12/5/3'],
  ['astrolab://study/4', '/compare/study-4'],
  ['astrolab://run/12/../../x', null],
  ['astrolab://settings', null],
  ['https://example.org/run/1', null],
  ['--no-sandbox', null],
])('the link %s leads to %s', (link, address) => {
  expect(addressOf(link)).toBe(address);
});

test.each([
  ['/home/me/my runs.astrolab', '/home/me/my runs.astrolab'],
  ['file:///home/me/my%20runs.astrolab', '/home/me/my runs.astrolab'],
  ['file://another-machine/x.astrolab', process.platform === 'win32' ? '\\\\another-machine\\x.astrolab' : null],
  ['astrolab://run/12', null],
  ['--no-sandbox', null],
])('the word %s names the file %s', (word, file) => {
  expect(fileOf(word)).toBe(file);
});

// The closed forms of what comes from a cluster: names, results, jobs and files that are none.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import {
  arrayIndices,
  attemptOf,
  DamagedSubmission,
  isClusterFile,
  readJournal,
  readPart,
  readProgressLine,
  readRegularFile,
  readSeen,
} from '../../main/cluster/incoming.ts';
import { openPlace } from '../../main/cluster/place.ts';
import { planSubmission } from '../../main/cluster/plan.ts';
import { Submission } from '../../main/cluster/submission.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';
import { smallRuns } from './outcome.ts';

const ID = '20261119-1200-abcdef';
const OURS = [
  `${ID}/submission.json`,
  `${ID}/journal.jsonl`,
  `${ID}/parts/2.txt`,
  `test-${ID}/seen/astrolab-test-${ID}-1`,
  `${ID}/progress/0001.4242-0.jsonl`,
  `${ID}/progress/s0.p77-0.jsonl`,
  `${ID}/results/0001.4242-1.astrolab`,
  `${ID}/results/0001.4242-1.shared`,
  `${ID}/shared/s12.shared`,
  `${ID}/logs/2-17.txt`,
];
const NOT_OURS = [
  '',
  '.',
  '../submission.json',
  '/etc/passwd',
  `${ID}`,
  `${ID}/../${ID}/submission.json`,
  `${ID}/progress/../../canary`,
  `${ID}/progress/0001.4242-0.jsonl/../x`,
  `${ID}/progress/0001.4242-0.jsonl\n`,
  `${ID}/progress/$(id).4242-0.jsonl`,
  `${ID}/results/0001.astrolab`,
  `-rf/submission.json`,
  `${ID}/results/0001.4242-0.astrolab;id`,
  `${ID}/.ssh/keys`,
  `${ID.toUpperCase()}/submission.json`,
];

test('only names of ours are asked for, listed, written or read', async () => {
  expect(OURS.filter((name) => !isClusterFile(name))).toEqual([]);
  expect(NOT_OURS.filter(isClusterFile)).toEqual([]);
  const folder = temporaryFolder();
  for (const host of ['', 'login']) {
    const place = openPlace(folder, clusterSettings.parse({ name: 'test', folder: temporaryFolder(), host }));
    // ssh is never started: the names are refused before.
    for (const name of NOT_OURS) {
      await expect((async () => place.pull([{ name, most: 1 }]))()).rejects.toThrow(/is no file of a submission/);
      await expect((async () => place.tail(name, 1))()).rejects.toThrow(/is no file of a submission/);
    }
    for (const name of ['', '.', '..', '/etc', ID.toUpperCase(), `${ID}/..`, `${ID}/.ssh`, `${ID}/progress/x`, '$(id)', '-rf'])
      await expect((async () => place.pullFolder(name, 1, () => false))()).rejects.toThrow(/is no file of a submission/);
  }
});

test('a path below a submission leads nowhere else', () => {
  const { file, requests } = planSubmission(openStore(), clusterSettings.parse({ name: 'test', folder: '/x' }), smallRuns([1], 2), {
    title: 'x',
  });
  const submission = Submission.create(temporaryFolder(), file, requests);
  expect(submission.path('results', '0001.1-0.astrolab')).toBe(join(submission.folder, 'results/0001.1-0.astrolab'));
  for (const name of ['..', '../x', 'results/../../x', '/etc/passwd', '', 'a//b', './x', 'x\ny'])
    expect(() => submission.path('results', name), name).toThrow(DamagedSubmission);
});

test('a result has the name of its task and attempt; anything else is the failure of that attempt', () => {
  const attempt = { task: '0001', label: '4242-0' };
  const line = (file: unknown, more: object = {}): string =>
    JSON.stringify({ is: 'done', at: 1, file, sha256: 'ab'.repeat(32), bytes: 1, updates: 1, ...more });
  expect(readProgressLine(line('0001.4242-0.astrolab'), attempt)).toMatchObject({ is: 'done' });
  expect(readProgressLine(line('s0.shared'), { task: 's0', label: '1-0' })).toMatchObject({ is: 'done' });
  for (const file of ['../x', '/x', '0002.4242-0.astrolab', '0001.4242-1.astrolab', '0001.shared', '$(id)', 7, null])
    expect(readProgressLine(line(file), attempt)).toMatchObject({ is: 'failed', reason: expect.stringMatching(/was expected|file/) });
  for (const more of [{ sha256: '00' }, { bytes: -1 }, { bytes: 1e18 }, { updates: 0.5 }, { at: -1 }])
    expect(readProgressLine(line('0001.4242-0.astrolab', more), attempt)).toMatchObject({ is: 'failed' });
  expect(readProgressLine('{"is":"done"', attempt), 'half a line is none').toBeUndefined();
  expect(attemptOf('0001.4242-0.jsonl')).toEqual(attempt);
  expect(['0001.jsonl', '../0001.1-0.jsonl', '0001.1-0.jsonl.part', '01.1-0.jsonl', '0001.x-0.jsonl'].map(attemptOf)).toEqual(
    Array.from({ length: 5 }),
  );
});

test('the journal names arrays by their own names and jobs by numbers, because both become arguments of commands', () => {
  const folder = temporaryFolder();
  const lines = [
    { is: 'intent', at: 1, part: 1, name: `astrolab-${ID}-1`, tasks: 1 },
    { is: 'intent', at: 1, part: 2, name: '../../../canary', tasks: 1 },
    { is: 'submitted', at: 1, part: 1, job: '--state=RUNNING' },
    { is: 'submitted', at: 1, part: 1, job: '4242' },
    { is: 'submitted', at: 1, part: -1, job: '4242' },
  ];
  writeFileSync(join(folder, 'journal.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(readJournal(folder, ID)).toEqual([lines[0], lines[3]]);
  mkdirSync(join(folder, 'seen'));
  writeFileSync(join(folder, 'seen', 'x'), '--state=RUNNING\n');
  expect(readSeen(folder, 'x')).toBeUndefined();
  mkdirSync(join(folder, 'parts'));
  writeFileSync(join(folder, 'parts', '1.txt'), '0001\n$(id)\n');
  expect(() => readPart(folder, 1)).toThrow(/lines that are no tasks/);
  expect(() => readPart(folder, 2)).toThrow(/is missing/);
});

test('only regular files of bounded size are read, and nothing is waited for', () => {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder, name);
  execFileSync('mkfifo', [file('pipe')]);
  symlinkSync('/etc/passwd', file('link'));
  mkdirSync(file('folder'));
  writeFileSync(file('large'), 'x'.repeat(100));
  for (const name of ['pipe', 'link', 'folder']) expect(() => readRegularFile(file(name), 1000), name).toThrow(/is not a regular file/);
  expect(() => readRegularFile('/dev/zero', 1000)).toThrow(/is not a regular file/);
  expect(() => readRegularFile(file('large'), 99)).toThrow(/more than the 99/);
  expect(readRegularFile(file('large'), 100)?.length).toBe(100);
  expect(readRegularFile(file('none'), 100)).toBeNull();
});

test('ranges of an array are bounded', () => {
  expect(arrayIndices('3-5,9%2')).toEqual([3, 4, 5, 9]);
  expect(arrayIndices('0-9999999,0-9999999').length).toBe(100_000);
  expect(arrayIndices('0-99999999999999,x,-1,2-1')).toEqual([]);
});

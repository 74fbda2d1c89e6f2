// A thousand answers that no cluster of ours would give, drawn with a fixed seed: progress lines, listings and what the scheduler prints,
// archives, and folders of submissions. Whatever is taken from them has its closed form, and nothing outside the folder changes.

import { existsSync, mkdirSync, readdirSync, readFileSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveRefused } from '../../main/cluster/archive.ts';
import { Cluster } from '../../main/cluster/cluster.ts';
import { clusterSettings } from '../../main/cluster/clusters.ts';
import { attemptOf, DamagedSubmission, filesIn, type JobRecord, resultNames, submissionsIn } from '../../main/cluster/incoming.ts';
import { planSubmission } from '../../main/cluster/plan.ts';
import { ProgressReader } from '../../main/cluster/progress.ts';
import { parseSacct, parseScontrol, parseSqueue, type Scheduler } from '../../main/cluster/slurm.ts';
import { Submission } from '../../main/cluster/submission.ts';
import { smallRuns } from '../cluster/outcome.ts';
import { packed } from '../cluster/tar-entry.ts';
import { openStore, temporaryFolder } from '../store/helpers.ts';

const SEED = 20261119;
const CASES = 250;
const drawn = { seed: SEED, numRuns: CASES };

const EVIL = [
  '',
  '..',
  '../../../canary.txt',
  '/etc/passwd',
  '$(touch canary.txt)',
  '`id`',
  'a;b',
  "'",
  '-rf',
  '--state=RUNNING',
  'x\ny',
  '\u001b[2J',
  '\u202e',
  '0002.4242-0.astrolab',
  '0001.4242-0.astrolab',
  '__proto__',
  'constructor',
  'x'.repeat(5000),
];
const evil = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...EVIL) },
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom<unknown>(-1, 0, 1e308, 1.5, 2 ** 60, true, null, [], {}, [[[]]], '4242', 'ab'.repeat(32)),
);

/** One line that could be shown anywhere. */
// oxlint-disable-next-line no-control-regex -- these are what must not pass
const PLAIN = /^[^\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]{0,2000}$/;

const LINES: readonly object[] = [
  { is: 'started', at: 1, job: '4242', node: 'n1', processor: 'x' },
  { is: 'progress', at: 2, phase: 'training', done: 3, total: 9, success: 0.5 },
  { is: 'saved', at: 3, update: 2 },
  { is: 'stopped', at: 4, update: 2 },
  { is: 'failed', at: 5, reason: 'no memory' },
  { is: 'done', at: 6, file: '0001.4242-0.astrolab', sha256: 'ab'.repeat(32), bytes: 1, updates: 9 },
];

/** One value of a JSON somewhere, replaced. */
function twisted(value: unknown, path: readonly number[], lie: unknown): unknown {
  const [step = 0, ...rest] = path;
  if (typeof value !== 'object' || value === null || path.length === 0) return lie;
  const keys = Object.keys(value);
  if (keys.length === 0) return lie;
  const key = keys[step % keys.length] ?? '';
  const entries = Object.entries(value).map(([name, item]) => [name, name === key ? twisted(item, rest, lie) : item] as const);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

const path = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 });
const damagedText = (text: string, cut: number, how: number): string =>
  how === 0 ? text.slice(0, cut) : how === 1 ? `${text.slice(0, cut)}\u0000${text.slice(cut)}` : text;

test('progress: whatever stands in it, a result has the name of its attempt, and all text is one plain line', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'progress'));
  const line = fc
    .tuple(fc.constantFrom(...LINES), fc.option(fc.tuple(path, evil), { freq: 1 }), fc.nat(120), fc.nat(9))
    .map(([good, lie, cut, how]) => damagedText(JSON.stringify(lie ? twisted(good, lie[0].slice(0, 1), lie[1]) : good), cut, how));
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('0001.4242-0.jsonl', 's0.p77-3.jsonl') },
    fc.constantFrom('..', '0001.jsonl', '9.9-9.jsonl', '0001.x-0.jsonl'),
  );
  let done = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), name, fc.integer({ min: 0, max: 1 }), (lines, file, again) => {
      rmSync(join(folder, 'progress'), { recursive: true });
      mkdirSync(join(folder, 'progress'));
      const target = join(folder, 'progress', file === '..' ? '0001..jsonl' : file);
      const reader = new ProgressReader(folder);
      writeFileSync(target, `${lines.join('\n')}\n`);
      reader.read();
      // The file is another one at the next look, and may be shorter.
      if (again === 1) writeFileSync(target, lines.slice(1).join('\n'));
      for (const news of [...reader.read().values()].flat()) {
        const attempt = attemptOf(file);
        if (!attempt) throw new Error(`${file} is no progress`);
        expect([news.task, news.label]).toEqual([attempt.task, attempt.label]);
        for (const text of [news.node, news.processor, news.phase, news.end?.is === 'failed' ? news.end.reason : ''])
          expect(text).toMatch(PLAIN);
        expect(news.job).toMatch(/^(p?\d{1,20})?$/);
        if (news.end?.is !== 'done') continue;
        done += 1;
        expect(Object.values(resultNames(attempt))).toContain(news.end.file);
        expect(news.end.sha256).toMatch(/^[0-9a-f]{64}$/);
      }
    }),
    drawn,
  );
  expect(done, 'some of them are sound').toBeGreaterThan(10);
});

const NAME = /^[a-z0-9][a-z0-9-]*(\/[\w][\w.-]*)*$/;

test('listings: only names of ours are taken, and what the scheduler prints has its closed form', () => {
  const folder = '20261119-1200-abcdef';
  const good = fc.constantFrom('./20261119-1200-abcdef', `${folder}/progress/0001.4242-0.jsonl`, `${folder}/progress/s0.p7-1.jsonl`);
  const row = fc.oneof(
    good,
    fc.tuple(good, evil).map(([name, lie]) => `${name}${String(lie)}`),
    fc.tuple(evil, good).map(([lie, name]) => `${String(lie)}${name}`),
    evil.map(String),
    fc.constantFrom(`${folder}/progress/../../../canary.txt`, `${folder}/progress/.`, `${folder}/.ssh`, './..', './-rf', `${folder}/`),
  );
  const slurm = fc
    .array(
      fc.oneof(
        fc.constantFrom('astrolab-a-1', '12', '12_3', '0', '3-900000000', '0-9999999,0-9999999', 'RUNNING', 'n1', 'None'),
        evil.map(String),
      ),
      { minLength: 4, maxLength: 6 },
    )
    .map((fields) => fields.join('|'));
  const words = fc
    .array(
      fc.tuple(
        fc.constantFrom('JobName', 'JobId', 'ArrayTaskId', 'ArrayJobId', 'JobState', 'Reason', 'NodeList'),
        fc.oneof(fc.constantFrom('12', '3-900000000', 'RUNNING'), evil.map(String)),
      ),
      { maxLength: 9 },
    )
    .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join(' '));
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 12 }),
      fc.array(slurm, { maxLength: 6 }),
      fc.array(words, { maxLength: 4 }),
      (rows, lines, texts) => {
        const listing = rows.join('\n');
        for (const name of [...submissionsIn(listing), ...filesIn(listing, `${folder}/progress`)]) {
          expect(name).toMatch(NAME);
          expect(relative('/root', join('/root', name))).toBe(name);
        }
        const records: JobRecord[] = [
          ...parseSqueue(lines.join('\n')),
          ...parseSacct(lines.join('\n')),
          ...parseScontrol(texts.join('\n')),
        ];
        expect(records.length).toBeLessThan(500_000);
        for (const { job, index, state, reason, node } of records.slice(0, 100)) {
          expect(job).toMatch(/^\d{1,20}$/);
          expect(state).toMatch(/^[A-Z_]{1,40}$/);
          expect([reason, node].filter((text) => !PLAIN.test(text))).toEqual([]);
          expect(Number.isSafeInteger(index) && index >= 0).toBe(true);
        }
      },
    ),
    drawn,
  );
});

test('archives: only regular files that were asked for are written, and nothing outside the folder', () => {
  const parent = temporaryFolder();
  const canary = join(parent, 'canary.txt');
  const folder = join(parent, 'mirror');
  const wanted = new Map([
    ['a/progress/0001.4242-0.jsonl', 600],
    ['a/submission.json', 600],
    ['b/results/0001.4242-0.astrolab', 1500],
  ]);
  const names = [
    ...wanted.keys(),
    'a',
    'a/progress',
    'a/../../canary.txt',
    '../canary.txt',
    canary,
    'b/results/0002.4242-0.astrolab',
    './a/submission.json',
    '.',
    '',
  ];
  const entry = fc.record({
    name: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...wanted.keys()) }, fc.constantFrom(...names), fc.string({ maxLength: 120 })),
    type: fc.oneof(
      { weight: 6, arbitrary: fc.constant('0') },
      fc.constantFrom('1', '2', '3', '4', '5', '6', '7', 'x', 'g', 'L', 'K', 'Z', '\0'),
    ),
    link: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('..', canary, parent)),
    content: fc.uint8Array({ maxLength: 1600 }).map((bytes) => Buffer.from(bytes)),
    size: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(0, 512, 8 ** 11 - 1)),
  });
  const flips = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(fc.tuple(fc.nat(6000), fc.nat(255)), { maxLength: 4 }));
  let taken = 0;
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 4 }),
      flips,
      fc.integer({ min: 1, max: 3000 }),
      fc.boolean(),
      (entries, changed, step, whole) => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder);
        writeFileSync(canary, 'canary');
        const bytes = Buffer.concat([...entries.map(packed), ...(whole ? [Buffer.alloc(1024)] : [])]);
        for (const [at, value] of changed) if (at < bytes.length) bytes[at] = value;
        const reader = new ArchiveReader(folder, wanted);
        let refused = false;
        try {
          for (let at = 0; at < bytes.length; at += step) reader.write(bytes.subarray(at, at + step));
          reader.end();
        } catch (error) {
          if (!(error instanceof ArchiveRefused)) throw error;
          refused = true;
        } finally {
          reader.abandon();
        }
        const unasked = entries.filter(({ name, type }) => ['0', '\0'].includes(type) && !wanted.has(name));
        expect(refused || changed.length > 0 ? [] : unasked).toEqual([]);
        const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
          (name) => !lstatSync(join(folder, name)).isDirectory(),
        );
        for (const name of found) {
          taken += 1;
          expect(wanted.has(name)).toBe(true);
          expect(lstatSync(join(folder, name)).isFile()).toBe(true);
          expect(lstatSync(join(folder, name)).size).toBeLessThanOrEqual(wanted.get(name) ?? 0);
        }
        expect([readFileSync(canary, 'utf8'), readdirSync(parent).sort()]).toEqual(['canary', ['canary.txt', 'mirror']]);
      },
    ),
    drawn,
  );
  expect(taken, 'some of them are sound').toBeGreaterThan(100);
});

test('submissions: one that is damaged in any way is at most one damaged row, and the sound one stays', async () => {
  const store = openStore();
  const parent = temporaryFolder();
  const folder = join(parent, 'submissions');
  const settings = clusterSettings.parse({ name: 'test', folder });
  const { file, requests } = planSubmission(store, settings, smallRuns([1, 2], 2), { title: 'sound' });
  mkdirSync(folder);
  Submission.create(folder, file, requests);
  const canary = join(parent, 'canary.txt');
  writeFileSync(canary, 'canary');
  const asked: string[] = [];
  const scheduler: Scheduler = {
    jobs: (names) => {
      asked.push(...names);
      return Promise.resolve({ source: 'squeue', jobs: [] });
    },
    submit: () => Promise.resolve('1'),
    cancel: (targets) => {
      asked.push(...targets);
      return Promise.resolve();
    },
    arrayLimit: () => Promise.resolve(null),
  };
  const at = new Cluster(store, settings, { scheduler });
  const bad = { ...file, id: 'bad' };
  const journal = [
    { is: 'intent', at: 1, part: 1, name: 'astrolab-bad-1', tasks: 2 },
    { is: 'submitted', at: 2, part: 1, job: '4242' },
    { is: 'refused', at: 3, part: 1, reason: 'no' },
    { is: 'cancelled', at: 3, tasks: ['0001'] },
  ];
  const lies = fc.option(fc.tuple(path, evil), { freq: 1 });
  const lied = (value: unknown, lie: [number[], unknown] | null): string => JSON.stringify(lie ? twisted(value, lie[0], lie[1]) : value);
  await fc.assert(
    fc.asyncProperty(
      lies,
      fc.array(fc.tuple(fc.constantFrom(...journal), lies), { maxLength: 4 }),
      fc.oneof(fc.constant('0001\n0002\n'), evil.map(String)),
      fc.nat(3000),
      fc.nat(6),
      async (lie, lines, part, cut, how) => {
        rmSync(join(folder, 'bad'), { recursive: true, force: true });
        mkdirSync(join(folder, 'bad', 'parts'), { recursive: true });
        writeFileSync(join(folder, 'bad', 'submission.json'), damagedText(lied(bad, lie), cut, how));
        writeFileSync(join(folder, 'bad', 'journal.jsonl'), lines.map(([line, twist]) => `${lied(line, twist)}\n`).join(''));
        writeFileSync(join(folder, 'bad', 'parts', '1.txt'), part);
        const { statuses, damaged } = await at.overview();
        expect(statuses.map(({ id }) => id)).toContain(file.id);
        expect([...statuses, ...damaged].map(({ id }) => id).sort()).toEqual([file.id, 'bad'].sort());
        for (const { reason } of damaged) expect(reason.length).toBeGreaterThan(10);
        const found = (await at.submissions()).find(({ id }) => id === 'bad');
        const texts = found ? [found.file.title, ...found.file.tasks.map(({ name }) => name)] : [];
        expect(texts.filter((text) => !PLAIN.test(text))).toEqual([]);
        const refusal = found && (await at.cancel(found, null).catch((error: unknown) => error));
        expect(refusal === undefined || Array.isArray(refusal) || refusal instanceof DamagedSubmission).toBe(true);
        expect(existsSync(join(folder, 'bad', 'lock'))).toBe(false);
      },
    ),
    drawn,
  );
  expect(asked.filter((word) => !/^(astrolab-[a-z0-9-]+-\d+|\d+)$/.test(word))).toEqual([]);
  expect(readFileSync(canary, 'utf8')).toBe('canary');
  expect(readdirSync(parent).sort()).toEqual(['canary.txt', 'submissions']);
});

// A study as a user meets it, with real training in small: tuned, killed in the middle, run again, reported, exported, imported
// twice. Nothing is trained twice, and the report says what the database says.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder } from '../../main/base/paths.ts';
import { Store } from '../../main/store/store.ts';
import { readRecord } from '../../main/study/record.ts';
import { temporaryFolder } from '../store/helpers.ts';

const CLI = join(projectFolder(), 'main', 'commands', 'cli.ts');
const ENVIRONMENT = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };

function lab(data: string, ...args: string[]): unknown {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, '--data', data, '--json', ...args], {
    encoding: 'utf8',
    env: ENVIRONMENT,
  });
  if (status !== 0) throw new Error(`lab ${args.join(' ')}: exit code ${status}\n${stderr}`);
  return JSON.parse(stdout);
}

const SMALL = { 'evaluation.tasks': 8, 'evaluation.finalTasks': 30, 'training.batch': 8, 'reference.steps': 60 };
const DEFINITION = {
  title: 'A tiny study',
  question: 'Does everything work from the first run to the verdicts?',
  base: { preset: 'shop-tiny', set: { threads: 1, ...SMALL }, parts: { 'evaluation.every': 0.5, 'checkpoints.every': 0.25 } },
  updates: 4,
  seeds: [1, 2, 3],
  tuning: { trials: 2, seed: 101, tasks: 8 },
  arms: [
    { id: 'astar-po', title: 'A*PO', tune: true, set: { algorithm: 'astar-po' } },
    { id: 'astar-po-max', title: 'A*PO, V* as maximum', like: 'astar-po', set: { 'vstar.estimator': 'max' } },
  ],
  claims: [
    {
      id: 'heuristic',
      claim: 'Four updates of a tiny policy do not reach the heuristic.',
      source: 'common sense',
      experiment: 'A*PO against the heuristic.',
      tests: [{ a: 'astar-po', b: 'heuristic', expect: 'lower' }],
      discussion: 'Nobody is surprised.',
    },
    {
      id: 'same',
      claim: 'The estimator matters after four updates.',
      source: 'nobody',
      experiment: 'Two estimators.',
      tests: [{ a: 'astar-po', b: 'astar-po-max', expect: 'higher' }],
    },
  ],
};

it('is killed, resumed, reported, exported and imported twice', { timeout: 900_000 }, async () => {
  const data = temporaryFolder();
  const definition = join(data, 'tiny.json');
  writeFileSync(definition, JSON.stringify(DEFINITION));
  const run = ['study', 'run', 'tiny', '--definition', definition, '--jobs', '2'];

  // Killed as soon as the first trial is done.
  const child = spawn(process.execPath, [CLI, '--data', data, ...run], { env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise((resolve) => child.on('close', resolve));
  child.stderr.on('data', (text) => {
    if (String(text).includes('1 of 2 runs')) child.kill('SIGKILL');
  });
  await gone;
  const before = Store.read(data);
  const finished = before.runs.list({ states: ['done'] }).map(({ uid, finishedAt }) => [uid, finishedAt]);
  before.close();
  expect(finished.length).toBeGreaterThanOrEqual(1);
  // A look at what there is trains nothing.
  expect(lab(data, ...run, '--finished')).toMatchObject({
    runs: [],
    done: true,
    claims: [{ verdict: 'inconclusive' }, { verdict: 'inconclusive' }],
  });

  expect(lab(data, ...run)).toMatchObject({ study: 'tiny', done: true, claims: [{ verdict: 'supported' }, { verdict: 'inconclusive' }] });
  const store = Store.read(data);
  const all = store.runs.list();
  expect(all.map(({ state }) => state)).toEqual(Array.from({ length: 8 }, () => 'done'));
  for (const [uid, finishedAt] of finished) expect(store.runs.findByUid(String(uid))?.finishedAt).toBe(finishedAt);
  const record = readRecord(store.studies.find('tiny')?.plan);
  expect(record?.arms.map(({ id, runs }) => [id, runs.length])).toEqual([
    ['astar-po', 3],
    ['astar-po-max', 3],
  ]);
  expect(record?.tuning[0]?.trials).toHaveLength(2);
  store.close();

  // Again: nothing is left to do, and the claims come out the same.
  expect(lab(data, ...run)).toMatchObject({ claims: [{ verdict: 'supported' }, { verdict: 'inconclusive' }] });
  const page = join(data, 'out', 'STUDY.md');
  lab(data, 'study', 'report', 'tiny', '--definition', definition, '--out', page);
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('### 1. Four updates of a tiny policy do not reach the heuristic.');
  expect(text).toContain('**Verdict: holds.**');
  expect(text).toContain('Nobody is surprised.');
  for (const [, file] of text.matchAll(/\]\((study\/[\w-]+\.svg)\)/g)) expect(existsSync(join(data, 'out', String(file)))).toBe(true);

  const file = join(data, 'tiny.astrolab');
  expect(lab(data, 'study', 'export', 'tiny', '--thin', '20', '--out', file)).toMatchObject({ runs: 6 });
  const other = temporaryFolder();
  expect(lab(other, 'import', file)).toMatchObject({ study: 'tiny', runs: Array.from({ length: 6 }, () => ({ added: true })) });
  expect(lab(other, 'import', file)).toMatchObject({ study: 'tiny', runs: Array.from({ length: 6 }, () => ({ added: false })) });
  const imported = Store.read(other);
  const copy = readRecord(imported.studies.find('tiny')?.plan);
  expect(copy?.claims.map(({ verdict }) => verdict)).toEqual(['supported', 'inconclusive']);
  for (const { uid } of copy?.arms.flatMap(({ runs }) => runs) ?? []) {
    const here = imported.runs.findByUid(uid);
    const episodes = [...imported.episodes.each(here?.id ?? 0)];
    const shown = imported.evaluations.finalOrLatest(here?.id ?? 0);
    const results = imported.evaluations.results(shown?.id ?? 0);
    expect(episodes.length).toBeGreaterThanOrEqual(20);
    expect(results).toHaveLength(30);
    for (const failure of new Set(results.flatMap((result) => result.failure ?? []))) {
      expect(episodes.some((episode) => episode.failure === failure)).toBe(true);
    }
  }
  imported.close();
  // The report of the copy is the same page, without a definition at hand.
  lab(other, 'study', 'report', 'tiny', '--out', join(other, 'STUDY.md'));
  expect(readFileSync(join(other, 'STUDY.md'), 'utf8')).toBe(text);
});

it('tunes two variants with two trials each and writes configs that can be trained', { timeout: 600_000 }, () => {
  const data = temporaryFolder();
  const settings = Object.entries(SMALL).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const tune = [
    'tune',
    '--preset',
    'shop-tiny',
    '--variants',
    'astar-po,grpo',
    '--trials',
    '2',
    '--updates',
    '2',
    '--tasks',
    '10',
    '--jobs',
    '2',
  ];
  const out = join(data, 'tuned');
  const answer = lab(data, ...tune, ...settings, '--out', out);
  expect(answer).toMatchObject({
    trials: 2,
    variants: [{ subject: 'astar-po', trials: [{ success: { n: 10 } }, { success: { n: 10 } }] }, { subject: 'grpo' }],
  });
  expect(lab(data, 'runs', '--tag', 'tune')).toHaveLength(4);
  expect(lab(data, ...tune, ...settings, '--out', out)).toEqual(answer);
  expect(Object.keys(JSON.parse(readFileSync(join(out, 'tuned.json'), 'utf8')))).toEqual(['astar-po', 'grpo']);
  expect(lab(data, 'train', '--config', join(out, 'grpo.json'))).toMatchObject({ state: 'done', updates: 2 });
});

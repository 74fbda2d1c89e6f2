// The files of a report, read back: every number in them is one of the database, and many runs are summarised by arm.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { meanLine } from '../../main/report/report-groups.ts';
import { reportFiles } from '../../main/report/study-report.ts';
import { comparedArms, comparedPairs, openComparison } from '../../main/report/side-by-side.ts';
import { Store } from '../../main/store/store.ts';
import { seed } from '../e2e/seeded.ts';

const TASKS = 6;
const RUNS = [1, 2, 3, 4];
let data: string;
let store: Store;
const text = (name: string): string => {
  const file = reportFiles(store, RUNS, 'trial').find((one) => one.name === name);
  return [...(file?.text ?? [])].join('');
};
const cells = (name: string): Record<string, string>[] => {
  const [header = '', ...rows] = text(name).trim().split('\r\n');
  const names = header.split(',');
  return rows.map((row) => Object.fromEntries(row.split(',').map((cell, column) => [names[column] ?? '', cell])));
};

beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'astrolab-report-'));
  const agents = [1, 2].flatMap((number) => [
    { variant: 'grpo', seed: number, agent: 'oracle' as const },
    { variant: 'reinforce', seed: number, agent: 'blind' as const },
  ]);
  seed(data, agents, TASKS);
  store = Store.open(data);
  const study = store.studies.create('trial', RUNS);
  const claims = [{ claim: 'Reading helps.', source: 'a note', verdict: 'supported' }];
  store.studies.change(study.id, { plan: { claims } });
}, 60_000);
afterAll(() => {
  store.close();
  rmSync(data, { recursive: true, force: true });
});

test('the tables for a spreadsheet hold plain numbers: success, intervals and pairs of the database', () => {
  const { runs } = openComparison(store, RUNS);
  const { paired } = comparedPairs(
    store,
    RUNS.flatMap((a, index) => RUNS.slice(index + 1).map((b): [number, number] => [a, b])),
  );
  expect(cells('results.csv').map(({ run, k, n, success }) => [run, k, n, success].map(Number))).toEqual(
    runs.map(({ run, success }) => [run, success?.k, success?.n, success?.rate]),
  );
  expect(cells('paired.csv').map(({ a, b, onlyA, onlyB, difference, p }) => [a, b, onlyA, onlyB, difference, p].map(Number))).toEqual(
    paired.map(({ a, b, onlyA, onlyB, difference, p }) => [a, b, onlyA, onlyB, difference, p]),
  );
});

test('arms, baseline and their order are those on screen', () => {
  const groups = [
    { key: 'blind', runs: [2, 4], look: { colour: 3, dash: [] } },
    { key: 'reading', runs: [1, 3], look: { colour: 5, dash: [7, 3] } },
  ];
  const files = reportFiles(store, RUNS, 'trial', { view: { groups, baseline: 'reading' }, formats: ['markdown', 'csv', 'latex'] });
  const of = (name: string): string => [...(files.find((one) => one.name === name)?.text ?? [])].join('');
  const [pair] = comparedArms(store, groups, 'reading').pairs;
  expect(of('report.md')).toContain(pair?.words.replaceAll('*', '\\*') ?? 'nothing');
  expect(of('report.md')).toContain('| arm | seeds | success | 95% interval | vs. reading, points |');
  const [, row = ''] = of('arms.csv').trim().split('\r\n');
  expect(row.split(',').slice(0, 2)).toEqual(['blind', '2']);
  expect(row).toContain(`reading,${pair?.difference},`);
  expect(of('results.tex')).toContain('vs. reading, points');
});

test('Markdown, HTML and slides show the arms, the verdicts, the failures and how to make it all again', () => {
  const { runs } = openComparison(store, RUNS);
  const rate = (ids: number[]): string => {
    const own = runs.filter(({ run }) => ids.includes(run)).map(({ success }) => success?.rate ?? 0);
    return `${((100 * own.reduce((sum, one) => sum + one, 0)) / own.length).toFixed(1)}%`;
  };
  for (const name of ['report.md', 'report.html']) {
    const page = text(name);
    for (const part of [rate([1, 3]), rate([2, 4]), 'Reading helps.', 'supported', 'wrong-purchase', 'npm run lab -- compare 1 2 3 4'])
      expect(page, `${name}: ${part}`).toContain(part);
  }
  const slides = text('slides.html').split('<section>').slice(1);
  expect(slides).toHaveLength(4);
  // The verdict and the curve come first.
  expect(slides[0]).toContain('1 claim: 1 supported, 0 refuted, 0 equivalent, 0 inconclusive');
  expect(slides[0]).toContain('<polyline');
  expect(text('results.tex')).toContain(`${runs[0]?.success?.k} of ${TASKS}`);
});

test('the audit log has one line for every stored episode', () => {
  const lines = text('audit.jsonl').trim().split('\n');
  expect(lines).toHaveLength(RUNS.reduce((sum, run) => sum + store.episodes.count(run), 0));
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ run: 1, purpose: 'evaluation' });
});

test('the line of an arm is the mean of its seeds with their range, where all have a point', () => {
  const point = (x: number, y: number) => ({ x, y, low: 0, high: 1 });
  const line = meanLine('arm', [
    { label: 'a', points: [point(0, 0.2), point(5, 0.5)] },
    { label: 'b', points: [point(0, 0.4)] },
  ]);
  expect(line.points.map(({ x, y, low, high }) => [x, Number(y.toFixed(12)), low, high])).toEqual([[0, 0.3, 0.2, 0.4]]);
});

// A study's findings and its page from made-up runs whose numbers are known: nothing is trained here.

import { expect, test } from 'vitest';
import { parseDefinition } from '../../main/study/definition.ts';
import { armRecord } from '../../main/study/findings.ts';
import { changesSince, freeze } from '../../main/study/freeze.ts';
import { studyPage } from '../../main/study/page.ts';
import { readRecord, StudyRecord } from '../../main/study/record.ts';
import { judged, keep } from '../../main/study/run-study.ts';
import type { Store } from '../../main/store/store.ts';
import { openStore } from '../store/helpers.ts';
import { newRun } from '../store/samples.ts';
import { parseConfig } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const DEFINITION = parseDefinition(
  BUILT_IN,
  {
    title: 'Made up',
    question: 'Is A* better than B, as the numbers below were made to say?',
    base: { preset: 'shop-tiny' },
    updates: 10,
    seeds: [1, 2, 3],
    tuning: { trials: 1, seed: 9, tasks: 1 },
    arms: [
      { id: 'a', title: 'Arm A*' },
      { id: 'b', title: 'Arm B' },
    ],
    claims: [
      {
        id: 'better',
        claim: 'A* solves more.',
        source: 'a test',
        experiment: 'A* and B on the same tasks.',
        tests: [{ a: 'a', b: 'b', expect: 'higher' }],
      },
      {
        id: 'loops',
        claim: 'A* loops more.',
        source: 'a test',
        experiment: 'A* and B on the same tasks.',
        tests: [{ a: 'a', b: 'b', measure: 'search-loop', expect: 'higher' }],
      },
      {
        id: 'unknown',
        claim: 'A* beats the rules.',
        source: 'a test',
        experiment: 'A* and the heuristic.',
        tests: [{ a: 'a', b: 'heuristic', expect: 'higher' }],
      },
    ],
  },
  'made-up',
);

/** A finished run that solves the first so many of 100 test tasks and loops in the others. */
function finished(store: Store, seed: number, solved: number) {
  const run = store.runs.create(newRun({ seed, config: parseConfig({ seed, name: `${solved}` }) }));
  store.runs.change(run.id, { state: 'done', updates: 10, seconds: 30 });
  store.metrics.append(run.id, 10, { optimizerSteps: 10 });
  const results = Array.from({ length: 100 }, (_, task) => ({
    task: `t${task}`,
    category: 'shoes',
    tier: 'plain',
    seed: 5,
    success: task < solved,
    return: task < solved ? 1 : 0,
    steps: task < solved ? 2 : 15,
    failure: task < solved ? null : 'search-loop',
  }));
  const about = { world: 'shop', worldHash: 'w', temperature: 1, seconds: 1, agent: 'policy' } as const;
  store.evaluations.add(run.id, { ...about, update: 5, kind: 'periodic', split: 'validation', results: results.slice(0, 50) }, []);
  store.evaluations.add(run.id, { ...about, update: 10, kind: 'final', split: 'test', results }, []);
  return store.runs.get(run.id);
}

function study(store: Store): StudyRecord {
  const arms = [
    armRecord(
      store,
      'a',
      'Arm A*',
      [80, 82, 84].map((solved, index) => finished(store, index + 1, solved)),
    ),
    armRecord(
      store,
      'b',
      'Arm B',
      [60, 62, 58].map((solved, index) => finished(store, index + 1, solved)),
    ),
  ];
  const { title, question, updates, seeds } = DEFINITION;
  const base = {
    astrolab: 'study',
    definition: 'made-up',
    title,
    question,
    discussion: '',
    updates,
    seeds,
    set: [],
    tuned: {},
    tuning: [],
  };
  return StudyRecord.parse({ ...base, arms, baselines: null, claims: [] });
}

test('arms and claims come out as the results say', () => {
  const store = openStore();
  const record = judged(store, study(store), DEFINITION);
  expect(record.arms[0]?.mean?.value).toBeCloseTo(0.82, 12);
  expect(record.arms[1]?.runs.map(({ success }) => success)).toEqual([0.6, 0.62, 0.58]);
  expect(record.claims.map(({ verdict }) => verdict)).toEqual(['supported', 'refuted', 'inconclusive']);
  expect(record.claims[0]?.tests[0]?.paired?.value).toBeCloseTo(0.22, 12);
  expect(record.claims[0]?.tests[0]?.words).toContain('82.0% against 60.0%, difference +22.0 points');
  expect(record.claims[1]?.tests[0]?.paired?.value).toBeCloseTo(-0.22, 12);
  expect(record.claims[2]?.tests[0]).toMatchObject({ paired: null, words: expect.stringContaining('no finished runs') });
});

test('a study is kept with its runs and its verdicts, again and again under one name', () => {
  const store = openStore();
  const record = keep(store, 'mine', judged(store, study(store), DEFINITION));
  keep(store, 'mine', record);
  expect(store.studies.list()).toHaveLength(1);
  expect(store.studies.find('mine')?.runs).toEqual([1, 2, 3, 4, 5, 6]);
  expect(readRecord(store.studies.find('mine')?.plan)).toEqual(record);
  const plain = store.studies.create('a selection', [1, 2]);
  expect(readRecord(plain.plan)).toBeUndefined();
});

test('the page has every arm, every claim with its verdict, and a figure for each that has runs', () => {
  const store = openStore();
  const files = studyPage(store, judged(store, study(store), DEFINITION), 'STUDY.md', 'study');
  const page = [...(files[0]?.text ?? [])].join('');
  expect(files.map(({ name }) => name)).toEqual([
    'STUDY.md',
    'study/learning.svg',
    'study/better.svg',
    'study/loops.svg',
    'study/unknown.svg',
  ]);
  expect(page).toContain('| 1. A\\* solves more. | **supported** | inconclusive |');
  expect(page).toContain('| Arm A\\* | 82.0 (80.0–84.0) | 82.0 (80.0–84.0) | 80.0, 82.0, 84.0 | 4.34 | search-loop 18.0 | 30 |');
  expect(page).toContain('| Arm A\\* | 0 | 10 | 0 | 0 |');
  expect(page).toContain('made before definitions were frozen');
  expect(page).toContain('sampled at temperature 1');
  expect(page).toContain('**Verdict: refuted; corrected for the number of tests: inconclusive.**');
  // Every star that is not Markdown's is escaped, so that V* and A* stay what they are.
  expect(
    page
      .replaceAll('\\*', '')
      .replaceAll('**', '')
      .replaceAll(/\*(Source|Experiment):\*/g, ''),
  ).not.toContain('*');
  expect(() => studyPage(store, { ...study(store), arms: [] }, 'STUDY.md', 'study')).toThrow(/no finished runs/);
});

test('a definition is frozen with hash and date, later changes are listed by name, and the discussion may be written afterwards', () => {
  const frozen = freeze(DEFINITION, new Date('2026-11-16T20:00:00Z'));
  expect(frozen).toMatchObject({ date: '2026-11-16T20:00:00.000Z', hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(changesSince(frozen, { ...DEFINITION, discussion: 'Now we know.' })).toEqual([]);
  const claims = DEFINITION.claims.map((claim) => ({ ...claim, tests: claim.tests.map((one) => ({ ...one, expect: 'lower' as const })) }));
  expect(changesSince(frozen, { ...DEFINITION, seeds: [1, 2], claims: claims.slice(0, 1) })).toEqual(
    expect.arrayContaining([
      { key: 'seeds', before: [1, 2, 3], after: [1, 2] },
      { key: 'claims.better.tests.0.expect', before: 'higher', after: 'lower' },
      { key: 'claims.loops.claim', before: 'A* loops more.', after: undefined },
    ]),
  );
});

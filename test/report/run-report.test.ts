import { expect, test } from 'vitest';
import { evaluationSeed } from '../../main/evaluation/evaluate.ts';
import { EVALUATION_EXPORTS } from '../../main/report/exports.ts';
import { markdownReport } from '../../main/report/report.ts';
import { reportOfRun } from '../../main/report/run-report.ts';
import { Random } from '../../main/base/random.ts';
import { openStore } from '../store/helpers.ts';
import { newRun, someEvaluation, someTrajectory } from '../store/samples.ts';
import { findWorld } from '../catalog.ts';

test('the report of a run has its evaluation beside the baselines, its development, its time and its failures', () => {
  const store = openStore();
  const run = store.runs.create(newRun({ name: 'my run' }));
  expect(() => reportOfRun(store, run)).toThrow(/not been evaluated yet/);
  const tasks = findWorld('shop').create({}).tasks('test').slice(0, 8);
  const random = Random.from('report-test');
  const episodes = tasks.map((task, i) =>
    someTrajectory(random, {
      task: task.id,
      category: task.category,
      tier: task.tier,
      purpose: 'evaluation',
      seed: evaluationSeed(task, 1),
      success: i < 6,
      failure: i < 6 ? null : 'wrong-purchase',
    }),
  );
  const stored = store.trajectories.add(run.id, 5, episodes);
  const results = episodes.map(({ task, category, tier, seed, success, return: sum, steps, failure }) => ({
    task,
    category,
    tier,
    seed,
    success,
    failure,
    return: sum,
    steps: steps.length,
  }));
  store.evaluations.add(run.id, { ...someEvaluation(1, 5), kind: 'final', results }, stored);
  store.metrics.append(run.id, 5, { 'system/time.rollout': 3, 'system/time.update': 1, loss: 2 });
  const report = reportOfRun(store, store.runs.get(run.id));
  expect(report.agents.map(({ name, table }) => [name, table.success.k, table.success.n])).toEqual([
    [`run ${run.id} (my run)`, 6, 8],
    ['random', expect.any(Number), 8],
    ['blind', expect.any(Number), 8],
    ['heuristic', expect.any(Number), 8],
    ['oracle', 8, 8],
  ]);
  expect(report.examples).toHaveLength(2);
  expect(report.sections[1]!.rows).toEqual([
    ['rollout', '3.0', '75.0%'],
    ['update', '1.0', '25.0%'],
  ]);
  const text = markdownReport(report);
  expect(text).toContain('# my run: run');
  expect(text).toContain('| 5 | test | 75.0% | 40.9%–92.9% |');
  expect(text).toContain('2 of 8 episodes failed.');
  expect(text).toContain('Decided with “buy” after 3 steps');

  const exported = (format: string) => EVALUATION_EXPORTS[format]!.make(store, [store.runs.get(run.id)]);
  expect(exported('report')).toBe(text);
  expect(exported('results-csv').trim().split('\r\n')).toHaveLength(9);
  expect(
    exported('results-jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).success),
  ).toEqual([...new Array(6).fill(true), false, false]);
  expect(exported('summary-csv')).toContain(`${run.id},my run,shop,astar-po,1,`);
  expect(exported('summary-md')).toContain(`| my run (run ${run.id}) | 75.0% | 40.9%–92.9% | 8 |`);
  expect(exported('summary-tex')).toContain(`my run (run ${run.id}) & 75.0\\% & 40.9\\%--92.9\\% & 8 &`);
});

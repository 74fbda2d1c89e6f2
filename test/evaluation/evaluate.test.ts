import { expect, test } from 'vitest';
import { createAgent } from '../../main/environment/agents.ts';
import { PURCHASE_FAILURES } from '../../main/environment/purchases.ts';
import type { Facts } from '../../main/environment/environment.ts';
import { compare, type Contender } from '../../main/evaluation/compare.ts';
import { evaluationMetrics, evaluationSeed, playAgent, tabulate } from '../../main/evaluation/evaluate.ts';
import { diagnose, failureMeaning, failureNames } from '../../main/evaluation/failures.ts';
import { comparisonText, csv, evaluationText, markdownReport, resultsCsv, resultsJsonl, textTable } from '../../main/report/report.ts';
import type { EvaluationResult } from '../../main/evaluation/evaluation-report.ts';
import { findWorld, glossary } from '../catalog.ts';
import { BUILT_IN } from '../../main/config/catalog.ts';

const step = (action: string, facts: Facts, valid = true) => ({ action, facts, valid });
const usual = { reachable: true };
const shop = { maxSteps: 15, diagnostics: { failures: PURCHASE_FAILURES } };

function results(outcomes: readonly boolean[], category = 'shoes'): EvaluationResult[] {
  return outcomes.map((success, i) => ({
    task: `${category}-${i}`,
    category,
    tier: i % 2 === 0 ? 'plain' : 'paraphrased',
    seed: i,
    success,
    return: success ? 1 : 0,
    steps: success ? 2 : 5,
    failure: success ? null : 'wrong-purchase',
  }));
}

test('failures are classified with their evidence', () => {
  const search = (text: string, repeated: boolean) => step(`search ${text}`, { kind: 'search', repeated, targetShown: false });
  const loop = Array.from({ length: 15 }, (_, i) => search(i % 2 ? 'red shoes' : 'shoes red', i > 0));
  expect(diagnose(shop, { success: false, steps: loop }, usual)).toEqual({
    failure: 'search-loop',
    evidence: 'Searched 15 times, 14 steps repeated an earlier one (“search shoes red” 8 times), and nothing was bought.',
  });
  const bought = [search('lamp', false), step('buy 7', { kind: 'buy', bought: 7, right: false, targetShown: true })];
  expect(diagnose(shop, { success: false, steps: bought }, usual)).toEqual({
    failure: 'wrong-purchase',
    evidence: 'Decided with “buy 7” after 2 steps, although the right one had been shown.',
  });
  expect(diagnose(shop, { success: false, steps: bought }, { ...usual, reachable: false })?.failure).toBe('unreachable');
  const wandering = Array.from({ length: 15 }, (_, i) => search(`word${i}`, false));
  expect(diagnose(shop, { success: false, steps: wandering }, usual)).toEqual({
    failure: 'timeout',
    evidence: 'Used all 15 steps. The target was never shown.',
  });
  const invalid = [step('hello', { kind: 'invalid' }, false), search('a', false)];
  expect(diagnose(shop, { success: false, steps: invalid }, usual)?.failure).toBe('invalid-actions');
  expect(diagnose(shop, { success: true, steps: bought }, usual)).toBeNull();
  expect(diagnose(shop, { success: false, steps: [] }, usual)?.failure).toBe('timeout');
});

test('a world brings its classes; one without them gets the usual ones, and stored names of any age can be read', () => {
  const maths = findWorld('maths');
  const environment = maths.create({ tasksPerLevel: 20 });
  const [task] = environment.tasks('test');
  if (!task) throw new Error('There are no test tasks');
  const { result } = playAgent(environment, { name: 'wrong', act: () => '1' }, task, 1);
  expect(result.failure).toBe('wrong-answer');
  expect(failureNames(environment)).toEqual(['unreachable', 'invalid-actions', 'wrong-answer', 'timeout']);
  const plain = { maxSteps: 5 };
  expect(diagnose(plain, { success: false, steps: [step('jump', {})] }, usual)).toEqual({
    failure: 'failed-end',
    evidence: 'Ended with “jump” after 1 step.',
  });
  expect(diagnose(plain, { success: false, steps: Array.from({ length: 5 }, () => step('wait', {})) }, usual)?.failure).toBe('loop');
  expect(failureMeaning(BUILT_IN, 'wrong-purchase')).toContain('buys');
  expect(failureMeaning(BUILT_IN, 'of-a-world-that-is-gone')).toBe('of-a-world-that-is-gone');
});

test('a table counts success per category and tier, and every failure class', () => {
  const table = tabulate([...results([true, true, false, true]), ...results([false, false], 'books')], failureNames(shop));
  expect(table.success).toMatchObject({ k: 3, n: 6, rate: 0.5 });
  expect(table.categories.shoes).toMatchObject({ k: 3, n: 4 });
  expect(table.categories.books).toMatchObject({ k: 0, n: 2 });
  expect(table.tiers.plain).toMatchObject({ k: 1, n: 3 });
  expect(table.steps).toBeCloseTo((3 * 2 + 3 * 5) / 6, 12);
  expect(table.failures['wrong-purchase']).toEqual({ count: 3, share: 0.5 });
  expect(table.failures.timeout).toEqual({ count: 0, share: 0 });
  for (const id of Object.keys(evaluationMetrics(table))) expect(glossary.has(id), id).toBe(true);
  expect(tabulate([]).success.n).toBe(0);
});

test('the shop’s baselines stand apart: random near 0, oracle at 100%, and repeat exactly', () => {
  const world = findWorld('shop');
  const environment = world.create({});
  const tasks = environment.tasks('test').slice(0, 60);
  const rate = (name: 'random' | 'oracle') =>
    tabulate(tasks.map((task) => playAgent(environment, createAgent(world, name), task, evaluationSeed(task, 1)).result));
  expect(rate('oracle').success.rate).toBe(1);
  expect(rate('random').success.rate).toBeLessThan(0.1);
  expect(rate('random')).toEqual(rate('random'));
  const limited = world.create({ maxReachableId: 1 });
  const failed = playAgent(
    limited,
    createAgent(world, 'oracle'),
    tasks.find((task) => task.target !== '1')!,
    1,
  );
  expect(failed.result.failure).toBe('unreachable');
});

/** Every task a cluster of its own. */
const alone = (played: ReturnType<typeof results>) => played.map((result) => ({ ...result, cluster: result.task }));

function contender(run: number, outcomes: readonly boolean[], changes: Partial<Contender> = {}): Contender {
  return {
    run,
    name: `run-${run}`,
    variant: 'astar-po',
    seed: run,
    group: 'g',
    updates: 10,
    config: { name: `run-${run}`, seed: run, algorithm: { id: 'astar-po', beta2: 0.03 } },
    ends: { loss: [10, 0.5] },
    results: alone(results(outcomes)),
    place: 'shop test',
    worldHash: 'w',
    evaluated: { split: 'test', temperature: 0 },
    ...changes,
  };
}

test('two runs are compared task by task, in numbers and in words', () => {
  const better = contender(1, new Array<boolean>(40).fill(true));
  const worse = contender(
    2,
    Array.from({ length: 40 }, (_, i) => i >= 12),
    {
      group: 'h',
      config: { name: 'x', seed: 2, algorithm: { id: 'astar-po', beta2: 0.1 } },
    },
  );
  const comparison = compare([better, worse]);
  expect(comparison.paired).toHaveLength(1);
  expect(comparison.paired[0]).toMatchObject({ a: 1, b: 2, n: 40, difference: 0.3, onlyA: 12, onlyB: 0 });
  expect(comparison.paired[0]!.p).toBeCloseTo(2 / 4096, 12);
  expect(comparison.paired[0]!.improvement).toBeCloseTo(0.65, 12);
  expect(comparison.paired[0]!.returns.value).toBeCloseTo(0.3, 12);
  expect(comparison.paired[0]!.returns.low).toBeGreaterThan(0.1);
  expect(comparison.diff.map(({ key }) => key)).toEqual(['algorithm.beta2', 'seed']);
  expect(comparison.words.join(' ')).toContain('Run 1 (run-1) solves 30.0 points more of 40 shared tasks than run 2');
  expect(comparisonText(comparison)).toContain('algorithm.beta2');
});

test('runs on other tasks or worlds are not paired, and that is said', () => {
  const comparison = compare([contender(1, [true]), contender(2, [true], { place: 'maths test' }), contender(3, [], { place: '' })]);
  expect(comparison.paired).toEqual([]);
  expect(comparison.words.at(-1)).toMatch(/no task in common/);
  expect(comparison.runs[2]!.success).toBeNull();
});

test('runs that cannot be compared are named with what differs, and a pair says on how many tasks it rests', () => {
  const world = (reward: string, price: number) => ({ training: { reward }, world: { name: 'shop', settings: { price } } });
  const many = contender(1, new Array<boolean>(30).fill(true), { config: world('binary', 1) });
  const few = contender(
    2,
    Array.from({ length: 20 }, (_, i) => i < 2),
    { evaluated: { split: 'test', temperature: 1 }, config: world('return', 2), group: 'h' },
  );
  const { mismatches, paired, words } = compare([many, few]);
  expect(mismatches.map(({ what }) => what)).toEqual([
    'evaluation temperature',
    'number of tasks',
    'training reward',
    'world setting price',
  ]);
  expect(mismatches[0]?.words).toBe('evaluation temperature: 0 (run 1); 1 (run 2)');
  expect(paired[0]).toMatchObject({ n: 20, ofA: 30, ofB: 20, difference: 0.9 });
  expect(words.join(' ')).toContain('90.0 points more of the 20 tasks that both played (of 30 and 20)');
  expect(comparisonText(compare([many, few]))).toMatch(/^Not directly comparable\. evaluation temperature: 0 \(run 1\)/);
  const others = contender(3, [], { results: alone(results([true, true], 'lamps')) });
  expect(compare([contender(4, [true, true]), others]).mismatches.map(({ words: said }) => said)).toEqual([
    'task set: 0 tasks were played by all of them',
  ]);
  expect(compare([many, contender(5, new Array<boolean>(30).fill(false), { config: world('binary', 1) })]).mismatches).toEqual([]);
});

test('seeds of one config form a group with mean and inter-quartile mean', () => {
  const seeds = [1, 2, 3, 4].map((run) =>
    contender(
      run,
      Array.from({ length: 10 }, (_, i) => i >= run),
    ),
  );
  const { groups } = compare(seeds);
  expect(groups).toHaveLength(1);
  expect(groups[0]!.success.mean.value).toBeCloseTo(0.75, 12);
  expect(groups[0]!.success.iqm.value).toBeCloseTo(0.75, 12);
  expect(groups[0]!.success.mean.low).toBeGreaterThanOrEqual(0.6);
  const others = [5, 6].map((run) => contender(run, new Array<boolean>(10).fill(true), { group: 'h', variant: 'grpo' }));
  const { groupPairs } = compare([...seeds, ...others]);
  expect(groupPairs.map(({ improvement }) => improvement.value)).toEqual([0]);
  expect(groupPairs[0]!.words).toContain('10 tasks × 2 seeds (different seeds, paired in order)');
  expect(compare([seeds[0]!, others[0]!]).groupPairs).toEqual([]);
});

test('reports hold the summary, the failure analysis and the commands', () => {
  const table = tabulate(results([true, false, true]));
  const text = markdownReport({
    title: 'Run 7',
    about: { variant: 'astar-po', seed: 1 },
    agents: [
      { name: 'run 7', table },
      { name: 'random', table: tabulate(results([false])) },
    ],
    sections: [{ title: 'Time', header: ['part', 's'], rows: [['update', '3']] }],
    examples: [
      {
        task: 'shoes-1',
        failure: 'wrong-purchase',
        meaning: failureMeaning(BUILT_IN, 'wrong-purchase'),
        evidence: 'Decided with “buy 7”.',
      },
    ],
    commands: ['npm run lab -- eval 7'],
  });
  expect(text).toContain('| run 7 | 66.7% | 20.8%–93.9% | 3 | 0.667 | 3.00 |');
  expect(text).toContain('1 of 3 episodes failed.');
  expect(text).toContain('- shoes-1: Decided with “buy 7”.');
  expect(text).toContain('## Time\n\n| part | s |\n| --- | ---: |\n| update | 3 |');
  expect(text).toContain('npm run lab -- eval 7');
  expect(evaluationText({ name: 'x', table })).toContain('wrong-purchase');
});

test('tables line up, CSV is quoted where it must be, JSONL is one object a line', () => {
  expect(textTable(['a', 'bb'], [['long', '1']])).toBe('a     bb\n────  ──\nlong   1');
  expect(csv(['a', 'b'], [['x,"y"', null]])).toBe('a,b\r\n"x,""y""",\r\n');
  const rows = results([true, false]);
  expect(resultsCsv(rows).split('\r\n')[2]).toBe('shoes-1,shoes,paraphrased,1,false,0,5,wrong-purchase');
  expect(
    resultsJsonl(rows)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(rows);
});

// What holds in every episode, whatever is said in it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomSentence } from '../../../main/environment/agents.ts';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import type { Grammar, Imperfection, Turn } from '../../../main/environment/environment.ts';
import { RULES, follow } from '../../../main/environment/webshop/rules.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';
import { parseAction } from '../../../main/environment/webshop/moves.ts';
import type { WebShopState } from '../../../main/environment/webshop/site.ts';
import { webshopWorld } from '../../../main/environment/webshop/world.ts';
import { withoutMistakes } from '../without-mistakes.ts';
import { Random } from '../../../main/base/random.ts';

const shop = createWebShop({});
const TASKS = [...shop.tasks('test'), ...shop.tasks('train').slice(0, 500)];

const HOSTILE = [
  '',
  ' ',
  '\n',
  '\0',
  '\ud800',
  'search[',
  'search[]',
  'search[\0]',
  'click[__proto__]',
  'click[constructor]',
  'click[toString]',
  'search[__proto__ hasOwnProperty]',
  'search[<script>alert(1)</script>]',
  'search[日本語 обувь 👟 \u202e]',
  'click[1]',
  'click[buy now] ',
  'CLICK[BUY NOW]',
  'x'.repeat(1_000_000),
  '['.repeat(1_000_000),
  ']'.repeat(1_000_000),
  '[]'.repeat(500_000),
  `search[${'red '.repeat(250_000)}]`,
  `search[${'_'.repeat(1_000_000)}]`,
  `click[${'a'.repeat(1_000_000)}]`,
];

function someAction(turn: Turn<WebShopState>, random: Random): string {
  const sentence = randomSentence(shop.grammar(turn.state), random.next);
  switch (random.below(6)) {
    case 0:
      return random.pick(HOSTILE.slice(0, 17));
    case 1:
      return sentence.slice(0, random.below(sentence.length + 1)) + random.pick(['', ']', ' x', '[']);
    case 2:
      return `click[${random.pick(['buy now', '< prev', 'next >', 'features', 'search'])}]`;
    default:
      return sentence;
  }
}

/** Whether the grammar's two forms, with exactly these brackets, allow the action. */
function allowed(grammar: Grammar, action: string): boolean {
  return grammar.some((parts) => {
    const [head, argument, tail] = parts;
    if (head?.kind !== 'literal' || tail?.kind !== 'literal') return false;
    if (!action.startsWith(head.text) || !action.endsWith(tail.text) || action.length <= head.text.length + tail.text.length) return false;
    const text = action.slice(head.text.length, -tail.text.length);
    if (argument?.kind === 'choice') return argument.options.includes(text);
    return argument?.kind === 'words' && text.split(' ').length <= argument.max && text.split(' ').every((word) => word !== '');
  });
}

const episode = fc.record({ task: fc.nat(TASKS.length - 1), seed: fc.nat() });

describe('an episode', () => {
  test('ends in time, stays within its rewards, and continues identically when it was saved and restored', () => {
    fc.assert(
      fc.property(episode, ({ task, seed }) => {
        const random = Random.from('webshop-test', seed);
        let turn = shop.reset(TASKS[task] ?? expect.fail('no task'), seed);
        let steps = 0;
        while (!turn.done) {
          const action = someAction(turn, random);
          const saved = JSON.stringify(turn.state);
          const next = shop.step(turn.state, action);
          expect(JSON.stringify(turn.state)).toBe(saved);
          expect(shop.step(JSON.parse(saved), action)).toEqual(next);
          expect(structuredClone(next.state)).toEqual(next.state);
          expect(next.reward).toBeGreaterThanOrEqual(0);
          expect(next.reward).toBeLessThanOrEqual(1);
          expect(next.success).toBe(next.reward === 1);
          expect(next.reason).not.toBe('');
          expect(++steps).toBeLessThanOrEqual(shop.maxSteps);
          turn = next;
        }
        expect(shop.grammar(turn.state)).toEqual([]);
        expect(shop.step(turn.state, 'search[red]')).toMatchObject({ valid: false, done: true, reward: 0 });
      }),
      { numRuns: 60 },
    );
  });

  test('accepts every sentence of its grammar, and of its two forms nothing else', () => {
    fc.assert(
      fc.property(episode, ({ task, seed }) => {
        const random = Random.from('webshop-grammar', seed);
        let turn = shop.reset(TASKS[task] ?? expect.fail('no task'), seed);
        while (!turn.done) {
          const grammar = shop.grammar(turn.state);
          const sentence = randomSentence(grammar, random.next);
          expect(allowed(grammar, sentence)).toBe(true);
          const action = someAction(turn, random);
          const parsed = parseAction(action);
          const canonical = parsed !== undefined && `${parsed.name}[${parsed.argument}]` === action && !/ {2}|^search\[ | \]$/.test(action);
          if (canonical) expect(shop.step(turn.state, action).valid, action.slice(0, 80)).toBe(allowed(grammar, action));
          turn = shop.step(turn.state, sentence);
          expect(turn.valid, sentence).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('survives hostile actions on every page, quickly', () => {
    const start = shop.reset(TASKS[0] ?? expect.fail('no task'), 0);
    const results = shop.step(start.state, 'search[lamp]');
    const item = shop.step(results.state, `click[${results.clickables[2]}]`);
    for (const turn of [start, results, item, shop.step(item.state, 'click[features]')]) {
      for (const action of HOSTILE) {
        const begin = process.cpuUsage();
        const next = shop.step(turn.state, action);
        expect(next.state.steps).toBe(turn.state.steps + 1);
        expect(process.cpuUsage(begin).user / 1000, action.slice(0, 20)).toBeLessThan(3000);
      }
    }
  });

  test('ends after the set number of steps, even if nothing was said', () => {
    const short = createWebShop({ maxSteps: 3 });
    let turn = short.reset(TASKS[0] ?? expect.fail('no task'), 0);
    for (let i = 0; i < 3; i++) turn = short.step(turn.state, 'hello');
    expect(turn).toMatchObject({ done: true, valid: false, reward: 0, success: false, clickables: [] });
    expect(turn.reason).toBe('nothing happens; out of steps');
  });

  test('knows only the tasks of its catalog', () => {
    const [task] = shop.tasks('test');
    if (task === undefined) throw new Error('no task');
    expect(() => shop.reset({ ...task, id: 'goal-99999' }, 0)).toThrow('goal-0 to goal-3982');
    expect(() => shop.reset({ ...task, id: '__proto__' }, 0)).toThrow('There is no task');
  });
});

/** Successes among the first tasks of a split. */
function successes(world: WebShop, act: (turn: Turn<WebShopState>) => string, count: number): number {
  let reached = 0;
  for (const task of world.tasks('test').slice(0, count)) {
    let turn = world.reset(task, 0);
    while (!turn.done) turn = world.step(turn.state, act(turn));
    if (turn.success) reached++;
  }
  return reached;
}

describe('agents that need no learning', () => {
  test('each rule adds something, and the oracle always succeeds', () => {
    const reached = RULES.map((rule) => successes(shop, (turn) => follow(rule, shop, turn), 200));
    expect(reached[0]).toBeLessThan(10);
    expect(reached).toEqual(reached.toSorted((a, b) => a - b));
    expect(reached.at(-1)).toBeGreaterThan(160);
    expect(successes(shop, (turn) => shop.oracle(turn.state) ?? 'click[buy now]', 200)).toBe(200);
  });

  test('demonstrations stay within the grammar and get worse with every kind of mistake', () => {
    const rate = (imperfection: Imperfection): number => {
      let reached = 0;
      for (const demonstration of demonstrations(webshopWorld, shop, { count: 100, seed: 1, imperfection })) {
        let turn = shop.reset(demonstration.task, demonstration.seed);
        for (const { action, thought } of demonstration.turns) {
          expect(allowed(shop.grammar(turn.state), action), action).toBe(true);
          expect(thought).not.toBe('');
          turn = shop.step(turn.state, action);
        }
        expect(turn.done && turn.success === demonstration.success).toBe(true);
        if (demonstration.success) reached++;
      }
      return reached;
    };
    const none = withoutMistakes(webshopWorld);
    const best = rate(none);
    expect(best).toBeGreaterThan(70);
    expect(rate({ ...none, wrongWord: 1 })).toBeLessThan(best - 5);
    expect(rate({ ...none, earlyPurchase: 0.5 })).toBeLessThan(best - 15);
    expect(rate({ wrongWord: 0.4, earlyPurchase: 0.4, uselessClick: 0.1 })).toBeGreaterThan(20);
  });
});

test('the corpus holds every word that the pages can show', () => {
  const words = new Set<string>();
  for (const text of shop.lexicon.corpus()) for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) words.add(word);
  const random = Random.from('webshop-corpus');
  const missing = new Set<string>();
  for (const task of shop.tasks('train').slice(0, 50)) {
    let turn = shop.reset(task, 0);
    while (!turn.done) {
      for (const [word] of turn.observation.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu))
        if (!/\d/.test(word) && !words.has(word)) missing.add(word);
      turn = shop.step(turn.state, someAction(turn, random));
    }
  }
  expect([...missing]).toEqual([]);
});

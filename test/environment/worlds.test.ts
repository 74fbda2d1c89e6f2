// What holds of every world, whatever it is about: the built-in ones and the example that newcomers copy.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgent, randomSentence } from '../../main/environment/agents.ts';
import { demonstrations } from '../../main/environment/demonstrations.ts';
import type { Environment, Turn, World } from '../../main/environment/environment.ts';
import { admits, tidy } from '../../main/environment/grammar.ts';
import { banditWorld } from '../../main/environment/bandit/world.ts';
import { frozenLakeWorld } from '../../main/environment/frozenlake/world.ts';
import { mathsWorld } from '../../main/environment/maths/world.ts';
import { shopWorld } from '../../main/environment/shop/world.ts';
import { sokobanWorld } from '../../main/environment/sokoban/world.ts';
import { webshopWorld } from '../../main/environment/webshop/world.ts';
import { wordleWorld } from '../../main/environment/wordle/world.ts';
import { Random } from '../../main/base/random.ts';
import { withoutMistakes } from './without-mistakes.ts';
import { exampleWorld } from './example-world.ts';

/** `faithful` worlds read typed actions as their original does, and have separate tests for their words and demonstrations.
 * It gives the actions in plain form, among which step and grammar must agree exactly as everywhere else: WebShop also
 * accepts `search[red]!` and searches of any length, and takes `Search[red]` for nothing, which no grammar says. */
const WORLDS: readonly { world: World; settings: Record<string, unknown>; faithful?: (action: string) => boolean }[] = [
  { world: shopWorld, settings: {} },
  { world: shopWorld, settings: { reward: 'slides' } },
  { world: shopWorld, settings: { reward: 'walkthrough', maxSteps: 4 } },
  { world: shopWorld, settings: { reward: 'new_ragen' } },
  { world: shopWorld, settings: { reward: 'decaying' } },
  { world: shopWorld, settings: { maxReachableId: 100, searchTerms: 'eighteen' } },
  { world: shopWorld, settings: { reward: 'slides-steps', products: 60, ids: 'spread' } },
  { world: mathsWorld, settings: { tasksPerLevel: 200 } },
  { world: webshopWorld, settings: {}, faithful: inWebShopsForm },
  { world: webshopWorld, settings: { view: 'words' }, faithful: inWebShopsForm },
  { world: frozenLakeWorld, settings: { lakes: 200 } },
  { world: frozenLakeWorld, settings: { lakes: 100, slippery: false, observation: 'grid' } },
  { world: sokobanWorld, settings: { levels: 100 } },
  { world: sokobanWorld, settings: { levels: 60, reward: 'gym', observation: 'grid' } },
  { world: banditWorld, settings: { machines: 100 } },
  { world: wordleWorld, settings: { words: 200 } },
  { world: exampleWorld, settings: {} },
];

/** One word, one pair of brackets, tidy text of at most as many words as the setting `queryWords` lets a policy say. */
function inWebShopsForm(action: string): boolean {
  const found = /^\p{L}+\[([^[\]]*)\]$/u.exec(action);
  return found !== null && action === tidy(action) && !/^ | $/.test(found[1] ?? '') && (found[1] ?? '').split(' ').length <= 64;
}

const HOSTILE = [
  '',
  ' ',
  '\n',
  '\0',
  '\u202e',
  '\ud800',
  'search',
  'search ',
  'search \u0007\u200b',
  'search ' + 'a '.repeat(8),
  'search ' + 'a '.repeat(9),
  'buy',
  'buy 0',
  'buy 01',
  'buy 498',
  'buy 1 2',
  'buy -1',
  'buy 1e2',
  'buy ٣',
  'buy １',
  'click 99999999999999999999',
  'buy __proto__',
  'click constructor',
  '__proto__',
  'search __proto__ toString hasOwnProperty',
  '<script>alert(1)</script>',
  'search[red shoes]',
  'search[]',
  'search[' + 'a '.repeat(63) + 'a]',
  'search[' + 'a '.repeat(64) + 'a]',
  'search[__proto__ <b>]',
  'Search[red]',
  'find[red]',
  'click[buy now]',
  'click[< prev]',
  'click[back to search]',
  'click[features]',
  'click[constructor]',
  'click[]',
  'search <b>red</b>',
  'search 日本語 обувь 👟',
  'SEARCH   Red\tShoes',
  '1+1',
  '(((((((',
  '1/0',
  '9'.repeat(400),
  'process.exit(1)',
  'guess 21',
  'x'.repeat(1_000_000),
  'search ' + 'red '.repeat(250_000),
  '('.repeat(1_000_000),
];

/** Anything: hostile texts, what the grammar allows (`spoken` as it stands there), the same but damaged, and noise. */
function someAction(environment: Environment, turn: Turn, random: Random): { action: string; spoken: boolean } {
  const grammar = environment.grammar(turn.state);
  const sentence = grammar.length > 0 ? randomSentence(grammar, random.next) : '';
  switch (random.below(5)) {
    case 0:
      return { action: random.pick(HOSTILE), spoken: false };
    case 1:
      return { action: sentence.toUpperCase().replaceAll(' ', '  '), spoken: false };
    case 2:
      return { action: sentence.slice(0, random.below(sentence.length + 1)) + random.pick(['', '0', ' x', ')']), spoken: false };
    case 3:
      return { action: String.fromCodePoint(...Array.from({ length: 1 + random.below(20) }, () => random.below(0xd800))), spoken: false };
    default:
      return { action: sentence, spoken: true };
  }
}

describe.each(WORLDS)('$world.name $settings', ({ world, settings, faithful }) => {
  const environment = world.create(settings);
  const tasks = (['train', 'validation', 'test'] as const).flatMap((split) => [...environment.tasks(split)]);
  const episode = fc.record({ task: fc.nat(tasks.length - 1), seed: fc.nat() });

  it('ends every episode in time, keeps rewards in range, and accepts exactly what its grammar admits', () => {
    fc.assert(
      fc.property(episode, ({ task: number, seed }) => {
        const task = tasks[number] ?? expect.fail('no task');
        const random = Random.from('worlds-test', seed);
        let turn = environment.reset(task, seed);
        let sum = 0;
        let steps = 0;
        while (!turn.done) {
          const { action, spoken } = someAction(environment, turn, random);
          const allowed = admits(environment.grammar(turn.state), action);
          turn = environment.step(turn.state, action);
          if (!faithful || faithful(action)) expect(turn.valid, JSON.stringify(action.slice(0, 80))).toBe(allowed);
          if (spoken) expect(turn.valid, JSON.stringify(action.slice(0, 80))).toBe(true);
          expect(turn.reward).toBeGreaterThanOrEqual(environment.rewardRange[0]);
          expect(turn.reward).toBeLessThanOrEqual(environment.rewardRange[1] + 1e-9);
          expect(turn.success && !turn.done).toBe(false);
          if (!faithful) expect(turn.observation.length).toBeLessThan(2000);
          expect(turn.reason).not.toBe('');
          sum += turn.reward;
          expect(++steps).toBeLessThanOrEqual(environment.maxSteps);
        }
        expect(sum).toBeGreaterThanOrEqual(environment.returnRange[0] - 1e-9);
        expect(sum).toBeLessThanOrEqual(environment.returnRange[1] + 1e-9);
        expect(environment.grammar(turn.state)).toEqual([]);
        expect(environment.step(turn.state, 'search red').valid).toBe(false);
      }),
      { numRuns: faithful ? 60 : 150 },
    );
  });

  it('continues identically from a state that was saved and restored, and changes nothing in place', () => {
    fc.assert(
      fc.property(episode, ({ task: number, seed }) => {
        const task = tasks[number] ?? expect.fail('no task');
        const random = Random.from('restore-test', seed);
        let turn = environment.reset(task, seed);
        while (!turn.done) {
          const { action } = someAction(environment, turn, random);
          const saved = JSON.stringify(turn.state);
          const next = environment.step(turn.state, action);
          expect(JSON.stringify(turn.state)).toBe(saved);
          expect(environment.step(JSON.parse(saved), action)).toEqual(next);
          expect(structuredClone(next.state)).toEqual(next.state);
          turn = next;
        }
      }),
      { numRuns: faithful ? 10 : 50 },
    );
  });

  it('survives every hostile action, and a step is used up', () => {
    for (const action of HOSTILE) {
      const start = environment.reset(tasks[0] ?? expect.fail('no task'), 1);
      const turn = environment.step(start.state, action);
      expect(turn.observation).not.toBe('');
      if (faithful && !faithful(action)) continue;
      expect(turn.valid, JSON.stringify(action.slice(0, 40))).toBe(admits(environment.grammar(start.state), action));
    }
  });

  it('never asks for one target in two splits, and gives each task one id', () => {
    const splitOf = new Map<string, string>();
    for (const { target, split } of tasks) if (!splitOf.has(target)) splitOf.set(target, split);
    expect(tasks.filter(({ target, split }) => splitOf.get(target) !== split)).toEqual([]);
    expect(new Set(tasks.map((task) => task.id)).size).toBe(tasks.length);
    expect(tasks.filter(({ category }) => !environment.categories.includes(category))).toEqual([]);
    expect(tasks.filter(({ tier }) => !environment.tiers.includes(tier))).toEqual([]);
    expect(tasks.filter(({ level }) => level >= environment.levels)).toEqual([]);
    for (let level = 1; level < environment.levels; level++) {
      expect(environment.tasks('train', level).length).toBeGreaterThan(environment.tasks('train', level - 1).length);
    }
  });

  it('lets agents act, and shows and says only words that its corpus contains', () => {
    const words = (text: string): string[] => text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];
    const known = new Set([...environment.lexicon.corpus()].flatMap(words));
    const unknown = new Set<string>();
    const note = (text: string): void => words(text).forEach((word) => known.has(word) || /^\d+$/.test(word) || unknown.add(word));
    for (const name of ['random', 'blind', 'heuristic', 'oracle'] as const) {
      const agent = createAgent(world, name);
      tasks.slice(0, 40).forEach((task, number) => {
        const random = Random.from('agents-test', number);
        let turn = environment.reset(task, number);
        while (!turn.done) {
          note(turn.observation);
          const action = agent.act(environment, turn, random.next);
          note(action);
          turn = environment.step(turn.state, action);
          expect(turn.valid, action).toBe(true);
        }
        note(turn.observation);
      });
    }
    for (const { turns } of demonstrations(world, environment, { count: 200, seed: 3 })) for (const { thought } of turns) note(thought);
    if (!faithful) expect([...unknown]).toEqual([]);
  });

  it('demonstrates the same for the same seed, without mistakes when configured so, and never on test tasks', () => {
    const make = (): string => JSON.stringify([...demonstrations(world, environment, { count: 60, seed: 5 })]);
    expect(make()).toBe(make());
    expect(() => demonstrations(world, environment, { count: 1, seed: 1, split: 'test' }).next()).toThrow(/never made on test tasks/);
    for (const { task } of demonstrations(world, environment, { count: 60, seed: 5 })) expect(task.split).toBe('train');
    if (settings.searchTerms || faithful || environment.chance === true) return;
    for (const { success, turns } of demonstrations(world, environment, { count: 60, seed: 5, imperfection: withoutMistakes(world) })) {
      expect(success || world.name === 'guess', JSON.stringify(turns)).toBe(true);
    }
  });

  it('says what each setting means, and refuses unknown ones', () => {
    for (const [name, field] of Object.entries(world.settings.shape))
      expect('description' in field && field.description, name).toBeTruthy();
    expect(() => world.create({ unheardOf: 1 })).toThrow(/unheardOf/);
  });
});

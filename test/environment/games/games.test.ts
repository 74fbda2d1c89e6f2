// The field's small worlds: what their rules, solvers and pages must be, beyond what holds of every world (worlds.test.ts).

import { describe, expect, it } from 'vitest';
import { createAgent, type AgentName } from '../../../main/environment/agents.ts';
import { admits } from '../../../main/environment/grammar.ts';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import { createBandit } from '../../../main/environment/bandit/bandit.ts';
import { banditWorld } from '../../../main/environment/bandit/world.ts';
import type { Environment, World } from '../../../main/environment/environment.ts';
import { createFrozenLake } from '../../../main/environment/frozenlake/frozenlake.ts';
import { lakeOf, outcomes, planFor } from '../../../main/environment/frozenlake/lake.ts';
import { frozenLakeWorld } from '../../../main/environment/frozenlake/world.ts';
import { drawPage } from '../../../main/environment/page.ts';
import { createSokoban } from '../../../main/environment/sokoban/sokoban.ts';
import { push, solve, type Level } from '../../../main/environment/sokoban/level.ts';
import { sokobanWorld } from '../../../main/environment/sokoban/world.ts';
import { cluesFor, fits } from '../../../main/environment/wordle/clues.ts';
import { createWordle } from '../../../main/environment/wordle/wordle.ts';
import { wordleWorld } from '../../../main/environment/wordle/world.ts';
import { evaluationSeed, playAgent } from '../../../main/evaluation/evaluate.ts';
import { splits } from '../../../main/base/vocabulary.ts';
import { drawnPage } from '../../../main/replay/schema.ts';

function rate(world: World, environment: Environment, name: AgentName, tasks: number): number {
  const played = environment.tasks('test').slice(0, tasks);
  const wins = played.filter((task) => playAgent(environment, createAgent(world, name), task, evaluationSeed(task, 1)).result.success);
  return wins.length / played.length;
}

describe('FrozenLake', () => {
  it('slips to the wanted side and its two neighbours in equal shares, and the episode’s seed decides', () => {
    expect(outcomes('left', true)).toEqual(['up', 'left', 'down']);
    expect(outcomes('up', false)).toEqual(['up']);
    const lake = createFrozenLake({ lakes: 30 });
    const [task] = lake.tasks('train');
    if (!task) throw new Error('There are no lakes');
    const ends = Array.from({ length: 600 }, (_, seed) => lake.step(lake.reset(task, seed).state, 'go down').facts.slipped === true);
    expect(ends.filter(Boolean).length / 600).toBeGreaterThan(0.6);
    expect(ends.filter(Boolean).length / 600).toBeLessThan(0.73);
    expect(lake.step(lake.reset(task, 7).state, 'go down')).toEqual(lake.step(lake.reset(task, 7).state, 'go down'));
  });

  it('value iteration gives the exact chance: 1 where it is not slippery, a hand-computed one where it is', () => {
    // P _ G in the first row, ice elsewhere: two steps when nothing slips.
    const dry = planFor(lakeOf('P_G______', 3), false, 2);
    expect(dry.value(0, 2)).toBe(1);
    expect(dry.best(0, 2)).toBe('right');
    // With slipping, one step before the goal and one step left: a third.
    expect(planFor(lakeOf('P_G______', 3), true, 5).value(1, 1)).toBeCloseTo(1 / 3, 12);
  });

  it('the oracle wins as often as its value says, and blind and heuristic walk worse', () => {
    const lake = createFrozenLake({ lakes: 3000 });
    const tasks = lake.tasks('test').slice(0, 250);
    const expected =
      tasks.reduce((sum, task) => sum + lake.planAt(lake.reset(task, 0).state).value(lake.reset(task, 0).state.at, 20), 0) / 250;
    const oracle = rate(frozenLakeWorld, lake, 'oracle', 250);
    expect(Math.abs(oracle - expected)).toBeLessThan(0.09);
    expect(rate(frozenLakeWorld, lake, 'heuristic', 250)).toBeLessThan(oracle - 0.1);
    expect(rate(frozenLakeWorld, lake, 'blind', 250)).toBeLessThan(oracle - 0.2);
  });

  it.each(['cells', 'grid'])('is drawn as a grid from %s', (observation) => {
    const lake = createFrozenLake({ lakes: 30, observation });
    const [task] = lake.tasks('test');
    if (!task) throw new Error('There are no lakes');
    const page = drawPage(lake, lake.reset(task, 1).observation, { target: null, facts: {} });
    expect(drawnPage.parse(page)).toEqual(page);
    if (page.kind !== 'grid') throw new Error(`The lake is drawn as ${page.kind}`);
    const signs = page.rows.flat().map(({ label }) => ({ you: 'P', ice: '_', hole: 'O', goal: 'G' })[label] ?? '?');
    expect(signs.join('')).toBe(task.target);
  });
});

describe('Sokoban', () => {
  const level: Level = {
    size: 5,
    walls: [0, 1, 2, 3, 4, 5, 9, 10, 14, 15, 19, 20, 21, 22, 23, 24],
    player: 6,
    box: 7,
    target: 8,
  };

  it('pushes, never pulls, and not through walls', () => {
    expect(push(level, level, 'right')).toEqual({ player: 7, box: 8 });
    expect(push(level, { player: 7, box: 8 }, 'right')).toBeUndefined();
    expect(push(level, { player: 7, box: 8 }, 'left')).toEqual({ player: 6, box: 8 });
    expect(push(level, level, 'up')).toBeUndefined();
    expect(solve(level, level)).toEqual(['right']);
    // In a corner that is not the target it can't be moved any more.
    expect(solve(level, { player: 12, box: 16 })).toBeUndefined();
  });

  it('has only levels that the oracle solves in time, half of them beyond the greedy heuristic, and few for the blind', () => {
    const sokoban = createSokoban({ levels: 400 });
    const all = sokoban.tasks('train').concat(sokoban.tasks('test'));
    for (const task of all.slice(0, 120)) {
      const solution = solve(sokoban.levelAt({ task: task.id }), sokoban.levelAt({ task: task.id }));
      expect(solution?.length).toBeLessThanOrEqual(15);
    }
    expect(rate(sokobanWorld, sokoban, 'oracle', 60)).toBe(1);
    expect(rate(sokobanWorld, sokoban, 'heuristic', 60)).toBeLessThan(0.75);
    expect(rate(sokobanWorld, sokoban, 'blind', 60)).toBeLessThan(0.2);
  });

  it('says when a push has made a level impossible', () => {
    const sokoban = createSokoban({ levels: 60 });
    const failures = sokoban.tasks('train').map((task) => playAgent(sokoban, createAgent(sokobanWorld, 'heuristic'), task, 1).diagnosis);
    expect(new Set(failures.flatMap((diagnosis) => diagnosis?.failure ?? []))).toContain('deadlock');
  });
});

describe('Bandit', () => {
  it('Thompson sampling stands between chance and the oracle, and regret is what was lost in expectation', () => {
    const bandit = createBandit({ machines: 1000 });
    const regret = (name: AgentName): number => {
      const played = bandit.tasks('test').slice(0, 80);
      const last = played.map(
        (task) => playAgent(bandit, createAgent(banditWorld, name), task, evaluationSeed(task, 1)).steps.at(-1)?.facts.regret,
      );
      return last.reduce<number>((sum, value) => sum + Number(value), 0) / played.length;
    };
    expect(regret('oracle')).toBeCloseTo(0, 9);
    expect(regret('heuristic')).toBeLessThan(regret('random') * 0.7);
    expect(regret('heuristic')).toBeGreaterThan(0.5);
  });
});

describe('Wordle', () => {
  it.each([
    ['crane', 'crane', '+++++'],
    ['crane', 'carts', '+??--'],
    ['geese', 'eagle', '??--+'],
    ['allow', 'label', '???--'],
    ['speed', 'abide', '--?-?'],
    ['sleep', 'erase', '?-??-'],
  ])('%s for %s gives %s', (guess, word, clues) => {
    expect(cluesFor(guess, word)).toBe(clues);
    expect(fits(word, [{ word: guess, clues }])).toBe(true);
  });

  it('careful demonstrations keep to the clues; the heuristic and chance win less often', () => {
    const wordle = createWordle({});
    expect(wordle.words.length).toBe(1365);
    const careful = createAgent(wordleWorld, 'heuristic');
    const tasks = wordle.tasks('test').slice(0, 60);
    const won = tasks.filter((task) => playAgent(wordle, careful, task, evaluationSeed(task, 1)).result.success).length / 60;
    expect(won).toBeGreaterThan(0.6);
    expect(won).toBeLessThan(0.95);
    expect(rate(wordleWorld, wordle, 'blind', 60)).toBeLessThan(0.05);
  });

  it('demonstrators open with as many words of new letters as the settings say', () => {
    const wordle = createWordle({ openings: 3 });
    expect(wordle.openings).toEqual(['rates', 'doing', 'lucky']);
    expect(createWordle({}).openings).toEqual(['rates']);
    const imperfection = { forgets: 0, anyWord: 0 };
    for (const { turns } of demonstrations(wordleWorld, wordle, { count: 10, seed: 1, imperfection })) {
      expect(turns.slice(0, 3).map(({ action }) => action)).toEqual(
        ['guess r a t e s', 'guess d o i n g', 'guess l u c k y'].slice(0, turns.length),
      );
    }
  });

  it('is drawn as letters with their colours', () => {
    const wordle = createWordle({});
    const all = splits.flatMap((split) => wordle.tasks(split));
    // Whoever plays sees the id.
    expect(all.filter(({ id, target }) => id.includes(target))).toEqual([]);
    const start = wordle.reset(all.find(({ target }) => target === 'eagle') ?? expect.fail('no such word'), 1);
    const turn = wordle.step(start.state, 'guess s l e e p');
    const page = drawPage(wordle, turn.observation, { target: null, facts: {} });
    expect(drawnPage.parse(page)).toEqual(page);
    if (page.kind !== 'letters') throw new Error(`The guess is drawn as ${page.kind}`);
    expect(page.rows[0]?.map(({ text, tone }) => `${text} ${tone}`)).toEqual(['s wrong', 'l near', 'e near', 'e near', 'p wrong']);
    expect(page.keys.map(({ text }) => text).join('')).toBe('elps');
    expect(drawPage(wordle, start.observation, { target: null, facts: {} }).kind).toBe('letters');
  });
});

describe('the short view of', () => {
  const WORLDS: readonly [World, Record<string, unknown>, string, string][] = [
    [frozenLakeWorld, { lakes: 60 }, '^g[a-d]{2}( h[a-d]{2})* p[a-d]{2} 20$', '^p[a-d]{2} 19$'],
    [sokobanWorld, { levels: 60 }, '^t[b-e]{2}( w[b-e]{2})* p[b-e]{2} x[b-e]{2} 20$', '^p[b-e]{2} x[b-e]{2} 19$'],
    [banditWorld, { machines: 60 }, '^0 0 0 0 0 0 20$', '^[01] [01] [01] [01] [01] [01] 19$'],
    [wordleWorld, { words: 100 }, '^6$', '^([a-z][a-e][rnom] ){5}5$'],
  ];
  it.each(WORLDS)('$name has every word in the corpus, and every saying is an action', (world, settings, first, later) => {
    const environment = world.create({ ...settings, view: 'short' });
    const words = new Set([...environment.lexicon.corpus()].flatMap((text) => text.split(' ')));
    for (const task of environment.tasks('train').slice(0, 20)) {
      let turn = environment.reset(task, 3);
      for (const [index, pattern] of [first, later].entries()) {
        if (turn.done) break;
        const view = environment.view?.(turn.state);
        expect(view?.text, `page ${index}`).toMatch(new RegExp(pattern));
        expect(view?.text.split(' ').filter((word) => !words.has(word))).toEqual([]);
        const [saying = '', action = ''] = [...(view?.sayings ?? [])][index] ?? [];
        expect(saying.split(' ').filter((word) => !words.has(word))).toEqual([]);
        expect(admits(environment.grammar(turn.state), action)).toBe(true);
        turn = environment.step(turn.state, action);
      }
    }
  });

  it('Wordle tells a letter that is not in the word from one that is in it no more often', () => {
    const wordle = createWordle({ view: 'short' });
    const task = wordle.tasks('train').find(({ target }) => target === 'about') ?? expect.fail('no such word');
    const played = wordle.step(wordle.reset(task, 0).state, 'guess t o o t h');
    expect(played.observation).toContain('t ? o - o + t - h -');
    expect(wordle.view?.(played.state).text).toBe('tan obm ocr tdm heo 5');
  });

  it('Wordle as notes has each fact once, absent letters without a place, all of them in its corpus', () => {
    const wordle = createWordle({ view: 'notes' });
    const task = wordle.tasks('train').find(({ target }) => target === 'about') ?? expect.fail('no such word');
    const words = new Set([...wordle.lexicon.corpus()].flatMap((text) => text.split(' ')));
    let turn = wordle.reset(task, 0);
    const pages = ['t o o t h', 'o t h e r', 't e e t h'].map((word) => {
      turn = wordle.step(turn.state, `guess ${word}`);
      return wordle.view?.(turn.state).text ?? '';
    });
    expect(pages).toEqual(['tan obm ocr tdm ho 5', 'oan tbn eo ro 4', '3']);
    expect(pages.flatMap((page) => page.split(' ')).filter((word) => !words.has(word))).toEqual([]);
  });
});

it('demonstrators say which actions are mistakes, and a run may have them played without learning them', async () => {
  const count = (imperfection: Record<string, number>): number =>
    [...demonstrations(sokobanWorld, createSokoban({ levels: 60 }), { count: 20, seed: 1, imperfection })]
      .flatMap(({ turns }) => turns)
      .filter(({ mistake }) => mistake === true).length;
  expect(count({ anyWay: 0, hasty: 0 })).toBe(0);
  expect(count({ anyWay: 0.5, hasty: 0 })).toBeGreaterThan(20);
});

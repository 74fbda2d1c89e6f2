// The shop in short: what a policy may rely on when it reads the view instead of the page.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { demonstrations } from '../../../main/environment/demonstrations.ts';
import type { View } from '../../../main/environment/environment.ts';
import { admits, grammarOfView } from '../../../main/environment/grammar.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';
import type { WebShopState } from '../../../main/environment/webshop/site.ts';
import { webshopWorld } from '../../../main/environment/webshop/world.ts';
import { GrammarMasks } from '../../../main/policy/text/grammar-mask.ts';
import { Tokenizer, trainTokenizer } from '../../../main/policy/text/tokenizer.ts';
import { Random } from '../../../main/base/random.ts';
import { withoutMistakes } from '../without-mistakes.ts';
import { EpisodeInPlay } from '../../../main/rollout/episode.ts';

const shops = { words: createWebShop({ view: 'words' }), marks: createWebShop({ view: 'marks' }) };
/** Words of one validation goal that no page of the corpus has: they are read in pieces. Adding them to the corpus would change the tokenizer of every stored run. */
const UNSEEN = { words: ['air', 'cushion'], marks: [] } as const;
const look = (shop: WebShop, state: WebShopState): View => shop.view?.(state) ?? expect.fail('no view');

describe.each(['words', 'marks'] as const)('the view %s', (name) => {
  const shop = shops[name];
  const tasks = shop.tasks('validation');
  const tokenizer = new Tokenizer(trainTokenizer(shop.lexicon.corpus(), { minimumCount: 1, maximumWords: 4000, digits: 'whole' }));

  const inPieces = (text: string): string[] =>
    text.split(/\s+/).filter((word) => tokenizer.encode(word).some((id) => tokenizer.continuesWord(id)));

  test('spells the words of one validation goal of a thousand, and no others', () => {
    const spelled = tasks.flatMap((task) => inPieces(look(shop, shop.reset(task, 0).state).text));
    expect(spelled).toEqual(UNSEEN[name]);
  });

  test('lets only possible actions be said, is short, spells nothing else, and does not depend on the goal', () => {
    fc.assert(
      fc.property(fc.record({ task: fc.nat(tasks.length - 1), seed: fc.nat() }), ({ task, seed }) => {
        const random = Random.from('webshop-view', seed);
        let turn = shop.reset(tasks[task] ?? expect.fail('no task'), seed);
        while (!turn.done) {
          const view = look(shop, turn.state);
          const ids = tokenizer.encode(view.text);
          expect(ids.length).toBeLessThanOrEqual(96);
          expect(inPieces(view.text).filter((word) => !UNSEEN[name].some((unseen) => unseen === word))).toEqual([]);
          expect(look(shop, { ...turn.state, goal: (turn.state.goal + 1) % 1000, found: !turn.state.found })).toEqual(view);
          const said = random.pick([...view.sayings.keys()]);
          expect(admits(grammarOfView(view), said)).toBe(true);
          turn = shop.step(turn.state, view.sayings.get(said) ?? expect.fail('no action'));
          expect(turn.valid, said).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('can say every demonstration; the episode records the true pages and actions', () => {
    const prompt = { contextLength: 224, thoughts: false, maxThoughtTokens: 8, matchFlag: true, compareFlag: false };
    const codec = { tokenizer, masks: new GrammarMasks(tokenizer), prompt, names: [] };
    for (const { task, seed, turns } of demonstrations(webshopWorld, shop, { count: 60, seed: 2 })) {
      const playing = new EpisodeInPlay(shop, codec, { task, seed, purpose: 'train', update: 0, relabel: false, level: undefined });
      for (const turn of turns) playing.force(turn);
      const { trajectory } = playing.finish();
      expect(trajectory.steps.map(({ action }) => action)).toEqual(turns.map(({ action }) => action));
      expect(trajectory.steps.map(({ observation }) => observation)).toEqual(turns.map(({ observation }) => observation));
    }
  });

  test('is demonstrated by someone competent who fails now and then', () => {
    const success = (imperfection: Parameters<typeof demonstrations>[2]['imperfection']): number => {
      const all = [...demonstrations(webshopWorld, shop, { count: 200, seed: 4, ...(imperfection && { imperfection }) })];
      return all.filter((one) => one.success).length / all.length;
    };
    const careful = success(withoutMistakes(webshopWorld));
    expect(careful).toBeGreaterThan(0.8);
    expect(success({ wrongWord: 0.3, earlyPurchase: 0.15, uselessClick: 0.05 })).toBeLessThan(careful);
  });
});

test('options that were chosen stay visible, and near values are offered where the wished one is not', () => {
  const shop = shops.marks;
  const task = shop.tasks('test').find(({ tier }) => tier === 'two options') ?? expect.fail('no task');
  let turn = shop.reset(task, 0);
  expect(look(shop, turn.state).text).toMatch(/^wish attributes \d options 2 \w+ \w+ limit$/);
  const say = (said: string): void => {
    turn = shop.step(turn.state, look(shop, turn.state).sayings.get(said) ?? expect.fail(`no '${said}' here`));
  };
  say('search options');
  expect(look(shop, turn.state).text).toMatch(/^results 1 left 14 (?:\d \d 1\d\d|over 1\d\d)/);
  while (!turn.state.asin) {
    const oracle = shop.oracle(turn.state) ?? expect.fail('no answer');
    turn = shop.step(turn.state, oracle);
  }
  expect(look(shop, turn.state).text.match(/yes/g)).toHaveLength(2);
  say('choose 201');
  expect(look(shop, turn.state).text).toMatch(/ \w+ done \w+ yes 201$/);
  say('features');
  expect(look(shop, turn.state).text).toMatch(/^features lacks \d left \d+$/);
  say('back');
  expect(look(shop, turn.state).text).toMatch(/ done /);
  say('choose 201');
  say('buy');
  expect(turn.success).toBe(true);
});

test('the world is the same with and without its view', () => {
  const plain = createWebShop({});
  expect(plain.view).toBeUndefined();
  const task = plain.tasks('test')[0] ?? expect.fail('no task');
  let [a, b] = [plain.reset(task, 0), shops.words.reset(task, 0)];
  while (!a.done) {
    expect(b).toEqual(a);
    const action = plain.oracle(a.state) ?? expect.fail('no answer');
    [a, b] = [plain.step(a.state, action), shops.words.step(b.state, action)];
  }
  expect(b).toEqual(a);
});

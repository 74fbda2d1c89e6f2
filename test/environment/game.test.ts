// Interactive play: the classic example step by step, undo and the oracle, hostile texts, and a game that survives being
// put aside as JSON.

import { describe, expect, test } from 'vitest';
import { Game, savedGame } from '../../main/environment/game.ts';
import { offersOf, phrasesOf, refusal } from '../../main/environment/refusal.ts';
import { Random } from '../../main/base/random.ts';
import { findWorld } from '../catalog.ts';

const shop = findWorld('shop').create({});
const task = (id: string) => {
  const found = shop
    .tasks('train')
    .concat(shop.tasks('validation'), shop.tasks('test'))
    .find((one) => one.id === id);
  if (!found) throw new Error(`no task ${id}`);
  return found;
};
const classic = (): Game => new Game(shop, task('201-plain-1'));

describe('a game', () => {
  test('plays the classic example with its texts and numbers', () => {
    const game = classic();
    expect(game.now.observation).toBe('TASK: User wants to buy classic blanket. Available: 497 products across 8 categories.');
    game.say('search blanket');
    expect(game.now.observation).toMatch(/^Found 7 results\. Top 5: /);
    game.say('buy 201');
    expect(game.now).toMatchObject({ observation: 'You bought Classic Blanket.', reward: 1, done: true, success: true });
    expect(game.return).toBe(1);
    expect(game.oracleLine()).toEqual({ actions: ['search classic blanket', 'buy 201'], return: 1, success: true });
  });

  test('takes a step back as often as wanted, and says nothing more after the end', () => {
    const game = classic();
    game.say('search blanket');
    game.say('buy 202');
    game.say('buy 201');
    expect([game.moves.length, game.now.success]).toEqual([2, false]);
    game.undo();
    game.say('buy 201');
    expect(game.now.success).toBe(true);
    game.undo();
    game.undo();
    game.undo();
    expect([game.moves.length, game.now.observation]).toEqual([0, game.start.observation]);
  });

  test('lets the oracle continue from wherever the player is', () => {
    const game = classic();
    game.say('search lamp');
    game.letOracle(15);
    expect(game.now.success).toBe(true);
    expect(game.moves.map(({ by }) => by)).toEqual(['you', ...game.moves.slice(1).map(() => 'oracle')]);
  });

  test.each(['shop', 'webshop', 'maths'])('of the world %s continues after being saved as JSON exactly as without', (world) => {
    const environment = findWorld(world).create({});
    const random = Random.from('game', world);
    for (const one of random.shuffle([...environment.tasks('test')]).slice(0, 20)) {
      const game = new Game(environment, one);
      game.say('search red shoes');
      const restored = Game.restore(environment, savedGame.parse(JSON.parse(JSON.stringify(game.save({})))));
      expect(restored).toBeDefined();
      game.letOracle(20);
      restored?.letOracle(20);
      expect(restored?.moves).toEqual(game.moves);
    }
  });

  test('with a task that the world no longer has is not taken up', () => {
    expect(Game.restore(shop, { ...classic().save({}), task: '201-plain-99' })).toBeUndefined();
  });

  test.each([
    ['', ''],
    ['x'.repeat(1_000_000), `${'x'.repeat(300)}… (1,000,000 characters)`],
    ['buy\u0000 201\u0007', 'buy␀ 201␇'],
    ['<b>buy</b> __proto__', '<b>buy</b> __proto__'],
  ])('keeps a hostile action in a form that can be shown', (action, shown) => {
    const game = classic();
    game.say(action);
    expect(game.moves[0]?.action).toBe(shown);
    expect(game.now.done).toBe(action.startsWith('buy'));
  });
});

describe('what may be said', () => {
  const grammar = shop.grammar(classic().start.state);
  test.each([
    ['', 'Nothing was said. Expected: search <1–8 words>'],
    ['\u0000\u0001', 'Nothing was said.'],
    ['x'.repeat(1_000_000), 'An action has at most 1000 characters; this one has 1,000,000.'],
    ['fly to the moon', 'Expected: search <1–8 words>'],
    ['buy 999', 'After “buy” this is expected: <1 | 2 | 3 | … 497 in all>, found “999”.'],
    ['search', 'After “search” this is expected: <1–8 words>, found nothing.'],
    ['search a b c d e f g h i', 'After “search” this is expected: <1–8 words>, found “a b c d e f g h i”.'],
  ])('is explained when %j is refused', (action, reason) => {
    expect(refusal(grammar, action)).toContain(reason);
  });

  test('is not explained where it is possible, and says so when the episode is over', () => {
    expect(refusal(grammar, 'BUY  201')).toBeNull();
    expect(refusal([], 'buy 201')).toContain('The episode is over');
  });

  test('can be picked: every clickable with every verb, and every offer is possible', () => {
    const game = classic();
    game.say('search blanket');
    const offers = offersOf(shop.grammar(game.now.state), game.now.clickables);
    expect(offers).toHaveLength(10);
    expect(offers.slice(0, 2).map(({ verb, action }) => [verb, action])).toEqual([
      ['click', `click ${game.now.clickables[0]}`],
      ['buy', `buy ${game.now.clickables[0]}`],
    ]);
    for (const { action } of offers) expect(refusal(shop.grammar(game.now.state), action)).toBeNull();
    const webshop = findWorld('webshop').create({});
    const [first] = webshop.tasks('test');
    if (!first) throw new Error('no task');
    const other = new Game(webshop, first);
    expect(phrasesOf(webshop.grammar(other.now.state))).toEqual([{ before: 'search[', after: ']' }]);
    other.say('search[screen protector]');
    const clicks = offersOf(webshop.grammar(other.now.state), other.now.clickables);
    expect(clicks.map(({ action }) => action)).toContain('click[back to search]');
  });
});

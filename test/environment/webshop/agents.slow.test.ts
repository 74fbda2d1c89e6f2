// The table of agents in main/environment/webshop/README.md: made by this file, printed when it runs.
//
//   npm run test:slow -- webshop/agents

import { expect, test } from 'vitest';
import { randomSentence } from '../../../main/environment/agents.ts';
import type { Turn } from '../../../main/environment/environment.ts';
import type { Split } from '../../../main/base/vocabulary.ts';
import { RULES, follow } from '../../../main/environment/webshop/rules.ts';
import { createWebShop, type WebShop } from '../../../main/environment/webshop/webshop.ts';
import type { WebShopState } from '../../../main/environment/webshop/site.ts';
import { wilson } from '../../../main/base/statistics.ts';
import { Random } from '../../../main/base/random.ts';
import { describeOriginal, originalShop } from './original.ts';

const AGENTS = ['random', ...RULES, 'oracle'] as const;
type Name = (typeof AGENTS)[number];

function act(name: Name, shop: WebShop, turn: Turn<WebShopState>, random: Random): string {
  if (name === 'random') return randomSentence(shop.grammar(turn.state), random.next);
  return name === 'oracle' ? (shop.oracle(turn.state) ?? '') : follow(name, shop, turn);
}

function measure(name: Name, shop: WebShop, split: Split): { rate: number; cells: string[] } {
  const tasks = shop.tasks(split).slice(0, split === 'test' ? 500 : 1000);
  const random = Random.from('webshop-agents', name);
  let [reached, score, steps] = [0, 0, 0];
  for (const task of tasks) {
    let turn = shop.reset(task, 0);
    while (!turn.done) {
      turn = shop.step(turn.state, act(name, shop, turn, random));
      steps++;
    }
    score += turn.reward;
    if (turn.success) reached++;
  }
  const { rate, low, high } = wilson(reached, tasks.length);
  const percent = (share: number): string => (100 * share).toFixed(1);
  return {
    rate,
    cells: [`${percent(rate)} [${percent(low)}, ${percent(high)}]`, (score / tasks.length).toFixed(3), (steps / tasks.length).toFixed(1)],
  };
}

/** Success on the test tasks, in per cent, and the table for people. */
function table(title: string, shop: WebShop): Map<Name, number> {
  const rates = new Map<Name, number>();
  const lines = [
    `${title}`,
    '| agent | test: success, 95% | score | steps | validation: success, 95% | score | steps |',
    '|---|---|---|---|---|---|---|',
  ];
  for (const name of AGENTS) {
    const measured = measure(name, shop, 'test');
    rates.set(name, 100 * measured.rate);
    lines.push(`| ${name} | ${[...measured.cells, ...measure(name, shop, 'validation').cells].join(' | ')} |`);
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
  return rates;
}

test('our catalog: rules from 1% to above 80%, the oracle at 100%', () => {
  const rates = table('Our own catalog', createWebShop({}));
  expect(rates.get('first result')).toBeLessThan(5);
  expect(rates.get('read')).toBeGreaterThan(80);
  expect(rates.get('oracle')).toBe(100);
});

describeOriginal('the original 1000 products', () => {
  test('official split: as measured with the Python implementation, or better', () => {
    const rates = table('The original small set, official split', originalShop());
    expect(rates.get('random')).toBeLessThan(1);
    expect(rates.get('first result')).toBeCloseTo(2.2, 0);
    expect(rates.get('options')).toBeGreaterThan(54);
    expect(rates.get('query')).toBeGreaterThan(72);
    expect(rates.get('walk')).toBeGreaterThan(82);
    expect(rates.get('read')).toBeGreaterThan(85);
    expect(rates.get('oracle')).toBe(96);
  });

  test('split by products', () => {
    const rates = table('The original small set, split by products', originalShop({ split: 'products' }));
    expect(rates.get('read')).toBeGreaterThan(60);
    expect(rates.get('oracle')).toBeGreaterThan(80);
  });
});

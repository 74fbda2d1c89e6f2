// What is cloned of a demonstration: all that the demonstrator said, or, with skipMistakes, only what was right, in the same context.

import { expect, test } from 'vitest';
import { demonstrated } from '../../main/training/reference.ts';
import { openRun } from '../../main/training/run-setup.ts';
import { smallest } from './host.ts';

const rows = (skipMistakes: boolean, anyWay: number) =>
  demonstrated(
    openRun(
      smallest({
        world: { name: 'frozenlake', settings: { lakes: 40, view: 'short' } },
        reference: { demonstrations: 20, skipMistakes, imperfection: { anyWay, unaware: 0 } },
      }),
    ),
  ).flatMap((sample) => sample.rows);
const learned = (list: ReturnType<typeof rows>): number => list.reduce((sum, { agent }) => sum + agent.length, 0);

test('mistakes are played either way, and left out of what is learned where that is asked for', () => {
  const [all, right] = [rows(false, 0.5), rows(true, 0.5)];
  expect(learned(right)).toBeGreaterThan(0.3 * learned(all));
  expect(learned(right)).toBeLessThan(0.7 * learned(all));
  // The same episodes: each row of the second kind is a row of the first.
  const texts = new Set(all.map(({ tokens }) => tokens.join(' ')));
  expect(right.every(({ tokens }) => texts.has(tokens.join(' ')))).toBe(true);
  expect(rows(true, 0)).toEqual(rows(false, 0));
  expect(rows(true, 1)).toEqual([]);
});

// What one can rely on in the maths world: exact arithmetic on parsed text, TinyZero's rewards, and honest splits.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, createAgent } from '../../../main/environment/agents.ts';
import type { Task } from '../../../main/environment/environment.ts';
import { equals, readExpression } from '../../../main/environment/maths/expression.ts';
import { createMaths, type Maths } from '../../../main/environment/maths/maths.ts';
import { mathsWorld } from '../../../main/environment/maths/world.ts';
import { Random } from '../../../main/base/random.ts';

const maths = createMaths({});
const tasks = (['train', 'validation', 'test'] as const).flatMap((split) => [...maths.tasks(split)]);

/** Reward of an answer to the first task that fits. */
function pay(kind: string, answer: (numbers: readonly number[], goal: number, solution: string) => string) {
  const task = maths.taskOf(maths.reset(tasks.find(({ category }) => category === kind) ?? expect.fail(), 0).state);
  const { reward, success, done, valid } = maths.step(maths.reset(task, 0).state, answer(task.numbers, task.answer, task.solution));
  return { reward, success, done, valid };
}

describe('expressions', () => {
  it.each<[string, number]>([
    ['7', 7],
    ['1+2*3', 7],
    ['(1+2)*3', 9],
    ['10-4-3', 3],
    ['100/5/2', 10],
    ['7/2*4', 14],
    ['(1/3+1/6)*2', 1],
    [' 2 * ( 3 + 4 ) ', 14],
    ['((((5))))', 5],
    ['2-5', -3],
  ])('%s = %i', (text, value) => {
    expect(equals(readExpression(text)?.value, value)).toBe(true);
    expect(equals(readExpression(text)?.value, value + 1)).toBe(false);
  });

  it.each(['', '+', '1+', '-1', '(1', '1)', '1 2', '2**3', '1.5', 'a', '1+process.exit(1)', '()', '1e3', '１', '9999999999'])(
    '%j is none',
    (text) => {
      expect(readExpression(text)).toBeUndefined();
    },
  );

  it('divides by zero without an accident', () => {
    expect(readExpression('1/(2-2)')).toEqual({ value: undefined, numbers: [1, 2, 2] });
  });

  it('agree with big integers on random sums of products', () => {
    const term = fc.array(fc.nat(99), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 4 }), (terms) => {
        const text = terms.map((factors) => factors.join('*')).join('+');
        const value = terms.reduce((sum, factors) => sum + factors.reduce((product, factor) => product * factor, 1), 0);
        expect(equals(readExpression(text)?.value, value)).toBe(true);
      }),
    );
  });

  it('never fail on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789+-*/() x'), maxLength: 60 }), (text) => {
        expect(() => readExpression(text)).not.toThrow();
      }),
    );
  });
});

describe('rewards', () => {
  it('1 for a right answer, 0.1 for a well-formed wrong one, 0 otherwise; one turn', () => {
    expect(pay('multiplication', (_, goal) => String(goal))).toEqual({ reward: 1, success: true, done: true, valid: true });
    expect(pay('multiplication', (_, goal) => ` 0${goal} `)).toMatchObject({ reward: 1 });
    expect(pay('multiplication', (_, goal) => String(goal + 1))).toEqual({ reward: 0.1, success: false, done: true, valid: true });
    expect(pay('multiplication', () => 'many')).toEqual({ reward: 0, success: false, done: true, valid: false });
    expect(pay('multiplication', (numbers) => numbers.join('*'))).toMatchObject({ reward: 0, valid: false });
    expect(pay('countdown', (_, __, solution) => solution)).toMatchObject({ reward: 1, success: true });
    expect(pay('countdown', (_, goal) => String(goal))).toMatchObject({ reward: 0.1, success: false });
    expect(pay('countdown', (numbers) => numbers.join('-'))).toMatchObject({ reward: 0.1 });
    expect(pay('countdown', () => '((')).toEqual({ reward: 0, success: false, done: true, valid: true });
  });
});

describe('tasks', () => {
  it('grow with the level, repeat with the seed, and hold 500 of each held-out split', () => {
    expect(maths.tasks('test').length).toBeGreaterThanOrEqual(500);
    expect(maths.tasks('validation').length).toBeGreaterThanOrEqual(500);
    const counts = [0, 1, 2].map((level) => maths.tasks('train', level).length);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(createMaths({}).tasks('test')).toEqual(maths.tasks('test'));
    expect(createMaths({ seed: 2 }).tasks('test')[0]?.id).not.toBe(maths.tasks('test')[0]?.id);
    expect(
      new Set(
        createMaths({ kind: 'countdown' })
          .tasks('train')
          .map(({ category }) => category),
      ),
    ).toEqual(new Set(['countdown']));
  });

  it('stop at the hardest level that is asked for', () => {
    const three = createMaths({ kind: 'countdown', hardest: 'medium' });
    expect([three.levels, three.tiers]).toEqual([2, ['small', 'medium']]);
    for (const task of three.tasks('test')) expect(three.taskOf(three.reset(task, 0).state).numbers).toHaveLength(3);
  });

  it('never test a product of two factors that training asked for in another guise', () => {
    const trained = new Set(maths.tasks('train').map(({ target }) => target));
    expect(maths.tasks('test').filter(({ target }) => trained.has(target))).toEqual([]);
  });
});

describe('agents on 500 test tasks', () => {
  it('the oracle solves all, blind hardly any', () => {
    const rate = Object.fromEntries(
      AGENT_NAMES.map((name) => {
        const agent = createAgent(mathsWorld, name);
        const solved = maths
          .tasks('test')
          .slice(0, 500)
          .filter((task) => {
            const start = maths.reset(task, 0);
            return maths.step(start.state, agent.act(maths, start, Random.from('maths-agents', task.id).next)).success;
          });
        return [name, solved.length / 500];
      }),
    );
    expect(rate.oracle).toBe(1);
    expect(rate.random).toBeLessThan(0.02);
    expect(rate.blind).toBeLessThan(0.15);
    expect(rate.heuristic).toBeGreaterThan(0.3);
    expect(rate.heuristic).toBeLessThan(0.6);
  });
});

describe('the demonstrator', () => {
  const none = { slip: 0, guess: 0, detour: 0 };
  const shown = (world: Maths, task: Task, imperfection: typeof none) => {
    const start = world.reset(task, 0);
    const { thought, action } = mathsWorld.demonstrate(world, start, imperfection, Random.from('maths-shown', task.id).next);
    return { thought, success: world.step(start.state, action).success };
  };
  const rate = (world: Maths, imperfection: typeof none): number => {
    const asked = world.tasks('train').slice(0, 600);
    return asked.filter((task) => shown(world, task, imperfection).success).length / asked.length;
  };

  it('writes a multiplication out in lines that add up, and answers it', () => {
    const all = createMaths({ kind: 'multiplication', tasksPerLevel: 8000 });
    const task = all.tasks('train').find(({ instruction }) => instruction === 'What is 57 * 33?') ?? expect.fail();
    expect(shown(all, task, none).thought).toBe('7*3+0=21 5*3+2=17 7*3+0=21 5*3+2=17 7+1+0=08 1+7+0=08 1+0+0=01');
    for (const one of maths.tasks('train').filter(({ category }) => category === 'multiplication')) {
      const { thought, success } = shown(maths, one, none);
      expect(success, one.instruction).toBe(true);
      for (const line of thought.split(' ')) {
        const [left = '', right = ''] = line.split('=');
        expect(equals(readExpression(left)?.value, Number(right)), line).toBe(true);
      }
    }
  });

  it('finds a way to every countdown goal, and shows what it tried', () => {
    const countdown = createMaths({ kind: 'countdown', hardest: 'medium', tasksPerLevel: 300 });
    expect(rate(countdown, none)).toBe(1);
    const task = countdown.tasks('train').find(({ tier }) => tier === 'medium') ?? expect.fail();
    expect(shown(countdown, task, none).thought).toMatch(/^\d+\+\d+=\d+/);
  });

  it.each([
    ['multiplication', { ...none, slip: 1 }, 0, 0],
    ['multiplication', { ...none, guess: 1 }, 0.15, 0.45],
    ['multiplication', { ...none, slip: 0.4, guess: 0.55 }, 0.3, 0.5],
    ['countdown', { ...none, guess: 1 }, 0.08, 0.2],
  ] as const)('of %s with mistakes %j is right in %d to %d of the cases', (kind, imperfection, low, high) => {
    const right = rate(createMaths({ kind, hardest: kind === 'countdown' ? 'medium' : 'hard', tasksPerLevel: 8000 }), imperfection);
    expect(right).toBeGreaterThanOrEqual(low);
    expect(right).toBeLessThanOrEqual(high);
  });
});

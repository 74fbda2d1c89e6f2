// How the demonstrator works an answer out, one small step a line, so that each step is a matter of the tables and of what
// stands in the lines before. Multiplication goes digit by digit from the right, as on paper, every result with two digits:
//   23*47: 3*7+0=21 2*7+2=16 3*4+0=12 2*4+1=09 6+2+0=08 1+9+0=10 0+0+1=01, so 1081.
// Countdown with three numbers tries pairs in order and ends at the first hit: `23-8=15-12/5` is 15, then 15−3=12, then 15/3=5.

import type { MathsTask } from './tasks.ts';

interface Worked {
  readonly thought: string;
  readonly action: string;
}

/** `slip` is in [0, 1): which line is off by one, as a part of all; undefined: none. What follows continues with the wrong number. */
export function longMultiplication({ numbers }: MathsTask, slip: number | undefined): Worked {
  const [a = 1, b = 1] = numbers;
  const [whole, by] = a < 10 ? [b, a] : [a, b];
  const digits = by < 10 ? [by] : [by % 10, Math.floor(by / 10)];
  const count = digits.length === 1 ? 2 : 7;
  const wrongLine = slip === undefined ? -1 : Math.floor(slip * count);
  const lines: string[] = [];
  const work = (left: string, value: number): { ones: number; tens: number } => {
    const shown = value + (lines.length === wrongLine ? 1 : 0);
    lines.push(`${left}=${String(shown).padStart(2, '0')}`);
    return { ones: shown % 10, tens: Math.floor(shown / 10) };
  };
  const sum = (x: number, y: number, carry: number): { ones: number; tens: number } => work(`${x}+${y}+${carry}`, x + y + carry);

  const products = digits.map((digit) => {
    const low = work(`${whole % 10}*${digit}+0`, (whole % 10) * digit);
    const high = work(`${Math.floor(whole / 10)}*${digit}+${low.tens}`, Math.floor(whole / 10) * digit + low.tens);
    return [low.ones, high.ones, high.tens] as const;
  });
  const [[ones = 0, tens = 0, hundreds = 0] = [], second] = products;
  let places = [ones, tens, hundreds];
  if (second) {
    const middle = sum(tens, second[0], 0);
    const upper = sum(hundreds, second[1], middle.tens);
    const top = sum(second[2], 0, upper.tens);
    places = [ones, middle.ones, upper.ones, top.ones];
  }
  const action = String(places.reduce((total, digit, place) => total + digit * 10 ** place, 0));
  return { thought: lines.join(' '), action };
}

/**
 * Tries every pair and operation of three numbers in order, each with the ways that could reach the goal from there. With
 * `slip` (in [0, 1)) one result among those tried is off by one, and is believed. Undefined where nothing reaches the goal.
 */
export function countdownSearch({ numbers, answer }: MathsTask, slip: number | undefined): Worked | undefined {
  const [first = 1, second = 1, third = 1] = numbers;
  const wrongPair = slip === undefined ? -1 : Math.floor(slip * 8);
  const tried: string[] = [];
  for (const [x, y, last] of [
    [first, second, third],
    [first, third, second],
    [second, third, first],
  ] as const) {
    const [a, b] = x >= y ? [x, y] : [y, x];
    for (const operator of possible(a, b)) {
      const value = apply(a, operator, b) + (tried.length === wrongPair ? 1 : 0);
      const [large, small] = value >= last ? [value, last] : [last, value];
      let line = `${a}${operator}${b}=${value}`;
      for (const end of promising(large, small, answer)) {
        const result = apply(large, end, small);
        line += `${end}${result}`;
        if (result !== answer) continue;
        const pair = `(${a}${operator}${b})`;
        return { thought: [...tried, line].join(' '), action: value >= last ? `${pair}${end}${last}` : `${last}${end}${pair}` };
      }
      tried.push(line);
    }
  }
  return undefined;
}

type Operator = '+' | '-' | '*' | '/';

/** What may be done with two numbers, the larger one first, without leaving the whole numbers above 0. */
const possible = (a: number, b: number): Operator[] => [
  '+',
  ...(a > b ? (['-'] as const) : []),
  '*',
  ...(a % b === 0 ? (['/'] as const) : []),
];

/** Up to a goal that is larger than both lead plus and times, down to a smaller one minus and division. */
function promising(a: number, b: number, goal: number): Operator[] {
  if (goal > a) return a + b < goal ? ['+', '*'] : ['+'];
  return possible(a, b).filter((operator) => operator === '-' || operator === '/');
}

function apply(a: number, operator: Operator, b: number): number {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  return operator === '*' ? a * b : a / b;
}

/** `(7*9)+2` → `7*9=63 63+2=65`: the innermost brackets first. */
export function innermostFirst(expression: string): string {
  const lines: string[] = [];
  let rest = `(${expression})`;
  for (;;) {
    const inner = /\((-?\d+)([-+*/])(-?\d+)\)/.exec(rest);
    if (!inner) return lines.join(' ');
    const [text, left = '', operator = '', right = ''] = inner;
    const [a, b] = [Number(left), Number(right)];
    const value = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : a / b;
    lines.push(`${left}${operator}${right}=${Math.round(value)}`);
    rest = rest.replace(text, () => String(Math.round(value)));
  }
}

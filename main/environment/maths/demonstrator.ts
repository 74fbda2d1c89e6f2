// Who can answer maths tasks without learning: the baselines, and a demonstrator that works the answer out in small
// steps, as people do on paper, and sometimes slips. Its thoughts are the working: `23*47: 23*40=920 23*7=161 920+161=1081`.

import type { Imperfection, Turn } from '../environment.ts';
import type { Maths, MathsState } from './maths.ts';
import type { MathsTask } from './tasks.ts';

/** Does not work anything out: adds up the numbers of the task. */
export function blind(maths: Maths, { state }: Turn<MathsState>): string {
  const { kind, numbers } = maths.taskOf(state);
  return kind === 'countdown' ? numbers.join('+') : String(numbers.reduce((sum, number) => sum + number, 0));
}

/** Multiplies with the smaller factor rounded to tens (exact where it has one digit); reaches goals with plus and minus alone. */
export function heuristic(maths: Maths, turn: Turn<MathsState>): string {
  const task = maths.taskOf(turn.state);
  if (task.kind === 'multiplication') return String(estimate(task));
  for (let signs = 0; signs < 2 ** (task.numbers.length - 1); signs++) {
    const minus = (index: number): boolean => index > 0 && ((signs >> (index - 1)) & 1) === 1;
    const sum = task.numbers.reduce((total, number, index) => total + (minus(index) ? -number : number), 0);
    if (sum === task.answer) return task.numbers.map((number, index) => (index === 0 ? '' : minus(index) ? '-' : '+') + number).join('');
  }
  return blind(maths, turn);
}

function estimate({ numbers }: MathsTask): number {
  const [small = 1, large = 1] = numbers.toSorted((a, b) => a - b);
  return large * (small < 10 ? small : Math.round(small / 10) * 10);
}

export function demonstrate(
  maths: Maths,
  turn: Turn<MathsState>,
  imperfection: Imperfection,
  random: () => number,
): { thought: string; action: string } {
  const task = maths.taskOf(turn.state);
  const hasty = random() < imperfection.earlyPurchase;
  const detour = random() < imperfection.uselessClick;
  const slip = random() < imperfection.wrongWord;
  if (task.kind === 'multiplication') {
    if (hasty) return { thought: `${task.numbers.join('*')}: about ${estimate(task)}`, action: String(estimate(task)) };
    return longMultiplication(task, slip, detour, random);
  }
  if (hasty) return { thought: `${task.numbers.join('+')}`, action: blind(maths, turn) };
  const expression = slip ? swapOperator(task.solution, random) : task.solution;
  const tried = detour ? `${task.numbers.join('+')}=${task.numbers.reduce((sum, number) => sum + number, 0)} no ` : '';
  return { thought: `${tried}${working(expression)}`, action: expression };
}

/** One factor split into tens and ones; a slip is off by ten in one of the partial products. */
function longMultiplication(
  { numbers }: MathsTask,
  slip: boolean,
  detour: boolean,
  random: () => number,
): { thought: string; action: string } {
  const [a = 1, b = 1] = numbers;
  const [whole, split] = b >= 10 ? [a, b] : [b, a];
  const parts = [split - (split % 10), split % 10].filter((part) => part > 0);
  const wrongPart = slip ? Math.floor(random() * parts.length) : -1;
  const products = parts.map((part, index) => whole * part + (index === wrongPart ? 10 : 0));
  const sum = products.reduce((total, product) => total + product, 0);
  const lines = parts.map((part, index) => `${whole}*${part}=${products[index]}`);
  if (detour) lines.unshift(`${whole}*10=${whole * 10}`);
  if (products.length > 1) lines.push(`${products.join('+')}=${sum}`);
  return { thought: `${a}*${b}: ${lines.join(' ')}`, action: String(sum) };
}

function swapOperator(expression: string, random: () => number): string {
  const places = [...expression.matchAll(/[-+*/]/g)].map((match) => match.index);
  const place = places[Math.floor(random() * places.length)] ?? 0;
  return `${expression.slice(0, place)}${expression.charAt(place) === '+' ? '-' : '+'}${expression.slice(place + 1)}`;
}

/** `(7*9)+2` → `7*9=63 63+2=65`: the innermost brackets first. */
function working(expression: string): string {
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

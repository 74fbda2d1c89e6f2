// Reads an arithmetic expression (whole numbers, + - * / and brackets) and works it out exactly, as a fraction of big
// integers. A parser by recursive descent: what an agent wrote is never run as code.

export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

export interface Expression {
  /** Undefined where something is divided by zero. */
  readonly value: Fraction | undefined;
  /** The numbers in the order in which they stand. */
  readonly numbers: readonly number[];
}

/** More digits than any task needs; keeps the arithmetic small whatever is written. */
const MOST_DIGITS = 9;

/** Undefined where the text is not an expression. */
export function readExpression(text: string): Expression | undefined {
  const tokens = text.match(/\d+|[-+*/()]|[^\s]/g) ?? [];
  const numbers: number[] = [];
  let position = 0;

  // Each rule answers `null` for "not an expression" and { value: undefined } for a division by zero inside.
  function sum(): { value: Fraction | undefined } | null {
    let left = product();
    while (left && (tokens[position] === '+' || tokens[position] === '-')) {
      const operator = tokens[position++];
      const right = product();
      if (!right) return null;
      left = { value: combine(left.value, right.value, operator === '+' ? add : subtract) };
    }
    return left;
  }

  function product(): { value: Fraction | undefined } | null {
    let left = factor();
    while (left && (tokens[position] === '*' || tokens[position] === '/')) {
      const operator = tokens[position++];
      const right = factor();
      if (!right) return null;
      left = { value: combine(left.value, right.value, operator === '*' ? multiply : divide) };
    }
    return left;
  }

  function factor(): { value: Fraction | undefined } | null {
    const token = tokens[position++];
    if (token === undefined) return null;
    if (token === '(') {
      const inner = sum();
      return inner && tokens[position++] === ')' ? inner : null;
    }
    if (!/^\d+$/.test(token) || token.length > MOST_DIGITS) return null;
    numbers.push(Number(token));
    return { value: { top: BigInt(token), bottom: 1n } };
  }

  const whole = sum();
  return whole && position === tokens.length ? { value: whole.value, numbers } : undefined;
}

export function equals(value: Fraction | undefined, integer: number): boolean {
  return value !== undefined && value.top === BigInt(integer) * value.bottom;
}

type Operation = (a: Fraction, b: Fraction) => Fraction | undefined;

const combine = (a: Fraction | undefined, b: Fraction | undefined, operation: Operation): Fraction | undefined =>
  a && b ? operation(a, b) : undefined;
const add: Operation = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
const subtract: Operation = (a, b) => ({ top: a.top * b.bottom - b.top * a.bottom, bottom: a.bottom * b.bottom });
const multiply: Operation = (a, b) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
const divide: Operation = (a, b) => (b.top === 0n ? undefined : { top: a.top * b.bottom, bottom: a.bottom * b.top });

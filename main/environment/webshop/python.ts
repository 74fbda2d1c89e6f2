// The few habits of Python that the original WebShop's results depend on: its random shuffle, how it prints floats and
// strings, and what it counts as white space. Kept apart so that the rest of the world reads like TypeScript.

const STATE = 624;
const SHIFT = 397;

/** Python's generator (MT19937), seeded with a small non-negative integer as `random.seed(n)` does. */
class MersenneTwister {
  readonly #state = new Uint32Array(STATE);
  #next = STATE;

  constructor(seed: number) {
    const state = this.#state;
    state[0] = 19_650_218;
    for (let i = 1; i < STATE; i++) {
      const previous = state[i - 1] ?? 0;
      state[i] = Math.imul(1_812_433_253, previous ^ (previous >>> 30)) + i;
    }
    // The key is the seed alone, so the index into it stays 0.
    let i = 1;
    for (let round = 0; round < STATE; round++) {
      const previous = state[i - 1] ?? 0;
      state[i] = ((state[i] ?? 0) ^ Math.imul(previous ^ (previous >>> 30), 1_664_525)) + seed;
      i = this.#advance(i);
    }
    for (let round = 0; round < STATE - 1; round++) {
      const previous = state[i - 1] ?? 0;
      state[i] = ((state[i] ?? 0) ^ Math.imul(previous ^ (previous >>> 30), 1_566_083_941)) - i;
      i = this.#advance(i);
    }
    state[0] = 0x80000000;
  }

  #advance(i: number): number {
    if (i + 1 < STATE) return i + 1;
    this.#state[0] = this.#state[STATE - 1] ?? 0;
    return 1;
  }

  #refill(): void {
    const state = this.#state;
    for (let i = 0; i < STATE; i++) {
      const mixed = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % STATE] ?? 0) & 0x7fffffff);
      state[i] = (state[(i + SHIFT) % STATE] ?? 0) ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }

  integer(): number {
    if (this.#next >= STATE) this.#refill();
    let value = this.#state[this.#next++] ?? 0;
    value ^= value >>> 11;
    value ^= (value << 7) & 0x9d2c5680;
    value ^= (value << 15) & 0xefc60000;
    return (value ^ (value >>> 18)) >>> 0;
  }

  /** Uniform in 0 … count − 1, drawn as Python's `_randbelow` draws: too large numbers are thrown away. */
  below(count: number): number {
    const shift = Math.clz32(count);
    let value = this.integer() >>> shift;
    while (value >= count) value = this.integer() >>> shift;
    return value;
  }
}

/** The numbers 0 … count − 1 in the order into which `random.seed(seed); random.shuffle(list)` brings a list. */
export function shuffledOrder(count: number, seed: number): Int32Array {
  const random = new MersenneTwister(seed);
  const order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  for (let i = count - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const kept = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = kept;
  }
  return order;
}

/** `str(x)` of a Python float: as in JavaScript, but whole numbers keep their ".0". */
export function printFloat(value: number): string {
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

// JavaScript's `trim` also takes U+FEFF and leaves the separators U+001C … U+001F and U+0085.
const SPACE = new RegExp(String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`);

/** `text.strip()` */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (end > 0 && SPACE.test(text[end - 1] ?? '')) end--;
  while (start < end && SPACE.test(text[start] ?? '')) start++;
  return text.slice(start, end);
}

const UNPRINTABLE = /[\p{C}\p{Z}]/u;
const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** `repr(text)`, with the quotes and the escapes that Python chooses. */
export function printString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let printed = quote;
  for (const character of text) {
    const escape = ESCAPES[character];
    if (escape !== undefined) printed += escape;
    else if (character === quote) printed += `\\${quote}`;
    else if (character !== ' ' && UNPRINTABLE.test(character)) printed += escapeCode(character.codePointAt(0) ?? 0);
    else printed += character;
  }
  return printed + quote;
}

function escapeCode(code: number): string {
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

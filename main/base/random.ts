// The lab's only source of randomness: a small seeded generator (xoshiro128**). Streams are derived by name (seed, update,
// episode …), so what one part draws never shifts what another part draws, and nothing has to be saved for a resumed run to repeat.

export class Random {
  #s: Uint32Array;

  private constructor(state: Uint32Array) {
    this.#s = state;
  }

  /** A separate stream for every different list of keys. */
  static from(...keys: readonly (number | string)[]): Random {
    let hash = 0x811c9dc5;
    const text = keys.map((key) => `${typeof key}:${key}`).join('|');
    const state = new Uint32Array(4);
    for (let lane = 0; lane < 4; lane++) {
      hash = Math.imul(hash ^ (lane + 1), 0x9e3779b1);
      for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
      hash ^= hash >>> 15;
      hash = Math.imul(hash, 0x85ebca6b);
      hash ^= hash >>> 13;
      state[lane] = hash;
    }
    if (state.every((word) => word === 0)) state[0] = 1;
    const random = new Random(state);
    for (let i = 0; i < 8; i++) random.integer();
    return random;
  }

  /** Uniform over all 32-bit unsigned integers. */
  integer(): number {
    const s = this.#s as unknown as [number, number, number, number];
    const x = Math.imul(s[1], 5);
    const result = Math.imul((x << 7) | (x >>> 25), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** Uniform in [0, 1) with 53 bits. */
  next = (): number => (this.integer() * 0x200000 + (this.integer() >>> 11)) / 0x20000000000000;

  /** Uniform in 0 … count − 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('Random.pick was given an empty list');
    return item;
  }

  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }

  /** Standard normal (Box–Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}

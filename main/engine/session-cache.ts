// Sessions by name, made when first asked for. Every shape of a batch is a session with its own memory, so only a limited number is
// kept: the least recently used one is disposed of first.

export interface Disposable {
  dispose(): Promise<void>;
}

export class SessionCache<T extends Disposable> {
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, T>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  async get(key: string, create: () => Promise<T>): Promise<T> {
    const found = this.#entries.get(key);
    if (found) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
      return found;
    }
    const [oldest] = this.#entries;
    if (oldest && this.#entries.size >= this.#limit) {
      this.#entries.delete(oldest[0]);
      await oldest[1].dispose();
    }
    const made = await create();
    this.#entries.set(key, made);
    return made;
  }

  async dispose(): Promise<void> {
    for (const entry of this.#entries.values()) await entry.dispose();
    this.#entries.clear();
  }
}

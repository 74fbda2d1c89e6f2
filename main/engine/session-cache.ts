// Sessions by name, made when first asked for. Every shape of a batch is a session with separate memory, so only a limited number is
// kept: the least recently used one is disposed of first. Caches that share a MemoryPool also share a limit of bytes: before a session
// is made, the least recently used ones of all of them make room. Which sessions are kept changes the time, never the numbers.

export interface Disposable {
  dispose(): Promise<void>;
}

/** A session that is not there yet: what it will hold, and how it is made. */
export interface Planned<T> {
  readonly bytes: number;
  create(): Promise<T>;
}

interface Held {
  readonly bytes: number;
  evict(): Promise<void>;
}

export class MemoryPool {
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  /** `limit` in bytes. */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Makes room for so many bytes; what alone is larger than the limit is let in when nothing else is left. */
  async makeRoom(bytes: number): Promise<void> {
    for (const held of this.#held) {
      if (this.#bytes + bytes <= this.#limit) return;
      await held.evict();
    }
  }

  add(held: Held): void {
    this.#held.add(held);
    this.#bytes += held.bytes;
  }

  use(held: Held): void {
    this.#held.delete(held);
    this.#held.add(held);
  }

  remove(held: Held): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }
}

export class SessionCache<T extends Disposable> {
  readonly #limit: number;
  readonly #pool: MemoryPool;
  /** In the order of their last use. */
  readonly #entries = new Map<string, { readonly session: T; readonly held: Held }>();

  constructor(limit: number, pool: MemoryPool = new MemoryPool()) {
    this.#limit = limit;
    this.#pool = pool;
  }

  get size(): number {
    return this.#entries.size;
  }

  async get(key: string, plan: () => Planned<T>): Promise<T> {
    const found = this.#entries.get(key);
    if (found) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
      this.#pool.use(found.held);
      return found.session;
    }
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= this.#limit) await this.#evict(oldest);
    const { bytes, create } = plan();
    await this.#pool.makeRoom(bytes);
    const session = await create();
    const held = { bytes, evict: () => this.#evict(key) };
    this.#entries.set(key, { session, held });
    this.#pool.add(held);
    return session;
  }

  async dispose(): Promise<void> {
    for (const key of this.#entries.keys()) await this.#evict(key);
  }

  async #evict(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#pool.remove(entry.held);
    await entry.session.dispose();
  }
}

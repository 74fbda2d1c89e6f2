// Sessions by name, made when first asked for. Every shape of a batch is a session with separate memory, so only a limited number is
// kept: the least recently used one is disposed of first. Caches that share a MemoryPool also share a limit of bytes: before a session
// is made, others of all of them make room, as few as possible. Which sessions are kept changes the time, never the numbers.

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

interface PoolOptions {
  /** Bytes in use, those of the sessions among them; default: what the sessions were planned to hold. */
  readonly used?: () => number;
  /** However little is left, sessions of so many bytes may be kept. */
  readonly least?: number;
}

export class MemoryPool {
  readonly #limit: number;
  readonly #used: () => number;
  readonly #least: number;
  /** In the order of their last use. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  /** `limit` in bytes. */
  constructor(limit = Number.POSITIVE_INFINITY, { used = () => this.#bytes, least = 0 }: PoolOptions = {}) {
    this.#limit = limit;
    this.#used = used;
    this.#least = least;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Makes room for so many bytes; what alone is larger than the limit is let in when nothing else is left. */
  async makeRoom(bytes: number): Promise<void> {
    while (this.#bytes + bytes > this.#least) {
      const missing = this.#used() + bytes - this.#limit;
      const victim = missing > 0 ? this.#victim(missing) : undefined;
      if (!victim) return;
      await victim.evict();
    }
  }

  /**
   * Of the sessions that are large enough the least recently used one; where none is, the largest. Making a session again takes time, so few
   * are given up: where one large session takes the place of another, the small ones stay.
   */
  #victim(missing: number): Held | undefined {
    let largest: Held | undefined;
    for (const held of this.#held) {
      if (held.bytes >= missing) return held;
      if (!largest || held.bytes > largest.bytes) largest = held;
    }
    return largest;
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

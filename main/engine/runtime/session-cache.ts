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
  /** How many are using it right now: then it stays. */
  users: number;
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
      if (held.users > 0) continue;
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

interface Entry<T> {
  readonly session: T;
  readonly held: Held;
}

export class SessionCache<T extends Disposable> {
  readonly #limit: number;
  readonly #pool: MemoryPool;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry<T>>();

  constructor(limit: number, pool: MemoryPool = new MemoryPool()) {
    this.#limit = limit;
    this.#pool = pool;
  }

  get size(): number {
    return this.#entries.size;
  }

  async get(key: string, plan: () => Planned<T>): Promise<T> {
    return (await this.#get(key, plan)).session;
  }

  /** The session is kept as long as `body` uses it, whoever else asks for room meanwhile. */
  async use<R>(key: string, plan: () => Planned<T>, body: (session: T) => Promise<R>): Promise<R> {
    const { session, held } = await this.#get(key, plan, 1);
    try {
      return await body(session);
    } finally {
      held.users--;
    }
  }

  /** `users` are counted before anybody else has a turn. */
  async #get(key: string, plan: () => Planned<T>, users = 0): Promise<Entry<T>> {
    const found = this.#entries.get(key);
    if (found) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
      this.#pool.use(found.held);
      found.held.users += users;
      return found;
    }
    const oldest = this.#entries.size >= this.#limit ? [...this.#entries].find(([, { held }]) => held.users === 0)?.[0] : undefined;
    if (oldest !== undefined) await this.#evict(oldest);
    const { bytes, create } = plan();
    await this.#pool.makeRoom(bytes);
    const session = await create();
    const held = { bytes, users, evict: () => this.#evict(key) };
    const entry = { session, held };
    this.#entries.set(key, entry);
    this.#pool.add(held);
    return entry;
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

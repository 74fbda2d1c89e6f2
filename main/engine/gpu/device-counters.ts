// What a device costs beside its arithmetic, counted: calls, kernels, bytes that travel in either direction, and the time the host waits
// for it. On a device these decide more than the arithmetic does: a call takes a fixed time, a kernel has to be launched, and a byte
// travels ten times slower than it is read.

export interface DeviceCounts {
  readonly calls: number;
  /** Nodes that compute something in the graphs as they are written; the runtime does not say how many it launched. */
  readonly kernels: number;
  /** Bytes sent to the device, and brought back. */
  readonly up: number;
  readonly down: number;
  /** Seconds inside calls: the host waits, the device works. */
  readonly waiting: number;
  /** Tokens that were drawn, and bytes that travelled for it in either direction. */
  readonly tokens: number;
  readonly sampling: number;
  /** Bytes that travelled for scoring and for optimizer steps. */
  readonly learning: number;
}

const NOTHING: DeviceCounts = { calls: 0, kernels: 0, up: 0, down: 0, waiting: 0, tokens: 0, sampling: 0, learning: 0 };

export class DeviceCounters {
  #counts = NOTHING;

  /** One call. */
  add({ kernels, up, down, waiting }: Pick<DeviceCounts, 'kernels' | 'up' | 'down' | 'waiting'>): void {
    const before = this.#counts;
    this.#counts = {
      ...before,
      calls: before.calls + 1,
      kernels: before.kernels + kernels,
      up: before.up + up,
      down: before.down + down,
      waiting: before.waiting + waiting,
    };
  }

  /** What travels while the work is done counts as sampling of so many tokens. */
  async sampling(work: () => Promise<number>): Promise<void> {
    const before = this.#counts;
    const tokens = await work();
    const { up, down } = this.#counts;
    const bytes = up + down - before.up - before.down;
    this.#counts = { ...this.#counts, tokens: this.#counts.tokens + tokens, sampling: this.#counts.sampling + bytes };
  }

  /** What travels while the work is done counts as learning. */
  async learning<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#counts;
    const result = await work();
    const { up, down } = this.#counts;
    this.#counts = { ...this.#counts, learning: this.#counts.learning + up + down - before.up - before.down };
    return result;
  }

  get counts(): DeviceCounts {
    return this.#counts;
  }

  /** The counts since the last time this was called. */
  take(): DeviceCounts {
    const counts = this.#counts;
    this.#counts = NOTHING;
    return counts;
  }
}

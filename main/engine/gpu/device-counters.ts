// What a device costs beside its arithmetic, counted: calls, kernels, bytes that travel in either direction, and the time the host waits
// for it. On a device these decide more than the arithmetic does: a call takes a fixed time, a kernel has to be launched, and a byte
// travels ten times slower than it is read.

export interface DeviceCounts {
  readonly calls: number;
  /** Nodes that compute something in the graphs as they are written; the runtime does not say how many it launched. */
  readonly kernels: number;
  readonly bytesUploaded: number;
  readonly bytesDownloaded: number;
  /** Inside calls: the host waits, the device works. */
  readonly hostWaitSeconds: number;
  /** Tokens that were drawn, and bytes that travelled for it in either direction. */
  readonly tokens: number;
  readonly sampling: number;
  /** Bytes that travelled for scoring and for optimizer steps. */
  readonly learning: number;
}

const NOTHING: DeviceCounts = {
  calls: 0,
  kernels: 0,
  bytesUploaded: 0,
  bytesDownloaded: 0,
  hostWaitSeconds: 0,
  tokens: 0,
  sampling: 0,
  learning: 0,
};

const transferred = ({ bytesUploaded, bytesDownloaded }: DeviceCounts): number => bytesUploaded + bytesDownloaded;

export class DeviceCounters {
  #counts = NOTHING;

  /** One call. */
  add({
    kernels,
    bytesUploaded,
    bytesDownloaded,
    hostWaitSeconds,
  }: Pick<DeviceCounts, 'kernels' | 'bytesUploaded' | 'bytesDownloaded' | 'hostWaitSeconds'>): void {
    const before = this.#counts;
    this.#counts = {
      ...before,
      calls: before.calls + 1,
      kernels: before.kernels + kernels,
      bytesUploaded: before.bytesUploaded + bytesUploaded,
      bytesDownloaded: before.bytesDownloaded + bytesDownloaded,
      hostWaitSeconds: before.hostWaitSeconds + hostWaitSeconds,
    };
  }

  /** What travels while the work is done counts as sampling of so many tokens. */
  async sampling(work: () => Promise<number>): Promise<void> {
    const before = this.#counts;
    const tokens = await work();
    const bytes = transferred(this.#counts) - transferred(before);
    this.#counts = { ...this.#counts, tokens: this.#counts.tokens + tokens, sampling: this.#counts.sampling + bytes };
  }

  /** What travels while the work is done counts as learning. */
  async learning<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#counts;
    const result = await work();
    this.#counts = {
      ...this.#counts,
      learning: this.#counts.learning + transferred(this.#counts) - transferred(before),
    };
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

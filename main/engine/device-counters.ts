// What a device costs beside its arithmetic, counted: calls, bytes that travel in either direction, and the time the host waits for it.
// On a device these decide more than the arithmetic does: a call takes a fixed time, and a byte travels ten times slower than it is read.

export interface DeviceCounts {
  readonly calls: number;
  /** Bytes sent to the device, and brought back. */
  readonly up: number;
  readonly down: number;
  /** Seconds inside calls: the host waits, the device works. */
  readonly waiting: number;
}

export class DeviceCounters {
  #calls = 0;
  #up = 0;
  #down = 0;
  #waiting = 0;

  add(up: number, down: number, seconds: number): void {
    this.#calls++;
    this.#up += up;
    this.#down += down;
    this.#waiting += seconds;
  }

  get counts(): DeviceCounts {
    return { calls: this.#calls, up: this.#up, down: this.#down, waiting: this.#waiting };
  }

  /** The counts since the last time this was called. */
  take(): DeviceCounts {
    const { counts } = this;
    this.#calls = 0;
    this.#up = 0;
    this.#down = 0;
    this.#waiting = 0;
    return counts;
  }
}

// Runs a WebAssembly program over a shared memory, in this thread and in lanes beside it. What takes half a millisecond cannot wait for a message to arrive: a lane that has
// computed its share stays and listens for a moment, asleep on a word of shared memory, and is woken through it; only one that has gone back to its messages is called
// by one. This thread computes the first share itself and then waits; that blocks it, as every run of a session does.

import { setImmediate as messages, setTimeout as sleep } from 'node:timers/promises';
import { at } from '../../base/indexed.ts';
import { laneNumber } from '../runtime/lanes.ts';
import type { Lane } from '../runtime/lanes.ts';
import { firstSession } from '../runtime/session.ts';
import { type Kernel, instantiate } from './load.ts';
import { Control, LaneState } from './wasm-assist.ts';

/** Parameters of one call of the program's kernel. */
export type Call = readonly number[];

/** Milliseconds of computing after which this thread looks at its messages: somebody may want to stop it. */
const AT_A_TIME = 20;
/** Milliseconds after which this thread looks whether the lane is still there. */
const PATIENCE = 200;

/** Most parameters of a share's calls. */
const MOST_CALLS = 8192;

/** A function of a module over a memory. */
interface Source {
  readonly module: WebAssembly.Module;
  readonly kernel: string;
  readonly memory: WebAssembly.Memory;
}

/** A lane that helps. */
class Helper {
  readonly #lane: Lane;
  readonly #program: number;
  readonly #control = new Int32Array(new SharedArrayBuffer((Control.first + MOST_CALLS) * Int32Array.BYTES_PER_ELEMENT));
  /** Until the lane goes back to its messages. */
  #stay: Promise<unknown> = Promise.resolve();

  private constructor(lane: Lane, program: number) {
    this.#lane = lane;
    this.#program = program;
  }

  static async open(lane: Lane, { module, kernel, memory }: Source): Promise<Helper> {
    const program = ++programs;
    await lane.ask({ kind: 'load', program, module, kernel, memory });
    return new Helper(lane, program);
  }

  begin(calls: readonly Call[]): void {
    const control = this.#control;
    const parameters = calls[0]?.length ?? 0;
    if (calls.length * parameters > MOST_CALLS) throw new RangeError(`A share of ${calls.length} calls is too long`);
    control[Control.calls] = calls.length;
    control[Control.parameters] = parameters;
    control[Control.failed] = 0;
    let next: number = Control.first;
    for (const call of calls) for (const parameter of call) control[next++] = parameter;
    if (Atomics.compareExchange(control, Control.state, LaneState.listening, LaneState.computing) === LaneState.listening) {
      Atomics.notify(control, Control.state);
      return;
    }
    Atomics.store(control, Control.state, LaneState.computing);
    this.#stay = this.#lane.ask({ kind: 'assist', program: this.#program, control });
    this.#stay.catch(() => {}); // `end` reports it
  }

  async end(): Promise<void> {
    while (Atomics.load(this.#control, Control.state) === LaneState.computing) {
      if (Atomics.wait(this.#control, Control.state, LaneState.computing, PATIENCE) === 'timed-out')
        await Promise.race([this.#stay, sleep(1)]);
    }
    if (this.#control[Control.failed]) await this.#stay;
  }

  async release(): Promise<void> {
    await this.#lane.ask({ kind: 'unload', program: this.#program });
  }
}

/** Programs of this process are numbered: lanes know them by that. */
let programs = 0;

export class WasmProgram {
  readonly #source: Source;
  readonly #run: Kernel;
  readonly #helpers: Helper[] = [];
  #pause = performance.now() + AT_A_TIME;

  private constructor(source: Source) {
    this.#source = source;
    this.#run = instantiate(source.module, source.memory)(source.kernel);
  }

  /** Denormal numbers are rounded in this thread as in the lanes. */
  static async open(module: WebAssembly.Module, kernel: string, memory: WebAssembly.Memory): Promise<WasmProgram> {
    await firstSession();
    return new WasmProgram({ module, kernel, memory });
  }

  /** Every share's calls, one after the other; the shares side by side. */
  async run(shares: readonly (readonly Call[])[]): Promise<void> {
    if (performance.now() > this.#pause) {
      await messages();
      this.#pause = performance.now() + AT_A_TIME;
    }
    const [first = [], ...others] = shares;
    while (this.#helpers.length < others.length) this.#helpers.push(await Helper.open(laneNumber(this.#helpers.length), this.#source));
    const helpers = others.map((calls, i) => {
      const helper = at(this.#helpers, i);
      helper.begin(calls);
      return helper;
    });
    try {
      for (const call of first) this.#run(...call);
    } finally {
      for (const helper of helpers) await helper.end();
    }
  }

  async dispose(): Promise<void> {
    for (const helper of this.#helpers.splice(0)) await helper.release();
  }
}

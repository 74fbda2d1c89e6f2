// The lab's process: started with the application, started again when it ends unexpectedly, with a limit so that one that dies at once does
// not spin. Calls under way at its end fail with the reason; whoever made them may ask again.

import { join } from 'node:path';
import { utilityProcess, type UtilityProcess } from 'electron';
import type { Outcome, Payload } from '../../preload/contract.ts';
import { projectFolder } from '../base/paths.ts';
import type { Desktop } from '../lab/desktop.ts';
import { fromLab, type ToLab } from '../lab/messages.ts';

type Status = Payload<'system.labStatus'>;

/** More unexpected ends than this within a minute and it stays down until it is asked to start. */
const MOST_ENDS = 3;
const MINUTE = 60_000;

export interface LabProcessOptions {
  readonly dataFolder: string;
  readonly desktop: Desktop;
  readonly onEvent: (name: string, payload: unknown) => void;
  readonly onStatus: (status: Status) => void;
}

export class LabProcess {
  readonly #options: LabProcessOptions;
  readonly #waiting = new Map<number, (outcome: Outcome<unknown>) => void>();
  #child: UtilityProcess | null = null;
  #calls = 0;
  #ends: number[] = [];
  #reason = '';
  #closing = false;
  /** How many runs train now. */
  training = 0;

  constructor(options: LabProcessOptions) {
    this.#options = options;
    this.#start(false);
  }

  call(name: unknown, input: unknown): Promise<Outcome<unknown>> {
    // The one call that a lab which stays down is started by.
    if (!this.#child && name === 'system.startLab') this.#start(true);
    return this.#ask((id) => ({ kind: 'call', id, name, input }));
  }

  openFile(file: string): Promise<Outcome<unknown>> {
    return this.#ask((id) => ({ kind: 'file', id, file }));
  }

  /** Resolves when it has ended. */
  async close(): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    if (!child) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    this.#send({ kind: 'close' });
    await ended;
  }

  #start(continues: boolean): void {
    const child = utilityProcess.fork(join(projectFolder(), 'out/main/lab.js'), [], {
      serviceName: 'Astrolab lab',
      env: { ...process.env, ORT_DISABLE_TELEMETRY: '1' },
      stdio: 'inherit',
    });
    this.#child = child;
    child.on('message', (message) => void this.#receive(message));
    child.once('exit', (code) => this.#ended(`exit code ${code}`));
    this.#send({ kind: 'open', dataFolder: this.#options.dataFolder, continues });
  }

  async #receive(raw: unknown): Promise<void> {
    const message = fromLab.parse(raw);
    switch (message.kind) {
      case 'ready':
        return this.#options.onStatus({ state: 'running', reason: this.#reason });
      case 'answer':
        this.#waiting.get(message.id)?.(message.outcome as Outcome<unknown>);
        this.#waiting.delete(message.id);
        return;
      case 'event':
        return this.#options.onEvent(message.name, message.payload);
      case 'training':
        this.training = message.runs;
        return;
      case 'desktop': {
        const { id, method, values } = message;
        try {
          const value: unknown = await Reflect.apply(Reflect.get(this.#options.desktop, method), undefined, values);
          this.#send({ kind: 'desktop', id, value, problem: null });
        } catch (error) {
          this.#send({ kind: 'desktop', id, value: null, problem: error instanceof Error ? error.message : String(error) });
        }
      }
    }
  }

  #ended(reason: string): void {
    this.#child = null;
    this.training = 0;
    this.#reason = reason;
    for (const answer of this.#waiting.values()) answer(stopped(reason));
    this.#waiting.clear();
    if (this.#closing) return;
    const now = performance.now();
    this.#ends = [...this.#ends.filter((time) => now - time < MINUTE), now];
    const failed = this.#ends.length > MOST_ENDS;
    this.#options.onStatus({ state: failed ? 'failed' : 'restarting', reason });
    if (!failed) this.#start(true);
  }

  #ask(message: (id: number) => ToLab): Promise<Outcome<unknown>> {
    if (!this.#child) return Promise.resolve(stopped(this.#reason));
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send(message(id));
    });
  }

  #send(message: ToLab): void {
    this.#child?.postMessage(message);
  }
}

const stopped = (reason: string): Outcome<never> => ({
  ok: false,
  error: {
    code: 'lab-stopped',
    message: `The lab's process ended unexpectedly (${reason}).`,
    hint: 'What was recorded is safe. It starts again by itself; then try again.',
  },
});

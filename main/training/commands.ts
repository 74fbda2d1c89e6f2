// Pause, stop and step: what may be requested of a run from outside. A request that comes during the long work around the updates
// (cloning, V*, rollouts, scoring, evaluation) is obeyed after the batch under way: the stage says how to keep what is done. During an
// optimizer step it waits for the end of the update. Either way there is a file to resume from before anything else happens.

import type { TrainingHost } from './host.ts';
import type { RunCommand } from './reports.ts';

/** Unwinds training after a stop; what was done is on disk. */
export class StopRequested extends Error {
  override name = 'StopRequested';
}

interface Stage {
  readonly update: number;
  /** Keeps what is done, so that a resumed run continues from here with the same results. */
  readonly keep: () => void | Promise<void>;
}

export class CommandHandler {
  readonly #host: Pick<TrainingHost, 'takeCommand' | 'waitForCommand' | 'report'>;
  /** Pause after this update. */
  #until: number | null;
  #stage: Stage | undefined;
  #pausedMs = 0;

  constructor(host: Pick<TrainingHost, 'takeCommand' | 'waitForCommand' | 'report' | 'until'>) {
    this.#host = host;
    this.#until = host.until;
  }

  /** Work during which a request is obeyed at once, after `update` updates. */
  async during<T>(update: number, keep: Stage['keep'], work: () => Promise<T>): Promise<T> {
    const outer = this.#stage;
    this.#stage = { update, keep };
    try {
      return await work();
    } finally {
      this.#stage = outer;
    }
  }

  /** For the work inside `during` to await between its batches. Throws `StopRequested`. */
  readonly poll = async (): Promise<void> => {
    const stage = this.#stage;
    const command = stage && this.#host.takeCommand();
    if (!command) return;
    if ((await this.#obey(command, stage.update, stage.keep)) === 'stop') throw new StopRequested('Stopped as requested');
  };

  /** Carries out what was requested during an update; while paused it waits for the next command. */
  async handle(update: number, save: () => Promise<void>): Promise<'continue' | 'stop'> {
    const command = this.#host.takeCommand() ?? (update === this.#until ? { type: 'pause' as const } : undefined);
    return command ? this.#obey(command, update, save) : 'continue';
  }

  /** Milliseconds that stand still during a pause. */
  readonly now = (): number => performance.now() - this.#pausedMs;

  async #obey(command: RunCommand, update: number, keep: Stage['keep']): Promise<'continue' | 'stop'> {
    if (command.type === 'go') return 'continue';
    await keep();
    if (command.type === 'stop') return 'stop';
    const begin = performance.now();
    await this.#host.report({ type: 'paused', update });
    let next: RunCommand = command;
    while (next.type === 'pause') next = await this.#host.waitForCommand();
    this.#pausedMs += performance.now() - begin;
    if (next.type === 'stop') return 'stop';
    this.#until = next.until;
    return 'continue';
  }
}

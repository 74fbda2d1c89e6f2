// Pause, stop and step: what may be requested of a run from outside. A request takes effect after the current update, with a
// checkpoint, so that nothing is lost whatever comes next.

import type { TrainingHost } from './host.ts';

export class CommandHandler {
  readonly #host: Pick<TrainingHost, 'takeCommand' | 'waitForCommand' | 'report'>;
  /** Pause after this update. */
  #until: number | null;

  constructor(host: TrainingHost) {
    this.#host = host;
    this.#until = host.until;
  }

  /** Carries out what was requested during an update; while paused it waits for the next command. */
  async handle(update: number, save: () => Promise<void>): Promise<'continue' | 'stop'> {
    let command = this.#host.takeCommand() ?? (update === this.#until ? { type: 'pause' as const } : undefined);
    if (command?.type !== 'pause' && command?.type !== 'stop') return 'continue';
    await save();
    if (command.type === 'stop') return 'stop';
    await this.#host.report({ type: 'paused', update });
    while (command.type === 'pause') command = await this.#host.waitForCommand();
    this.#until = command.type === 'go' ? command.until : null;
    return command.type === 'stop' ? 'stop' : 'continue';
  }
}

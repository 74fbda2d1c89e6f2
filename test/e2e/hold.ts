// Holds a training process still at what it says, so that it cannot go on before a test has acted (hold.cjs runs inside of it).

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './app.ts';
import type { LaunchOptions } from './app.ts';

export class Hold {
  readonly #folder = mkdtempSync(join(tmpdir(), 'astrolab-hold-'));

  /** For `launch`. */
  get options(): LaunchOptions {
    const program = fileURLToPath(new URL('hold.cjs', import.meta.url));
    return { switches: ['-r', program], environment: { ASTROLAB_TEST_HOLD: this.#folder } };
  }

  /** The next process that reports something with this text will stand still. */
  at(text: string): void {
    writeFileSync(join(this.#folder, 'awaited'), text);
  }

  /** Does something while it stands still, then lets it continue. */
  async during(act: (pid: number) => Promise<void>): Promise<void> {
    const held = join(this.#folder, 'held');
    await until('a process to stand still', async () => existsSync(held));
    const pid = Number(readFileSync(held, 'utf8'));
    rmSync(held);
    try {
      await act(pid);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

// A login node without Slurm: a program `ssh` that runs the command here, and programs of Slurm that take every job and know none. What ssh
// was asked is kept, and a file in place of the archive can be put in, so that a test can be the login node that lies.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUps } from '../store/clean-ups.ts';

const SSH = `#!/bin/bash
here=$(dirname "$0")
for command; do :; done
printf '%s\\n--\\n' "$command" >> "$here/asked"
case "$command" in *'tar -cf'*) [ -e "$here/archive" ] && { cat > /dev/null; exec cat "$here/archive"; } ;; esac
case "$command" in *'tar -cf'*) [ -e "$here/answer" ] && exec bash "$here/answer" ;; esac
exec bash -c "$command"
`;

export class PretendedLogin {
  readonly #bin: string;

  /** On the path until the test ends. */
  constructor(folder: string) {
    this.#bin = join(folder, 'bin');
    mkdirSync(this.#bin, { recursive: true });
    const program = (name: string, text: string): void => {
      writeFileSync(join(this.#bin, name), text);
      chmodSync(join(this.#bin, name), 0o755);
    };
    program('ssh', SSH);
    for (const name of ['squeue', 'sacct', 'scontrol', 'scancel']) program(name, '#!/bin/sh\nexit 0\n');
    program('sbatch', '#!/bin/sh\necho 4242\n');
    const before = process.env.PATH;
    process.env.PATH = `${this.#bin}:${before}`;
    cleanUps.push(() => (process.env.PATH = before));
  }

  /** Every command that a shell there was given. */
  asked(): string[] {
    const file = join(this.#bin, 'asked');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n--\n').filter(Boolean) : [];
  }

  /** From now on every archive is this one. */
  sendArchive(archive: Uint8Array): void {
    writeFileSync(join(this.#bin, 'archive'), archive);
  }

  /** From now on every archive is what this script prints. */
  sendOutputOf(script: string): void {
    writeFileSync(join(this.#bin, 'answer'), script);
  }
}

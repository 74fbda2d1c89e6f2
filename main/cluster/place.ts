// Where a cluster's commands run and its files are: this machine, or another one over ssh. Over ssh the folder of submissions is mirrored
// in the data folder: `push` and `pull` bring named files there and here through tar, so that everything else reads plain local files.

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { ClusterSettings } from './clusters.ts';
import { ClusterError, folderHere } from './clusters.ts';

export interface Answer {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface Place {
  /** The folder of submissions as this machine sees it, and as the cluster does. */
  readonly here: string;
  readonly there: string;
  /** Runs a program where sbatch is. Code 127 when there is none, 255 when the host cannot be reached. */
  run(argv: readonly string[], input?: string): Promise<Answer>;
  /** Brings files or folders (relative to the folder of submissions) to the cluster. */
  push(names: readonly string[]): Promise<void>;
  /** Brings what matches these patterns of the shell here; what does not exist is left out. */
  pull(patterns: readonly string[]): Promise<void>;
}

/** A command that says nothing for so long counts as silent. */
const PATIENCE_MS = 60_000;
/** sysexits' "unavailable": the command did not answer in time. */
const SILENT = 69;
/** No questions: what needs a password fails with a message. */
const SSH_OPTIONS = ['-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=15'];

export function openPlace(dataFolder: string, cluster: ClusterSettings): Place {
  const here = folderHere(dataFolder, cluster);
  mkdirSync(here, { recursive: true });
  return cluster.host === '' ? new LocalPlace(here) : new SshPlace(here, cluster);
}

class LocalPlace implements Place {
  readonly here: string;
  readonly there: string;

  constructor(folder: string) {
    this.here = folder;
    this.there = folder;
  }

  run([program = '', ...args]: readonly string[], input = ''): Promise<Answer> {
    return execute(program, args, Buffer.from(input)).then(text);
  }

  push(): Promise<void> {
    return Promise.resolve();
  }

  pull(): Promise<void> {
    return Promise.resolve();
  }
}

class SshPlace implements Place {
  readonly here: string;
  readonly there: string;
  readonly #host: string;

  constructor(here: string, { host, folder }: ClusterSettings) {
    this.here = here;
    this.there = folder;
    this.#host = host;
  }

  run(argv: readonly string[], input = ''): Promise<Answer> {
    return this.#shell(argv.map(quoted).join(' '), Buffer.from(input)).then(text);
  }

  async push(names: readonly string[]): Promise<void> {
    const packed = await execute('tar', ['-C', this.here, '-cf', '-', ...names]);
    if (packed.code !== 0) throw new ClusterError(`${names.join(', ')} could not be packed: ${packed.errors}`);
    const there = quoted(this.there);
    this.#need(await this.#shell(`mkdir -p ${there} && tar -C ${there} -xf -`, packed.output), `copying to ${this.there}`);
  }

  async pull(patterns: readonly string[]): Promise<void> {
    // The shell there finds the files; an empty archive is no failure.
    const find = `for f in ${patterns.join(' ')}; do [ -e "$f" ] && printf '%s\\n' "$f"; done`;
    // tar's 1 says that a file grew meanwhile: its beginning is there, the rest comes next time.
    const pack = 'tar -cf - -T - --ignore-failed-read; code=$?; [ $code -le 1 ] || exit $code';
    const command = `cd ${quoted(this.there)} 2>/dev/null || exit 0; ${find} | { ${pack}; }`;
    const packed = this.#need(await this.#shell(command), `copying from ${this.there}`);
    if (packed.length === 0) return;
    const unpacked = await execute('tar', ['-C', this.here, '-xf', '-'], packed);
    if (unpacked.code !== 0) throw new ClusterError(`What ${this.#host} sent could not be unpacked: ${unpacked.errors}`);
  }

  #shell(command: string, input: Uint8Array = new Uint8Array()): Promise<RawAnswer> {
    return execute('ssh', [...SSH_OPTIONS, this.#host, command], input);
  }

  #need({ code, output, errors }: RawAnswer, what: string): Buffer {
    if (code === 0) return output;
    const hint = `\`ssh -o BatchMode=yes ${this.#host} true\` must work without a question; keys and hosts are those of your ~/.ssh`;
    throw new ClusterError(`${this.#host} did not answer while ${what}: ${errors.trim() || `exit code ${code}`}`, hint);
  }
}

const quoted = (argument: string): string => (/^[\w./:=,@%+-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`);

interface RawAnswer {
  readonly code: number;
  readonly output: Buffer;
  readonly errors: string;
}

const text = ({ code, output, errors }: RawAnswer): Answer => ({ code, output: output.toString('utf8'), errors });

function execute(program: string, args: readonly string[], input: Uint8Array = new Uint8Array()): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: PATIENCE_MS, killSignal: 'SIGKILL' });
    const output: Buffer[] = [];
    let errors = '';
    child.stdout.on('data', (data: Buffer) => output.push(data));
    child.stderr.on('data', (data) => (errors += String(data)));
    child.stdin.on('error', () => {}); // a program that reads nothing
    child.on('error', (error) => resolve({ code: 127, output: Buffer.alloc(0), errors: error.message }));
    child.on('close', (code, signal) =>
      resolve({
        code: code ?? SILENT,
        output: Buffer.concat(output),
        errors: signal === null ? errors : `${errors} (no answer within ${PATIENCE_MS / 1000} s)`,
      }),
    );
    child.stdin.end(input);
  });
}

// One program, or one connection to an OpenEnv server, as a queue: lines go in, their answers come out in the same order, each within its
// time. Lives in a separate thread (thread.ts). A program runs in a separate process group, so that what it forks ends
// with it, and with an environment that holds a path and a language but no secrets.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { WorldManifest } from './manifest.ts';

/** Why there is no answer. `text` is the answer's line when there is one. */
export type Reply =
  | { readonly line: string }
  | { readonly failed: 'exit' | 'timeout' | 'too-long' | 'no-start' | 'silent-end' | 'unasked'; readonly detail: string };

export interface Channel {
  /** Sends lines; `answered` is called once for each, in order. */
  send(lines: readonly string[], answered: (reply: Reply) => void): void;
  readonly dead: boolean;
  /** 0 where there is no program. */
  readonly pid: number;
  close(): void;
}

interface Waiting {
  readonly answered: (reply: Reply) => void;
}

const LAST_WORDS = 2000;
/** How long the last answers of a program that has ended may still be on their way. */
const GRACE_MS = 100;

/** What a program needs to run at all; everything else in the lab's environment stays there. */
const PASSED_ON =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|COMSPEC|PATHEXT|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA|VIRTUAL_ENV|CONDA_PREFIX|LD_LIBRARY_PATH)$/i;

export function worldEnvironment(helpers: string): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passed), PYTHONPATH: helpers, PYTHONDONTWRITEBYTECODE: '1', PYTHONHASHSEED: '0', ASTROLAB_WORLD: '1' };
}

/** What both kinds share: the queue of those who wait, and the clock. */
abstract class Queue implements Channel {
  protected readonly world: WorldManifest;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #answered = 0;
  /** The first line that answers nothing. */
  #unasked: string | undefined;
  dead = false;
  pid = 0;

  constructor(world: WorldManifest) {
    this.world = world;
  }

  send(lines: readonly string[], answered: (reply: Reply) => void): void {
    if (this.dead) {
      for (let index = 0; index < lines.length; index++) answered({ failed: 'exit', detail: this.lastWords() });
      return;
    }
    if (this.#unasked !== undefined) this.fail('unasked', this.#unasked.slice(0, 120));
    if (this.dead) {
      for (let index = 0; index < lines.length; index++) answered({ failed: 'unasked', detail: this.#unasked?.slice(0, 120) ?? '' });
      return;
    }
    for (let index = 0; index < lines.length; index++) this.#waiting.push({ answered });
    this.write(lines);
    this.#watch();
  }

  abstract write(lines: readonly string[]): void;
  abstract close(): void;
  abstract lastWords(): string;

  protected arrived(line: string): void {
    const next = this.#waiting.shift();
    if (!next) {
      this.#unasked ??= line;
      return;
    }
    this.#answered += 1;
    next.answered({ line });
    this.#watch();
  }

  /** Nobody who waits will get an answer. */
  protected fail(failed: Extract<Reply, { failed: string }>['failed'], detail: string): void {
    if (this.dead) return;
    this.dead = true;
    clearTimeout(this.#timer);
    this.close();
    for (const { answered } of this.#waiting.splice(0)) answered({ failed, detail });
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const { start, message } = this.world.seconds;
    const limit = this.#answered === 0 ? Math.max(start, message) : message;
    this.#timer = setTimeout(() => this.fail('timeout', `${limit} s. ${this.lastWords()}`), limit * 1000);
  }
}

export class Program extends Queue {
  readonly #child: ChildProcessWithoutNullStreams;
  #parts: Buffer[] = [];
  #length = 0;
  #stderr = '';

  constructor(world: WorldManifest, folder: string, helpers: string) {
    super(world);
    const [command = '', ...args] = world.command ?? [];
    this.#child = spawn(command, args, {
      cwd: folder,
      env: worldEnvironment(helpers),
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stdout.on('data', (data: Buffer) => this.#read(data));
    this.#child.stderr.on('data', (data: Buffer) => (this.#stderr = (this.#stderr + data.toString('utf8')).slice(-LAST_WORDS)));
    this.#child.stdin.on('error', () => {}); // a program that has gone: its end is reported by 'exit'
    this.#child.on('error', (error) => this.fail('no-start', error.message));
    this.#child.on('exit', (code, signal) => {
      const how = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
      const kind = code === 0 ? 'silent-end' : 'exit';
      setTimeout(() => this.fail(kind, `${how}. ${this.lastWords()}`), GRACE_MS);
    });
  }

  write(lines: readonly string[]): void {
    this.#child.stdin.write(`${lines.join('\n')}\n`);
  }

  lastWords(): string {
    const text = this.#stderr.trim();
    return text === '' ? 'It wrote nothing to standard error.' : `The last it wrote to standard error:\n${text.slice(-LAST_WORDS)}`;
  }

  close(): void {
    this.dead = true;
    const { pid } = this.#child;
    this.#child.stdout.removeAllListeners('data').resume();
    try {
      if (pid !== undefined && process.platform !== 'win32') process.kill(-pid, 'SIGKILL');
      else this.#child.kill('SIGKILL');
    } catch {
      // it had already gone, with all that it started
    }
  }

  #read(data: Buffer): void {
    let from = 0;
    for (;;) {
      const end = data.indexOf(10, from);
      if (end === -1) break;
      this.#parts.push(data.subarray(from, end));
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      if (line.length > this.world.bytes) return this.#tooLong(line.length);
      if (line.trim() !== '') this.arrived(line);
    }
    this.#parts.push(data.subarray(from));
    this.#length += data.length - from;
    if (this.#length > this.world.bytes) this.#tooLong(this.#length);
  }

  #tooLong(length: number): void {
    this.#parts = [];
    this.fail('too-long', `more than ${this.world.bytes} bytes (${length} and counting)`);
  }
}

export class Connection extends Queue {
  readonly #socket: WebSocket;
  #unsent: string[] = [];
  #fault = '';

  constructor(world: WorldManifest) {
    super(world);
    this.#socket = new WebSocket(world.url ?? '');
    this.#socket.addEventListener('open', () => {
      for (const line of this.#unsent.splice(0)) this.#socket.send(line);
    });
    this.#socket.addEventListener('message', ({ data }) => {
      const line = String(data);
      if (line.length > world.bytes) this.fail('too-long', `more than ${world.bytes} bytes (${line.length})`);
      else this.arrived(line);
    });
    this.#socket.addEventListener('error', () => (this.#fault = `No connection to ${world.url}: is the server running?`));
    this.#socket.addEventListener('close', ({ code }) => this.fail('exit', `the connection was closed (${code}). ${this.#fault}`));
  }

  write(lines: readonly string[]): void {
    if (this.#socket.readyState === WebSocket.OPEN) for (const line of lines) this.#socket.send(line);
    else this.#unsent.push(...lines);
  }

  lastWords(): string {
    return this.#fault;
  }

  close(): void {
    this.dead = true;
    this.#socket.close();
  }
}

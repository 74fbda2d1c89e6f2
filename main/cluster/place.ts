// Where a cluster's commands run and its files are: this machine, or another one over ssh. Over ssh the folder of submissions is mirrored
// in the data folder: `push` and `pull` bring named files there and here through tar, so that everything else reads plain local files.
// Commands are fixed but for quoted arguments; names travel as lines of standard input, and only those of a closed form (incoming.ts).

import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ClusterSettings } from './clusters.ts';
import { ClusterError, folderHere } from './clusters.ts';
import {
  DamagedSubmission,
  filesIn,
  isClusterFile,
  isClusterFolder,
  isSubmission,
  openRegularFile,
  plainText,
  readAt,
  submissionsIn,
} from './incoming.ts';

export interface Answer {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** A file relative to the folder of submissions, and the most bytes that it may have. */
export interface WantedFile {
  readonly name: string;
  readonly most: number;
}

export interface Place {
  /** The folder of submissions as this machine sees it, and as the cluster does. */
  readonly here: string;
  readonly there: string;
  /** Runs a program where sbatch is. Code 127 when there is none, 255 when the host cannot be reached. */
  run(argv: readonly string[], input?: string): Promise<Answer>;
  /** The submissions that are there. */
  submissions(): Promise<string[]>;
  /** Brings files or folders (relative to the folder of submissions) to the cluster. */
  push(names: readonly string[]): Promise<void>;
  /** Brings files here; what does not exist is left out. Throws `RefusedFile` where one of them may not be brought. */
  pull(files: readonly WantedFile[]): Promise<void>;
  /** Brings the files of ours here that a folder of a submission has, each of them of at most so many bytes, but for those to skip. */
  pullFolder(folder: string, most: number, skip: (name: string) => boolean): Promise<void>;
  /** The last bytes of a file there; empty where there is none. */
  tail(name: string, bytes: number): Promise<string>;
}

/** A file that the cluster has is not as one of ours could be. */
class RefusedFile extends DamagedSubmission {
  override name = 'RefusedFile';
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.file = file;
  }
}

/** Brings all files that may be brought; gives the reasons for the others by name. */
export async function pullSound(place: Place, files: readonly WantedFile[]): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  for (;;) {
    try {
      await place.pull(files.filter(({ name }) => !refused.has(name)));
      return refused;
    } catch (error) {
      if (!(error instanceof RefusedFile) || refused.has(error.file)) throw error;
      refused.set(error.file, error.message);
    }
  }
}

/** A command that says nothing for so long counts as silent; one that only answers a question has no longer in all. */
const PATIENCE_MS = 60_000;
/** What the answer to a question may be: a hundred thousand jobs take 10 MB. */
const LONGEST_ANSWER = 64 * 1024 ** 2;
const LONGEST_ERRORS = 65_536;
/** sysexits' "unavailable": the command did not answer in time. */
const SILENT = 69;
/** No questions: what needs a password fails with a message. */
const SSH_OPTIONS = ['-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=15'];

export function openPlace(dataFolder: string, cluster: ClusterSettings): Place {
  const here = folderHere(dataFolder, cluster);
  // What runs on the nodes is read from there: it is nobody else's to write, or to read.
  mkdirSync(here, { recursive: true, mode: 0o700 });
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
    return ask(program, args, input);
  }

  submissions(): Promise<string[]> {
    return Promise.resolve(existsSync(this.here) ? readdirSync(this.here).filter(isSubmission) : []);
  }

  push(names: readonly string[]): Promise<void> {
    names.forEach(checkedName);
    return Promise.resolve();
  }

  pull(files: readonly WantedFile[]): Promise<void> {
    files.forEach(({ name }) => checkedFile(name));
    return Promise.resolve();
  }

  pullFolder(folder: string): Promise<void> {
    checkedFolder(folder);
    return Promise.resolve();
  }

  tail(name: string, bytes: number): Promise<string> {
    const handle = openRegularFile(join(this.here, checkedFile(name)));
    if (handle === null) return Promise.resolve('');
    try {
      const { size } = fstatSync(handle);
      return Promise.resolve(readAt(handle, Math.max(0, size - bytes), Math.min(size, bytes)).toString('utf8'));
    } finally {
      closeSync(handle);
    }
  }
}

/** Names of what is in these folders, one a line, below the folder $1. */
const LIST =
  'cd -- "$1" 2>/dev/null || exit 0; while IFS= read -r d; do for f in "$d"/*; do [ -e "$f" ] && printf "%s\\n" "$f"; done; done; exit 0';

/**
 * An archive of those of the named files that are there, below the folder $1; none where there are none. A link is no file of ours. tar's 1 says
 * that a file grew meanwhile: its beginning is in the archive, the rest comes next time. (No exclamation mark: csh would expand it.)
 */
const PACK =
  'cd -- "$1" 2>/dev/null || exit 0; while IFS= read -r f; do [ -h "$f" ] || { [ -f "$f" ] && printf "%s\\n" "$f"; }; done | { IFS= read -r f || exit 0; { printf "%s\\n" "$f"; cat; } | tar -cf - -T - --ignore-failed-read; code=$?; [ $code -le 1 ] || exit $code; }';

const UNPACK = 'umask 077; mkdir -p -- "$1" && tar -C "$1" -xf -';

const TAIL = '[ -f "$1" ] && tail -c "$2" -- "$1"; exit 0';

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
    return ask('ssh', this.#command(argv), input);
  }

  async submissions(): Promise<string[]> {
    return submissionsIn(await this.#list('.'));
  }

  async pullFolder(folder: string, most: number, skip: (name: string) => boolean): Promise<void> {
    const names = filesIn(await this.#list(checkedFolder(folder)), folder).filter((name) => !skip(basename(name)));
    await this.pull(names.map((name) => ({ name, most })));
  }

  async #list(folder: string): Promise<string> {
    const { code, output, errors } = await this.run(['sh', '-c', LIST, 'sh', this.there], `${folder}\n`);
    this.#need(code, errors, `listing ${this.there}`);
    return output;
  }

  async push(names: readonly string[]): Promise<void> {
    const packed: Buffer[] = [];
    const tar = await execute('tar', ['-C', this.here, '-cf', '-', ...names.map(checkedName)], { take: (data) => packed.push(data) });
    if (tar.code !== 0) throw new ClusterError(`${names.join(', ')} could not be packed: ${tar.errors}`);
    const { code, errors } = await execute('ssh', this.#command(['sh', '-c', UNPACK, 'sh', this.there]), { input: packed });
    this.#need(code, errors, `copying to ${this.there}`);
  }

  async pull(files: readonly WantedFile[]): Promise<void> {
    if (files.length === 0) return;
    const wanted = new Map(files.map(({ name, most }) => [checkedFile(name), most]));
    // With the library that it needs only where it is needed: the lab starts without.
    const { ArchiveReader, ArchiveRefused, FileRefused } = await import('./archive.ts');
    const archive = new ArchiveReader(this.here, wanted);
    let sent = 0;
    try {
      const { code, errors } = await execute('ssh', this.#command(['sh', '-c', PACK, 'sh', this.there]), {
        input: [Buffer.from([...wanted.keys()].map((name) => `${name}\n`).join(''))],
        take: (data) => {
          sent += data.length;
          archive.write(data);
        },
      });
      this.#need(code, errors, `copying from ${this.there}`);
      if (sent > 0) archive.end();
    } catch (error) {
      if (!(error instanceof ArchiveRefused)) throw error;
      const message = `What ${this.#host} sent was refused: ${error.message}`;
      if (error instanceof FileRefused) throw new RefusedFile(error.file, message);
      throw new ClusterError(message, 'Ask whoever runs the cluster; nothing outside its mirror was written');
    } finally {
      archive.abandon();
    }
  }

  async tail(name: string, bytes: number): Promise<string> {
    const { code, output, errors } = await this.run(['sh', '-c', TAIL, 'sh', `${this.there}/${checkedFile(name)}`, String(bytes)]);
    this.#need(code, errors, `reading ${name}`);
    return output;
  }

  #command(argv: readonly string[]): string[] {
    return [...SSH_OPTIONS, this.#host, argv.map(quoted).join(' ')];
  }

  #need(code: number, errors: string, what: string): void {
    if (code === 0) return;
    const hint = `\`ssh -o BatchMode=yes ${this.#host} true\` must work without a question; keys and hosts are those of your ~/.ssh`;
    throw new ClusterError(`${this.#host} did not answer while ${what}: ${errors || `exit code ${code}`}`, hint);
  }
}

function checked(name: string, fits: boolean): string {
  if (fits) return name;
  throw new ClusterError(`${JSON.stringify(plainText(name, 200))} is no file of a submission`);
}

const checkedFile = (name: string): string => checked(name, isClusterFile(name));
const checkedFolder = (name: string): string => checked(name, isClusterFolder(name));
const checkedName = (name: string): string => checked(name, isClusterFile(name) || isClusterFolder(name));

const quoted = (argument: string): string => (/^[\w./:=,@%+-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`);

/** A question whose answer is text. */
async function ask(program: string, args: readonly string[], input: string): Promise<Answer> {
  const output: Buffer[] = [];
  let length = 0;
  const take = (data: Buffer): void => {
    if ((length += data.length) > LONGEST_ANSWER) throw new ClusterError(`${program} printed more than ${LONGEST_ANSWER} bytes`);
    output.push(data);
  };
  const { code, errors } = await execute(program, args, { input: [Buffer.from(input)], take, inAll: true });
  return { code, output: Buffer.concat(output).toString('utf8'), errors };
}

interface Execution {
  readonly input?: readonly Buffer[];
  /** Gets what it prints as it comes; ends the program by throwing. */
  readonly take?: (data: Buffer) => void;
  /** The patience is for all of it, not for each silence. */
  readonly inAll?: boolean;
}

function execute(program: string, args: readonly string[], options: Execution): Promise<{ code: number; errors: string }> {
  const { input = [], take, inAll = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    let silent = false;
    const giveUp = (): void => {
      silent = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(giveUp, PATIENCE_MS);
    const alive = (): void => {
      if (inAll) return;
      clearTimeout(timer);
      timer = setTimeout(giveUp, PATIENCE_MS);
    };
    child.stdout.on('data', (data: Buffer) => {
      alive();
      try {
        take?.(data);
      } catch (error) {
        child.stdout.destroy();
        child.kill('SIGKILL');
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    child.stderr.on('data', (data) => {
      if (errors.length < LONGEST_ERRORS) errors += String(data);
    });
    child.stdin.on('drain', alive);
    child.stdin.on('error', () => {}); // a program that reads nothing
    child.on('error', (error) => resolve({ code: 127, errors: error.message }));
    child.on('close', (code) => {
      clearTimeout(timer);
      const said = plainText(errors);
      resolve({ code: code ?? SILENT, errors: silent ? `${said} (no answer within ${PATIENCE_MS / 1000} s)` : said });
    });
    Readable.from(input).pipe(child.stdin);
  });
}

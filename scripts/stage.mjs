// @ts-check
// How the scripts talk: every stage of the set-up is one line (rewritten in place on a terminal, growing in a log), and a
// failure says what was tried, what failed and what the user can do. Plain Node without dependencies, because these
// scripts run before anything is installed.

import { spawn } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A failure that the user can do something about. */
export class SetupError extends Error {
  /** @param {{ tried: string, failed: string, fix: string }} parts */
  constructor({ tried, failed, fix }) {
    super(`${tried}: ${failed}`);
    this.tried = tried;
    this.failed = failed;
    this.fix = fix;
  }

  explain() {
    return [`  tried:  ${this.tried}`, `  failed: ${this.failed.trim().replaceAll('\n', '\n          ')}`, `  to do:  ${this.fix}`].join(
      '\n',
    );
  }
}

/**
 * @typedef {{ out: NodeJS.WriteStream, quiet: boolean }} Voice  Where stage lines go; quiet leaves out those without work.
 * @typedef {{ text: string, worked: boolean }} Outcome
 */

/**
 * Runs one stage and prints its line.
 * @template {Outcome} T
 * @param {Voice} voice
 * @param {string} name
 * @param {(say: (progress: string) => void) => Promise<T>} work
 */
export async function stage(voice, name, work) {
  const { out, quiet } = voice;
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  let progress = '';
  const draw = () => out.write(`\r\x1b[K${name}: ${progress} … ${seconds().toFixed(0)} s`);
  const ticking = out.isTTY ? setInterval(() => progress && draw(), 1000) : undefined;
  const say = (/** @type {string} */ text) => {
    if (!out.isTTY) out.write(progress ? `${text} … ` : `${name}: ${text} … `); // a log file gets one growing line
    progress = text;
    if (out.isTTY) draw();
  };
  const finish = (/** @type {string} */ text) =>
    out.write(`${out.isTTY ? '\r\x1b[K' : ''}${out.isTTY || !progress ? `${name}: ` : ''}${text}\n`);
  try {
    const outcome = await work(say);
    if (outcome.worked) finish(`${outcome.text} (${seconds().toFixed(1)} s)`);
    else if (progress || !quiet) finish(outcome.text);
    return outcome;
  } catch (error) {
    finish('failed');
    throw error;
  } finally {
    clearInterval(ticking);
  }
}

/**
 * Runs a program to its end and collects what it prints.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { onLine?: (line: string) => void }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { onLine, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const stop = () => void child.kill();
    process.once('exit', stop); // whoever ends this script ends what it started
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
        if (onLine) for (const line of text.split('\n')) if (line.trim()) onLine(line.trim());
      });
    }
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}` }));
    child.on('close', (code, signal) => {
      process.off('exit', stop);
      resolve({ code: code ?? 1, output: signal ? `${output}\nended by ${signal}` : output });
    });
  });
}

/**
 * Runs a program in the foreground: same terminal, signals passed on, its exit code handed back.
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [cwd]
 * @returns {Promise<number>}
 */
export function foreground(command, args, env, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env, cwd });
    /** @type {NodeJS.Signals[]} */
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.removeAllListeners(signal).on(signal, () => void child.kill(signal));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 1)));
  });
}

/** @param {number} pid */
function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
const codeOf = (error) => (error instanceof Error && 'code' in error ? error.code : undefined);

/**
 * One set-up at a time: a second one waits for the first, and the lock of a dead process is taken over.
 * @template T
 * @param {string} file
 * @param {(text: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}`;
  for (;;) {
    try {
      writeFileSync(mine, String(process.pid));
      linkSync(mine, file); // a link appears with its content, so nobody ever reads an empty lock
      break;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const holder = Number(readOrEmpty(file));
      if (!holder || holder === process.pid || !alive(holder)) {
        rmSync(file, { force: true });
        continue;
      }
      say(`waiting for another set-up (process ${holder})`);
      await new Promise((wake) => setTimeout(wake, 300));
    } finally {
      rmSync(mine, { force: true });
    }
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
export function readOrEmpty(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export const lockFile = join(root, '.cache', 'setup.lock');

/**
 * The last lines of a program's output, enough to see what went wrong.
 * @param {string} output
 */
export function tail(output, lines = 25) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}

/**
 * Runs a script's main function; a SetupError ends it with its explanation and exit code 1.
 * @param {() => Promise<number | void>} work
 */
export async function main(work) {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.explain()}\n`);
    process.exitCode = 1;
  }
}

// A program of the lab in a Node process beside this one, for work that computes for seconds or minutes on end. It prints one JSON
// document per line; each is parsed and handed over. Cancelling ends the process at once.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { projectFolder } from './paths.ts';

export interface ProgramFile {
  /** Its file in the project, and its name in the bundle. */
  readonly source: string;
  readonly bundle: string;
}

export interface ProgramEnd {
  readonly cancelled: boolean;
  /** The exit code or signal, in words. */
  readonly reason: string;
  /** The last error it printed; empty when it printed none. */
  readonly error: string;
}

export interface Program {
  readonly ended: Promise<ProgramEnd>;
  cancel(): void;
}

const KEPT_CHARACTERS = 2000;

export function startProgram<T>(file: ProgramFile, argument: string, line: z.ZodType<T>, onLine: (line: T) => void): Program {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, [pathOf(file), argument], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors = `${errors}${text.toString()}`.slice(-KEPT_CHARACTERS);
  });
  let cancelled = false;
  const follow = async (): Promise<ProgramEnd> => {
    for await (const text of createInterface({ input: child.stdout })) onLine(line.parse(JSON.parse(text)));
    return { reason: await closed, cancelled, error: lastError(errors) };
  };
  return {
    ended: follow(),
    cancel: () => {
      cancelled = true;
      child.kill('SIGKILL');
    },
  };
}

const lastError = (text: string): string =>
  text
    .trim()
    .split('\n')
    .findLast((part) => /error|memory/i.test(part))
    ?.trim() ?? '';

/** The source when this is the source, the bundle when this is the bundle. */
const pathOf = ({ source, bundle }: ProgramFile): string =>
  join(projectFolder(), import.meta.url.endsWith('.ts') ? source : join('out/main', bundle));

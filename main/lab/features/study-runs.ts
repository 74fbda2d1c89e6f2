// Calls about running a study: the definitions that there are, starting one here or on a cluster, and how far it is.

import type { Catalog } from '../../config/catalog.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../../base/paths.ts';
import { loadDefinition, parseDefinition, type StudyDefinition, studyIds } from '../../study/definition.ts';
import { armsToTune, planRuns } from '../../study/plan.ts';
import { CallFailure, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

/** What is asked for; null takes what the definition says. */
const wanted = z.strictObject({
  study: z.string(),
  /** The name of a cluster; empty: this machine. */
  on: z.string(),
  seeds: z.int().min(1).nullable(),
  updates: z.int().min(1).nullable(),
});
export type WantedStudy = z.infer<typeof wanted>;

const definition = z.object({
  study: z.string(),
  title: z.string(),
  question: z.string(),
  arms: z.number(),
  seeds: z.number(),
  updates: z.number(),
  /** Runs of the study itself, without tuning trials. */
  runs: z.number(),
  /** Trials that come first. */
  trials: z.number(),
  /** Why it cannot be run; null for a sound one. */
  problem: z.string().nullable(),
});
export type StudyDefinitionRow = z.infer<typeof definition>;

const job = z.object({
  study: z.string(),
  on: z.string(),
  state: z.enum(['running', 'stopping', 'done', 'failed', 'stopped']),
  startedAt: z.number(),
  /** The last lines that it said. */
  lines: z.array(z.string()),
  claims: z.array(z.object({ claim: z.string(), verdict: z.string() })),
  /** The saved study, to be compared. */
  saved: z.number().nullable(),
});
export type StudyJob = z.infer<typeof job>;

export const calls = {
  'studyRuns.definitions': { input: nothing, answer: z.object({ definitions: z.array(definition), folder: z.string() }) },
  'studyRuns.jobs': { input: nothing, answer: z.object({ jobs: z.array(job) }) },
  'studyRuns.start': { input: wanted, answer: z.object({}) },
  /** What trains saves a checkpoint and ends; tasks on a cluster continue. Starting again resumes. */
  'studyRuns.stop': { input: z.strictObject({ study: z.string() }), answer: z.object({}) },
  /** The batch scripts that would be submitted first. */
  'studyRuns.dryRun': { input: wanted, answer: z.object({ scripts: z.array(z.string()), tasks: z.number() }) },
};

const LINES = 200;

/** What the command prints with --json. */
const document = z.union([
  z.object({ error: z.object({ message: z.string(), hint: z.string() }) }),
  z.object({ study: z.string(), runs: z.array(z.number()), claims: z.array(z.object({ claim: z.string(), verdict: z.string() })) }),
  z.object({ scripts: z.array(z.string()), tasks: z.number() }),
]);
type Document = z.infer<typeof document>;

export function handlers(lab: Lab): Handlers<typeof calls> {
  const jobs = new Map<string, StudyProcess>();
  const folder = join(lab.dataFolder, 'studies');
  lab.onClose(() => jobs.forEach((job) => job.stop()));
  return {
    'studyRuns.definitions': () => ({
      definitions: [...studyIds(lab.catalog), ...ownIds(folder)].map((study) => rowOf(lab.catalog, study, folder)),
      folder,
    }),

    'studyRuns.jobs': () => ({
      jobs: [...jobs.values()].map((job) => ({ ...job.news(), saved: lab.store.studies.find(job.study)?.id ?? null })),
    }),

    'studyRuns.start': (wanted) => {
      if (jobs.get(wanted.study)?.active === true)
        throw new CallFailure('study-running', `Study ${wanted.study} is running already`, 'Wait for it, or stop it first.');
      const ended = (runs: readonly number[]): void => lab.changed(...runs.filter((run) => lab.store.runs.find(run)));
      jobs.set(wanted.study, new StudyProcess(wanted, commandOf(lab.dataFolder, folder, wanted), ended));
      return {};
    },

    'studyRuns.stop': ({ study }) => {
      jobs.get(study)?.stop();
      return {};
    },

    'studyRuns.dryRun': async (wanted) => {
      const { said, lines } = await finished(launch([...commandOf(lab.dataFolder, folder, wanted), '--dry-run']));
      if (said && 'scripts' in said) return said;
      if (said && 'error' in said) throw new CallFailure('dry-run', said.error.message, said.error.hint);
      throw new CallFailure(
        'dry-run',
        lines.at(-1) ?? 'The command said nothing',
        'Try it in a terminal: lab study run NAME --on CLUSTER --dry-run',
      );
    },
  };
}

/** Definitions of the user. */
function ownIds(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder).flatMap((file) => (/^[a-z0-9][a-z0-9-]*\.json$/.test(file) ? [basename(file, '.json')] : []))
    : [];
}

function readDefinition(catalog: Catalog, study: string, folder: string): StudyDefinition {
  const file = join(folder, `${study}.json`);
  return ownIds(folder).includes(study)
    ? parseDefinition(catalog, JSON.parse(readFileSync(file, 'utf8')), file)
    : loadDefinition(catalog, study);
}

function rowOf(catalog: Catalog, study: string, folder: string): StudyDefinitionRow {
  try {
    const definition = readDefinition(catalog, study, folder);
    const { title, question, arms, seeds, updates, tuning } = definition;
    const plan = { updates, seeds, only: null, set: [] };
    const tuned = Object.fromEntries(arms.map(({ id }) => [id, {}]));
    const counts = { runs: planRuns(catalog, definition, plan, tuned).length, trials: armsToTune(definition, null).length * tuning.trials };
    return { study, title, question, arms: arms.length, seeds: seeds.length, updates, ...counts, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { study, title: study, question: '', arms: 0, seeds: 0, updates: 0, runs: 0, trials: 0, problem };
  }
}

function commandOf(dataFolder: string, folder: string, { study, on, seeds, updates }: WantedStudy): string[] {
  return [
    '--data',
    dataFolder,
    '--json',
    'study',
    'run',
    study,
    ...(ownIds(folder).includes(study) ? ['--definition', join(folder, `${study}.json`)] : []),
    ...(on === '' ? [] : ['--on', on]),
    ...(seeds === null ? [] : ['--seeds', String(seeds)]),
    ...(updates === null ? [] : ['--updates', String(updates)]),
  ];
}

function launch(args: readonly string[]): ChildProcess {
  const cli = import.meta.url.endsWith('.ts') ? 'main/commands/cli.ts' : 'out/main/cli.js';
  return spawn(process.execPath, [join(projectFolder(), cli), ...args], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1', ORT_DISABLE_TELEMETRY: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Finished {
  readonly code: number | null;
  readonly said: Document | null;
  readonly lines: readonly string[];
}

/** The command's end; `heard` gets its last lines as they come. */
function finished(child: ChildProcess, heard: (lines: readonly string[]) => void = () => {}): Promise<Finished> {
  let output = '';
  let rest = '';
  let lines: string[] = [];
  child.stdout?.on('data', (data) => (output += String(data)));
  child.stderr?.on('data', (data) => {
    const parts = `${rest}${String(data)}`.split('\n');
    rest = parts.pop() ?? '';
    lines = [...lines, ...parts].slice(-LINES);
    heard(lines);
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, said: null, lines: [...lines, error.message] }));
    child.on('close', (code) => resolve({ code, said: parsed(output), lines: rest === '' ? lines : [...lines, rest] }));
  });
}

function parsed(output: string): Document | null {
  try {
    return document.safeParse(JSON.parse(output)).data ?? null;
  } catch {
    return null;
  }
}

/** One call of `lab study run`. */
class StudyProcess {
  readonly study: string;
  readonly #on: string;
  readonly #child: ChildProcess;
  readonly #startedAt = Date.now();
  #state: StudyJob['state'] = 'running';
  #lines: readonly string[] = [];
  #claims: StudyJob['claims'] = [];

  constructor({ study, on }: WantedStudy, command: readonly string[], ended: (runs: readonly number[]) => void) {
    this.study = study;
    this.#on = on;
    this.#child = launch(command);
    void this.#follow(ended);
  }

  async #follow(ended: (runs: readonly number[]) => void): Promise<void> {
    const { code, said, lines } = await finished(this.#child, (news) => (this.#lines = news));
    const stopped = this.#state === 'stopping';
    this.#lines = said && 'error' in said && !stopped ? [...lines, said.error.message, said.error.hint] : lines;
    this.#state = code === 0 ? 'done' : stopped ? 'stopped' : 'failed';
    if (!said || !('runs' in said)) return;
    this.#claims = said.claims;
    ended(said.runs);
  }

  get active(): boolean {
    return this.#state === 'running' || this.#state === 'stopping';
  }

  stop(): void {
    if (!this.active) return;
    this.#state = 'stopping';
    this.#child.kill('SIGINT');
  }

  news(): Omit<StudyJob, 'saved'> {
    const { study } = this;
    return { study, on: this.#on, state: this.#state, startedAt: this.#startedAt, lines: [...this.#lines], claims: this.#claims };
  }
}

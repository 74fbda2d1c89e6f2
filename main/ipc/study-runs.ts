// Running a study from the window: `lab study run` in a process of its own over the same data folder, so that what resumes there resumes
// here. Definitions are those of the lab and the JSON files in the data folder's "studies".

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { app } from 'electron';
import { z } from 'zod';
import type { StudyDefinitionRow, StudyJob, studyRunCalls, WantedStudy } from '../../preload/contract/study-runs.ts';
import type { Size } from '../config/presets.ts';
import { projectFolder } from '../base/paths.ts';
import { loadSystems, measureSystem, type MeasuredSystem } from '../study/sources.ts';
import { breakdowns, SOURCES_HEADER, sourcesRow } from '../study/sources-page.ts';
import { loadDefinition, parseDefinition, type StudyDefinition, studyIds } from '../study/definition.ts';
import { armsToTune, planRuns } from '../study/plan.ts';
import type { Context } from './context.ts';
import { CallFailure, type Handlers } from './dispatch.ts';

const LINES = 200;

/** What the command prints with --json. */
const document = z.union([
  z.object({ error: z.object({ message: z.string(), hint: z.string() }) }),
  z.object({ study: z.string(), runs: z.array(z.number()), claims: z.array(z.object({ claim: z.string(), verdict: z.string() })) }),
  z.object({ scripts: z.array(z.string()), tasks: z.number() }),
]);
type Document = z.infer<typeof document>;

const SOURCE_SEEDS = [1, 2, 3];

/** Reads the episodes of up to two dozen runs: between two systems others get their turn. */
async function sourceTables({ lab }: Context, size: Size): Promise<{ tables: { title: string; header: string[]; rows: string[][] }[] }> {
  const measured: MeasuredSystem[] = [];
  for (const system of loadSystems()) {
    await setImmediate();
    measured.push(measureSystem(lab.store, system, { size, seeds: SOURCE_SEEDS }));
  }
  const parts = measured.flatMap((one) => breakdowns(one).map((part) => ({ ...part, title: `${one.system.title}: ${part.title}` })));
  const all = [{ title: 'The systems of the write-ups', header: SOURCES_HEADER, rows: measured.map(sourcesRow) }, ...parts];
  return { tables: all.map(({ title, header, rows }) => ({ title, header: [...header], rows: rows.map((row) => [...row]) })) };
}

export function studyRunHandlers(context: Context): Handlers<typeof studyRunCalls> {
  const jobs = new Map<string, StudyProcess>();
  const folder = join(context.dataFolder, 'studies');
  app.on('will-quit', () => jobs.forEach((job) => job.stop()));
  return {
    'sources.table': ({ size }) => sourceTables(context, size),

    'studyRuns.definitions': () => ({ definitions: [...studyIds(), ...ownIds(folder)].map((study) => rowOf(study, folder)), folder }),

    'studyRuns.jobs': () => ({
      jobs: [...jobs.values()].map((job) => ({ ...job.news(), saved: context.lab.store.studies.find(job.study)?.id ?? null })),
    }),

    'studyRuns.start': (wanted) => {
      if (jobs.get(wanted.study)?.active === true)
        throw new CallFailure('study-running', `Study ${wanted.study} is running already`, 'Wait for it, or stop it first.');
      const ended = (runs: readonly number[]): void => context.lab.changed(...runs.filter((run) => context.lab.store.runs.find(run)));
      jobs.set(wanted.study, new StudyProcess(wanted, commandOf(context.dataFolder, folder, wanted), ended));
      return {};
    },

    'studyRuns.stop': ({ study }) => {
      jobs.get(study)?.stop();
      return {};
    },

    'studyRuns.dryRun': async (wanted) => {
      const { said, lines } = await finished(launch([...commandOf(context.dataFolder, folder, wanted), '--dry-run']));
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

function readDefinition(study: string, folder: string): StudyDefinition {
  const file = join(folder, `${study}.json`);
  return ownIds(folder).includes(study) ? parseDefinition(JSON.parse(readFileSync(file, 'utf8')), file) : loadDefinition(study);
}

function rowOf(study: string, folder: string): StudyDefinitionRow {
  try {
    const definition = readDefinition(study, folder);
    const { title, question, arms, seeds, updates, tuning } = definition;
    const plan = { updates, seeds, only: null, set: [] };
    const tuned = Object.fromEntries(arms.map(({ id }) => [id, {}]));
    const counts = { runs: planRuns(definition, plan, tuned).length, trials: armsToTune(definition, null).length * tuning.trials };
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

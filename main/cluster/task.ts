// One task on a node: trains a run in a separate folder and leaves it as an export. It continues from the newest snapshot of an earlier
// attempt, whichever node that ran on, and makes a snapshot at checkpoints. Attempts never write the same file but for the snapshot, which
// is renamed into place: a lost node that works on without anyone knowing can do no harm, because a run's numbers are the same everywhere.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { cpus, hostname } from 'node:os';
import { basename, join } from 'node:path';
import { parseConfig } from '../config/config.ts';
import { runTraining } from '../process/train-job.ts';
import { newRun, writerOptions } from '../queue/new-run.ts';
import { type Launch, RunQueue } from '../queue/queue.ts';
import { ImportError } from '../interchange/container.ts';
import type { Run } from '../store/runs.ts';
import { Store } from '../store/store.ts';
import { importFile } from '../interchange/import.ts';
import { exportRuns } from '../interchange/transfer.ts';
import { prepareShared } from '../training/prepare.ts';
import type { ReferenceFile } from '../training/host.ts';
import type { RunReport } from '../training/reports.ts';
import { codeIdentity, codeText, sameCode } from './code.ts';
import { EXIT } from './exit.ts';
import {
  attemptOf,
  hashRegularFile,
  MOST_BYTES,
  plainText,
  type ProgressLine,
  readProgressLine,
  readRegularFile,
  readRequest,
  type TaskRequest,
} from './incoming.ts';
import { takeModels } from './models.ts';
import { readShared, sampleKey, writeShared, type SharedContents } from './shared-file.ts';
import { appendLine, writeWhole } from './submission.ts';

const PROGRESS_MS = 2000;
/** Between two snapshots of a run that checkpoints often; the cluster's set-up line may export another time. */
const SNAPSHOT_MS = Number(process.env.ASTROLAB_SNAPSHOT_SECONDS ?? 20) * 1000;

export interface Attempt {
  readonly folder: string;
  readonly task: string;
  /** Job and restart count: no two attempts of a task have the same. */
  readonly label: string;
  /** The array that it belongs to. */
  readonly job: string;
  /** Aborted: save and end. */
  readonly signal: AbortSignal;
}

type Work<K> = Extract<TaskRequest['work'], { kind: K }>;

export async function runTask(attempt: Attempt): Promise<number> {
  const { folder, task, label } = attempt;
  const progress = new ProgressFile(join(folder, 'progress', `${task}.${label}.jsonl`));
  const request = readRequest(folder, task);
  const parent = request.scratch || join(folder, 'work');
  mkdirSync(parent, { recursive: true });
  // A scratch folder may be everybody's: the name cannot be foreseen, and nobody else may look in.
  const work = mkdtempSync(join(parent, `${task}.${label}-`));
  progress.started(attempt.job);
  try {
    const code = codeIdentity();
    if (!sameCode(code, request.code)) {
      throw new Error(
        `The code on this node is ${codeText(code)}, but the lab that submitted this was ${codeText(request.code)}. Give the cluster a copy of the same version (npm run package -- --cluster), or submit again.`,
      );
    }
    if (doneBefore(folder, task)) return EXIT.done;
    takeModels(work, request.models);
    switch (request.work.kind) {
      case 'train':
        return await trainTask(attempt, request.work, progress, work);
      case 'share':
        return await shareTask(attempt, request.work, progress, work);
      case 'test':
        return await testTask(attempt, progress, work);
    }
  } catch (error) {
    progress.add({ is: 'failed', at: Date.now(), reason: plainText(error instanceof Error ? error.message : String(error)) });
    console.error(error instanceof Error ? error.stack : error);
    return EXIT.failed;
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether another attempt has finished: a node that was thought lost, or a job that a crash made forget. */
function doneBefore(folder: string, task: string): boolean {
  return readdirSync(join(folder, 'progress')).some((name) => {
    const attempt = attemptOf(name);
    if (attempt?.task !== task) return false;
    const lines = readRegularFile(join(folder, 'progress', name), MOST_BYTES.progress)
      ?.toString('utf8')
      .split('\n');
    return lines?.some((line) => readProgressLine(line, attempt)?.is === 'done') === true;
  });
}

async function trainTask(attempt: Attempt, work: Work<'train'>, progress: ProgressFile, dataFolder: string): Promise<number> {
  const { folder, task, signal } = attempt;
  const store = Store.open(dataFolder);
  try {
    const own = join(folder, 'snapshots', `${task}.shared`);
    const snapshot = join(folder, 'snapshots', `${task}.astrolab`);
    const known = work.shared === null ? [] : takeShared(store, join(folder, 'shared', `${work.shared}.shared`));
    takeShared(store, own);
    const made = new Made([], new Set(known));
    const run =
      resumed(store, snapshot, work.uid) ??
      store.runs.create({ ...newRun(store.catalog, parseConfig(store.catalog, work.config), work.preset, work.tags), uid: work.uid });
    if (run.updates > 0) progress.add({ is: 'saved', at: Date.now(), update: run.updates });
    const save = (): void => {
      if (!made.empty) writeShared(store, own, made.contents());
      exportRuns(store, [run.id], snapshot);
      progress.add({ is: 'saved', at: Date.now(), update: store.runs.get(run.id).updates });
    };
    let lastSnapshot = performance.now();
    const onReport = (_run: number, report: RunReport): void => {
      made.note(report);
      progress.report(report);
      if (report.type !== 'checkpoint' || report.kept || performance.now() - lastSnapshot < SNAPSHOT_MS) return;
      save();
      lastSnapshot = performance.now();
    };
    const queue = new RunQueue({ store, launch: launchHere(dataFolder), writer: writerOptions, onReport });
    const stop = (): void => {
      if (store.runs.get(run.id).state === 'running') queue.stop(run.id);
    };
    queue.train(run.id);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    await queue.settled();
    signal.removeEventListener('abort', stop);
    const ended = store.runs.get(run.id);
    if (ended.state === 'done') return finish(attempt, store, ended, made, progress);
    // Without a checkpoint there is nothing to continue from.
    if (store.checkpoints.list(run.id).length > 0) save();
    if (ended.state !== 'stopped') throw new Error(ended.reason ?? `The run ended as ${ended.state}`);
    progress.add({ is: 'stopped', at: Date.now(), update: ended.updates });
    return EXIT.saved;
  } finally {
    store.close();
  }
}

/** The result under its name, then the line that vouches for it; what was only needed to continue is deleted. */
function finish({ folder, task, label }: Attempt, store: Store, run: Run, made: Made, progress: ProgressFile): number {
  const name = `${task}.${label}.astrolab`;
  const file = join(folder, 'results', name);
  if (!made.empty) writeShared(store, join(folder, 'results', `${task}.${label}.shared`), made.contents());
  exportRuns(store, [run.id], file);
  progress.done(folder, `results/${name}`, run.updates);
  for (const ending of ['astrolab', 'shared']) rmSync(join(folder, 'snapshots', `${task}.${ending}`), { force: true });
  return EXIT.done;
}

async function shareTask(
  { folder, task }: Attempt,
  { configs }: Work<'share'>,
  progress: ProgressFile,
  dataFolder: string,
): Promise<number> {
  const file = join(folder, 'shared', `${task}.shared`);
  const store = Store.open(dataFolder);
  try {
    // A reference that the lab had already lies there from the beginning.
    takeShared(store, join(folder, 'shared', `${task}.known`));
    const made = new Made(store.references.list(), new Set());
    const { catalog } = store;
    await prepareShared(
      configs.map((config) => parseConfig(catalog, config)),
      {
        catalog,
        dataFolder,
        references: store.references,
        vstar: store.vstar,
        report: (report) => {
          made.note(report);
          progress.report(report);
          if (report.type === 'reference') store.write(() => store.references.add(report.policy));
          if (report.type === 'vstar')
            store.write(() =>
              report.entries.forEach((entry) => store.vstar.add(report.world, { ...entry, samples: entry.returns.length }, entry)),
            );
          return Promise.resolve();
        },
      },
    );
    writeShared(store, file, made.contents());
    progress.done(folder, `shared/${task}.shared`, 0);
    return EXIT.done;
  } finally {
    store.close();
  }
}

/** Proves the way: a database in the task's folder, onnxruntime, and a file that the lab can read. */
async function testTask({ folder, task, label }: Attempt, progress: ProgressFile, work: string): Promise<number> {
  Store.open(work).close();
  const { runSelfTest } = await import('../process/self-test.ts');
  const { value, expected } = await runSelfTest({ steps: 1 });
  if (value !== expected) throw new Error(`onnxruntime computed ${value} on ${hostname()}, ${expected} was expected`);
  const file = `results/${task}.${label}.txt`;
  writeWhole(join(folder, file), `${hostname()}\n`);
  progress.done(folder, file, 0);
  return EXIT.done;
}

/** Training in this process: a node's task needs no second one, and a crash is the scheduler's to notice. */
function launchHere(dataFolder: string): Launch {
  return ({ run, checkpoint, until }, report) => {
    const resumeFrom = checkpoint ? join(dataFolder, ...checkpoint.file.split('/')) : null;
    const job = { kind: 'train' as const, dataFolder, uid: run.uid, config: run.config, resumeFrom, branchFrom: null, until };
    const stopping = new AbortController();
    const ended = new Promise<string>((resolve) =>
      setImmediate(() =>
        runTraining(job, report, stopping.signal).then(
          () => resolve('exit code 0'),
          (error: unknown) => resolve(String(error)),
        ),
      ),
    );
    return { pid: process.pid, stop: () => stopping.abort(), kill: () => {}, ended };
  };
}

/** The samples that the file has. Without it the task draws them itself. */
function takeShared(store: Store, file: string): Iterable<string> {
  try {
    return readShared(store, file);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    console.error(error.message);
    return [];
  }
}

/** The run as an earlier attempt left it. Throws where that cannot be read: only somebody who asks for it begins a run again. */
function resumed(store: Store, snapshot: string, uid: string): Run | undefined {
  if (!existsSync(snapshot)) return undefined;
  try {
    const [found] = importFile(store, snapshot, { only: uid }).runs;
    return found && store.runs.get(found.run);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    renameSync(snapshot, `${snapshot}.refused`);
    throw new Error(
      `The task cannot continue from its snapshot, which was put aside as ${snapshot}.refused: ${error.message} A retry begins the run again.`,
      { cause: error },
    );
  }
}

/** What this attempt made that others, or a later attempt, would otherwise make again. */
class Made {
  readonly #references: ReferenceFile[];
  readonly #samples: { world: string; entries: Extract<RunReport, { type: 'vstar' }>['entries'] }[] = [];

  readonly #shared: ReadonlySet<string>;

  /** `shared`: samples made by others, which need not be reported. */
  constructor(references: readonly ReferenceFile[], shared: ReadonlySet<string>) {
    this.#references = [...references];
    this.#shared = shared;
  }

  get empty(): boolean {
    return this.#references.length + this.#samples.length === 0;
  }

  note(report: RunReport): void {
    if (report.type === 'reference') this.#references.push(report.policy);
    if (report.type !== 'vstar') return;
    const entries = report.entries.filter((entry) => !this.#shared.has(sampleKey(entry)));
    if (entries.length > 0) this.#samples.push({ world: report.world, entries });
  }

  contents(): SharedContents {
    return { references: this.#references, samples: this.#samples };
  }
}

/** The lines that report the attempt's progress to the lab. */
class ProgressFile {
  readonly #file: string;
  #phase = '';
  #told = 0;
  #success: number | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  add(line: ProgressLine): void {
    appendLine(this.#file, line);
  }

  /** The last line, which vouches for the result. */
  done(folder: string, result: string, updates: number): void {
    const found = hashRegularFile(join(folder, result));
    if (found === null) throw new Error(`${result} is not in ${folder}, though it was just written`);
    this.add({ is: 'done', at: Date.now(), file: basename(result), ...found, updates });
  }

  started(job: string): void {
    this.add({
      is: 'started',
      at: Date.now(),
      job,
      node: process.env.SLURMD_NODENAME ?? hostname(),
      processor: cpus()[0]?.model ?? '',
    });
  }

  report(report: RunReport): void {
    if (report.type === 'update') this.#success = report.metrics['rollout.success'] ?? null;
    if (report.type !== 'progress') return;
    const now = performance.now();
    if (report.phase === this.#phase && now - this.#told < PROGRESS_MS) return;
    [this.#phase, this.#told] = [report.phase, now];
    const { phase, done, total } = report;
    this.add({ is: 'progress', at: Date.now(), phase, done, total, success: this.#success });
  }
}

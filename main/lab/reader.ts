// A reader's thread: it has a read-only connection and runs what the features list as their reads, one after the other. What takes long
// happens here, so that the lab itself always answers.

import { parentPort, workerData } from 'node:worker_threads';
import { loadCatalog } from '../plugin/load.ts';
import { Store } from '../store/store.ts';
import { asFailure } from './answer.ts';
import type { Feature } from './definition.ts';
import { FEATURES } from './features.ts';
import { type FromReader, readerData, toReader } from './readers.ts';

const { dataFolder, readOnly } = readerData.parse(workerData);
const send = (message: FromReader): void => parentPort?.postMessage(message);
const features: Readonly<Record<string, () => Promise<Feature>>> = FEATURES;

let store: Store | undefined;
const loaded = loadCatalog(dataFolder);

async function receive(raw: unknown): Promise<void> {
  const { id, feature, name, input } = toReader.parse(raw);
  try {
    const catalog = await loaded;
    store ??= readOnly ? Store.openOrLook(dataFolder, catalog) : Store.read(dataFolder, catalog);
    const read = (await features[feature]?.())?.reads?.[name];
    if (!read) throw new Error(`The feature ${feature} has no read named ${name}`);
    const progress = (share: number, what: string): void => send({ kind: 'progress', id, share, what });
    const value: unknown = await Reflect.apply(read, undefined, [store, input, progress]);
    send({ kind: 'done', id, value });
  } catch (error) {
    send({ kind: 'failed', id, failure: asFailure(error) });
  }
}

// One at a time, also where a read waits for something.
let queue = Promise.resolve();
parentPort?.on('message', (message) => {
  queue = queue.then(() => receive(message));
});

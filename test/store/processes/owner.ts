// A whole pretended lab to be killed: opens the store, resumes or starts run 1, and exits when it is done.

import { Store } from '../../../main/store/store.ts';
import { RunQueue } from '../../../main/queue/queue.ts';
import { newRun } from '../samples.ts';
import { launchPretend } from './launch.ts';

const [, , dataFolder = '', updates = '10', delayMs = '0'] = process.argv;
const store = Store.open(dataFolder);
const queue = new RunQueue({
  store,
  launch: launchPretend(store, { updates: Number(updates), delayMs: Number(delayMs), weightsBytes: 200_000 }),
});
queue.start();
if (store.runs.find(1) === undefined) queue.add([newRun({ planned: Number(updates) })]);
else if (store.runs.get(1).state !== 'done') queue.resume(1);
await queue.settled();
store.close();

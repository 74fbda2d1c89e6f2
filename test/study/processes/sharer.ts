// A lab that trains a list of runs with pretended training processes, beside another one that wants the same: argv is the
// data folder and how long an update takes. Prints its id and the state of every run, and those that it left to the other.

import { trainAll } from '../../../main/study/work.ts';
import { Store } from '../../../main/store/store.ts';
import { launchPretend } from '../../store/processes/launch.ts';
import { wanted } from '../wanted.ts';

const [folder = '', delayMs = '0'] = process.argv.slice(2);
const store = Store.open(folder);
const elsewhere: number[] = [];
const runs = await trainAll(store, wanted(1, 2, 3), {
  launch: launchPretend(store, { delayMs: Number(delayMs) }),
  jobs: 2,
  progress: (now) => void (now.elsewhere && elsewhere.push(now.elsewhere.run)),
});
store.close();
process.stdout.write(JSON.stringify({ runs: runs.map(({ id, state }) => [id, state]), elsewhere }));

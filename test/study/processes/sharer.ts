// A lab that trains a list of runs with pretended training processes, beside another one that wants the same: argv is the
// data folder and after which update each run waits until one of them has left a run to the other. Prints its id and the state of every
// run, and those that it left to the other.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { trainAll } from '../../../main/study/work.ts';
import { Store } from '../../../main/store/store.ts';
import { launchPretend } from '../../store/processes/launch.ts';
import { wanted } from '../wanted.ts';

const [folder = '', holdAt = ''] = process.argv.slice(2);
const released = join(folder, 'released');
const seeds = [1, 2, 3];
const store = Store.open(folder);
const elsewhere: number[] = [];
const runs = await trainAll(store, wanted(...seeds), {
  launch: launchPretend(store, { holds: new Map(seeds.map((seed) => [seed, Number(holdAt)])), released }),
  jobs: 2,
  progress: (now) => {
    if (!now.elsewhere) return;
    elsewhere.push(now.elsewhere.run);
    writeFileSync(released, '');
  },
});
store.close();
process.stdout.write(JSON.stringify({ runs: runs.map(({ id, state }) => [id, state]), elsewhere }));

// Adds runs to a store that another process writes to at the same moment: argv is the data folder, a name and a number.

import { Store } from '../../../main/store/store.ts';
import { parseConfig } from '../../catalog.ts';

const [folder = '', name = '', count = '0'] = process.argv.slice(2);
const store = Store.open(folder);
for (let i = 0; i < Number(count); i++) {
  store.runs.create({
    name: `${name} ${i}`,
    world: 'shop',
    variant: 'grpo',
    preset: null,
    seed: i,
    device: 'cpu',
    config: parseConfig({ seed: i }),
    versions: {},
    planned: 1,
  });
}
store.close();

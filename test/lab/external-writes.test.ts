// What `lab train` does in a terminal is seen by the window that is open beside it, and the window's own writing is not taken for it.

import { expect, test } from 'vitest';
import { ExternalWrites } from '../../main/lab/external-writes.ts';
import { Store } from '../../main/store/store.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { loadPreset, newRun } from '../catalog.ts';

test('runs and studies that another process adds, changes and deletes are told once each', () => {
  const folder = temporaryFolder();
  const [here, elsewhere] = [Store.open(folder), Store.open(folder)];
  const told: string[] = [];
  const outside = new ExternalWrites(
    here,
    {
      onChanged: ({ id, name, state }) => told.push(`${id} ${name} ${state}`),
      onGone: (runs) => told.push(`gone ${runs.join(' ')}`),
      onStudies: () => told.push('studies'),
    },
    1e6,
  );
  const { config } = loadPreset('shop-tiny');
  const make = (store: Store, name: string): number => store.runs.create(newRun({ ...config, name }, null)).id;

  const own = make(here, 'own');
  outside.look();
  expect(told).toEqual([]);

  const other = make(elsewhere, 'other');
  outside.look();
  expect(told.toSorted()).toEqual([`${own} own queued`, `${other} other queued`]); // the window's rows are told again: that does no harm
  outside.look();
  expect(told).toHaveLength(2);

  elsewhere.runs.change(other, { name: 'renamed' });
  outside.look();
  expect(told.slice(2)).toEqual([`${other} renamed queued`]);

  elsewhere.runs.delete([other]);
  outside.look();
  expect(told.slice(3)).toEqual([`gone ${other}`]);

  elsewhere.studies.create('a study', [own]);
  outside.look();
  expect(told.slice(4)).toEqual(['studies']);
  outside.stop();
  here.close();
  elsewhere.close();
});

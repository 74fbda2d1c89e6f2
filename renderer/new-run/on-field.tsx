// Where the runs train: on this machine, or on one of the clusters of Settings.

import { useCall } from '../bridge.ts';
import { Field, Select } from '../components/field.tsx';

export function OnField({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const { data } = useCall('clusters.list', {});
  const clusters = data?.clusters ?? [];
  if (clusters.length === 0) return null;
  const options = [{ value: '', label: 'This machine' }, ...clusters.map(({ name }) => ({ value: name, label: `${name} (Slurm)` }))];
  return (
    <Field label="On" hint={value === '' ? 'Through the queue below' : 'One task per run; Clusters shows them'}>
      {(ids) => <Select {...ids} value={value} options={options} onValue={onValue} />}
    </Field>
  );
}

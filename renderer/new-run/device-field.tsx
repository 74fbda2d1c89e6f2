// What the run trains on, from the devices that passed their self-test here.

import { useCall } from '../bridge.ts';
import { Field, Select } from '../components/field.tsx';
import { capital } from '../format.ts';

interface DeviceFieldProps {
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}

export function DeviceField({ value, error, onValue }: DeviceFieldProps) {
  const { data, error: failed } = useCall('devices.list', { again: false });
  const devices = data?.devices ?? [];
  const current = devices.find(({ id }) => id === value);
  const options = devices.map(({ id, name, ok }) => ({ value: id, label: ok ? `${id}: ${name}` : `${id}: unavailable`, disabled: !ok }));
  // A run may come from a machine with other devices; what it has stays visible.
  if (!current) options.unshift({ value, label: data ? `${value}: not on this machine` : value, disabled: false });
  const hint = failed
    ? `Could not test the devices: ${failed.message}`
    : current
      ? capital(current.reason)
      : data
        ? 'Choose a device of this machine'
        : 'Testing the devices…';
  return (
    <Field label="Device" hint={hint} error={error ?? (current?.ok === false ? `Unavailable: ${current.reason}` : undefined)}>
      {(ids) => <Select {...ids} data-key="device" value={value} options={options} onValue={onValue} />}
    </Field>
  );
}

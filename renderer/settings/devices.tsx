// The devices that a run can train on. Each has trained the same tiny network as the CPU, in a separate process; loss and
// gradient norm are shown side by side, because a device that computes wrongly is worse than none.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { DeviceState } from '../../main/lab/features/devices.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { Explain } from '../components/tooltip.tsx';
import { capital, formatBytes, formatDate } from '../format.ts';
import styles from './settings.module.css';

const known = callOptions('devices.list', { again: false });

export function Devices() {
  const client = useQueryClient();
  const { data, error, refetch } = useCall('devices.list', { again: false });
  const test = useMutation({
    mutationFn: () => call('devices.list', { again: true }),
    onSuccess: (answer) => client.setQueryData(known.queryKey, answer),
  });
  return (
    <Section
      title="Devices"
      hint="A device is available only if its results match the CPU."
      actions={
        <Button icon="chip" disabled={test.isPending || !data} onClick={() => test.mutate()}>
          {test.isPending ? 'Testing…' : 'Test devices'}
        </Button>
      }
    >
      <Card>
        {error && <ErrorState title="Could not test the devices" error={error} retry={() => void refetch()} />}
        {test.error && <ErrorState title="The self-test failed" error={test.error} retry={() => test.mutate()} />}
        {!data && !error && <Loading label="Testing devices" rows={2} />}
        {data && (
          <>
            <ul className={styles.devices} aria-label="Devices">
              {data.devices.map((device) => (
                <DeviceRow key={device.id} device={device} />
              ))}
            </ul>
            <p className={styles.prose}>Tested {formatDate(data.testedAt)}.</p>
          </>
        )}
      </Card>
    </Section>
  );
}

function DeviceRow({ device }: { device: DeviceState }) {
  const { id, name, memory, ok, reason, check } = device;
  return (
    <li className={styles.device}>
      <div className={styles.deviceHead}>
        <Badge tone={ok ? 'success' : 'neutral'}>{ok ? 'available' : 'unavailable'}</Badge>
        <strong>{id}</strong>
        <span>{name}</span>
        {memory !== null && <span className={styles.prose}>{formatBytes(memory)}</span>}
      </div>
      <p className={styles.prose}>{capital(reason)}.</p>
      {check && (
        <table className={styles.check} aria-label={`Self-test of ${id}`}>
          <thead>
            <tr>
              <th scope="col">
                Update
                <Explain what="Self-test" title="Self-test">
                  <p>
                    A tiny Transformer is trained for three updates.{' '}
                    {id === 'cpu' ? 'The expected values come with Astrolab' : 'The CPU computes the expected values'}; gradient norms are
                    compared too, because a wrong gradient leaves the first loss unchanged.
                  </p>
                </Explain>
              </th>
              {check.device.losses.map((_loss, index) => (
                <th key={index} scope="col">
                  {index + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Trace label={id === 'cpu' ? 'Loss, expected' : 'Loss on the CPU'} values={check.cpu.losses} />
            <Trace label="Loss, measured" values={check.device.losses} />
            <Trace label={id === 'cpu' ? 'Gradient norm, expected' : 'Gradient norm on the CPU'} values={check.cpu.norms} />
            <Trace label="Gradient norm, measured" values={check.device.norms} />
          </tbody>
        </table>
      )}
    </li>
  );
}

function Trace({ label, values }: { label: string; values: readonly number[] }) {
  return (
    <tr>
      <th scope="row">{label}</th>
      {values.map((value, index) => (
        <td key={index}>{value.toFixed(5)}</td>
      ))}
    </tr>
  );
}

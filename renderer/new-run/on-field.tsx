// Where runs train: on this machine, or on one of the clusters of Settings. For a cluster the batch scripts can be read first.

import { useMutation } from '@tanstack/react-query';
import { useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field, Select } from '../components/field.tsx';
import { CopyButton } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
import styles from './on-field.module.css';

interface OnFieldProps {
  value: string;
  onValue: (value: string) => void;
  /** Under the field while this machine is chosen. */
  hint: string;
  /** Answers the scripts; undefined where there is nothing to submit. */
  dryRun: (() => Promise<readonly string[]>) | undefined;
}

export function OnField({ value, onValue, hint, dryRun }: OnFieldProps) {
  const { data } = useCall('clusters.list', {});
  const clusters = data?.clusters ?? [];
  const scripts = useMutation({
    mutationFn: async () => (await dryRun?.()) ?? [],
    onError: (error) => toastError('The batch script could not be made', error),
  });
  if (clusters.length === 0) return null;
  const options = [{ value: '', label: 'This machine' }, ...clusters.map(({ name }) => ({ value: name, label: `${name} (Slurm)` }))];
  return (
    <div className={styles.on}>
      <Field label="On" hint={value === '' ? hint : 'One task per run; Clusters shows them'}>
        {(ids) => <Select {...ids} value={value} options={options} onValue={onValue} />}
      </Field>
      {value !== '' && (
        <Button disabled={dryRun === undefined || scripts.isPending} onClick={() => scripts.mutate()}>
          {scripts.isPending ? 'Making the batch script…' : 'Show batch script'}
        </Button>
      )}
      <Dialog
        open={scripts.data !== undefined}
        onClose={() => scripts.reset()}
        title={`Batch script for ${value}`}
        width={820}
        actions={<CopyButton text={scripts.data?.join('\n') ?? ''} label="Copy script" />}
      >
        <p className={styles.note}>This is what sbatch would get. Nothing was submitted.</p>
        {scripts.data?.map((script) => (
          <pre key={script} className={styles.script} tabIndex={0} aria-label="Batch script">
            {script}
          </pre>
        ))}
        {scripts.data?.length === 0 && <p>Every run is finished already: nothing would be submitted.</p>}
      </Dialog>
    </div>
  );
}

// Slurm clusters by name: what a job asks for, and one small job that shows whether it all works.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ClusterForm } from '../../main/lab/features/clusters.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatDuration } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

const stored = callOptions('clusters.list', {});

const NEW: ClusterForm = {
  name: '',
  host: '',
  folder: '',
  code: '',
  partition: '',
  account: '',
  qos: '',
  time: '',
  memory: '',
  cpus: 1,
  gpus: '',
  throttle: 0,
  options: [],
  setup: '',
  warning: 120,
  scratch: '',
};

type TextKey = { [K in keyof ClusterForm]: ClusterForm[K] extends string ? K : never }[keyof ClusterForm];

const TEXTS: readonly { key: TextKey; label: string; hint: string }[] = [
  { key: 'name', label: 'Name', hint: 'Lower-case letters, digits and dashes' },
  { key: 'folder', label: 'Folder', hint: 'For submissions, as every node sees it' },
  { key: 'host', label: 'ssh host', hint: 'Empty where sbatch is on this machine' },
  { key: 'code', label: 'Packed copy', hint: 'Made by npm run package -- --cluster; empty: this lab’s folder' },
  { key: 'partition', label: 'Partition', hint: 'Optional' },
  { key: 'account', label: 'Account', hint: 'Optional' },
  { key: 'qos', label: 'QOS', hint: 'Optional' },
  { key: 'time', label: 'Time limit', hint: 'For example 02:00:00; longer runs are requeued' },
  { key: 'memory', label: 'Memory', hint: 'For example 4G' },
  { key: 'gpus', label: 'GPUs', hint: 'For example 1 or a100:1' },
  { key: 'setup', label: 'Set-up line', hint: 'For example module load gcc' },
  { key: 'scratch', label: 'Scratch folder', hint: 'On the nodes’ local disks; optional' },
];
const NUMBERS = [
  { key: 'cpus', label: 'CPUs per task', hint: '' },
  { key: 'throttle', label: 'Tasks at once', hint: '0: no limit' },
  { key: 'warning', label: 'Checkpoint before the limit', hint: 'Seconds' },
] as const;

export function Clusters() {
  const { data, error, refetch } = useCall('clusters.list', {});
  const [editing, setEditing] = useState<ClusterForm | null>(null);
  return (
    <Section
      title="Clusters"
      hint={
        <>
          Slurm clusters that New run and Studies can use, directly or over ssh with your keys. <Link href="/clusters">Submissions</Link>{' '}
          shows what was sent.
        </>
      }
    >
      <Card>
        {error && <ErrorState title="Could not read the clusters" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading label="Loading clusters" rows={2} />}
        {data?.clusters.map((cluster) => (
          <ClusterRow key={cluster.name} cluster={cluster} onEdit={() => setEditing(cluster)} />
        ))}
        {editing ? (
          <ClusterEditor key={editing.name} start={editing} onClose={() => setEditing(null)} />
        ) : (
          <Button icon="plus" onClick={() => setEditing(NEW)}>
            Add a cluster
          </Button>
        )}
      </Card>
    </Section>
  );
}

function ClusterRow({ cluster, onEdit }: { cluster: ClusterForm; onEdit: () => void }) {
  const client = useQueryClient();
  const { name, host, folder } = cluster;
  const test = useMutation({ mutationFn: () => call('clusters.test', { name }) });
  const remove = (): void => {
    call('clusters.remove', { name }).then(
      () => client.invalidateQueries({ queryKey: stored.queryKey }),
      (problem: unknown) => toastError('Could not remove the cluster', problem),
    );
  };
  return (
    <div>
      <div className={styles.imported}>
        <div>
          <p className={styles.deviceHead}>
            <strong>{name}</strong>
            {test.data && <Badge tone="success">works</Badge>}
            {test.error && <Badge tone="failure">does not work</Badge>}
          </p>
          <p className={styles.prose}>
            {host === '' ? 'sbatch on this machine' : `ssh ${host}`}, {folder}
          </p>
          {test.data && (
            <p className={styles.prose} role="status">
              {test.data.node} ({test.data.processor}) ran {test.data.code} after {formatDuration(test.data.seconds)}.
            </p>
          )}
        </div>
        <div className={styles.buttons}>
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? 'Testing…' : 'Test this cluster'}
          </Button>
          <Button kind="quiet" onClick={onEdit}>
            Edit
          </Button>
          <Button kind="quiet" onClick={remove}>
            Remove
          </Button>
        </div>
      </div>
      {test.error && <ErrorState title={`${name} does not work`} error={test.error} retry={() => test.mutate()} />}
    </div>
  );
}

function ClusterEditor({ start, onClose }: { start: ClusterForm; onClose: () => void }) {
  const client = useQueryClient();
  const [form, setForm] = useState(start);
  const save = useMutation({
    mutationFn: () => call('clusters.save', form),
    onSuccess: async () => {
      toast({ title: `Cluster ${form.name} saved`, tone: 'success' });
      await client.invalidateQueries({ queryKey: stored.queryKey });
      onClose();
    },
  });
  return (
    <form
      aria-label="Cluster"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className={styles.fields}>
        {TEXTS.map(({ key, label, hint }) => (
          <Field key={key} label={label} hint={hint}>
            {(ids) => (
              <TextInput
                {...ids}
                value={form[key]}
                disabled={key === 'name' && start.name !== ''}
                onChange={(event) => setForm({ ...form, [key]: event.target.value })}
              />
            )}
          </Field>
        ))}
        {NUMBERS.map(({ key, label, hint }) => (
          <Field key={key} label={label} hint={hint}>
            {(ids) => (
              <TextInput
                {...ids}
                inputMode="numeric"
                value={String(form[key])}
                onChange={(event) => setForm({ ...form, [key]: Number(event.target.value.replaceAll(/\D/g, '')) })}
              />
            )}
          </Field>
        ))}
        <Field label="Further #SBATCH options" hint="Separated by spaces, for example --exclude=n7 --constraint=avx512">
          {(ids) => (
            <TextInput
              {...ids}
              value={form.options.join(' ')}
              onChange={(event) => setForm({ ...form, options: event.target.value === '' ? [] : event.target.value.split(' ') })}
            />
          )}
        </Field>
      </div>
      {save.error && <ErrorState title="The cluster was not saved" error={save.error} />}
      <Button type="submit" disabled={form.name === '' || form.folder === '' || save.isPending}>
        Save
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
    </form>
  );
}

// What holds for all runs: how many train at the same time, and which episodes new ones keep.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Answer, Input } from '../../preload/contract.ts';
import { MOST_CONCURRENT } from '../../main/base/vocabulary.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Field, Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

type Preferences = Answer<'preferences.read'>;
const stored = callOptions('preferences.read', {});

const KEEP = [
  { value: '', label: 'Preset default' },
  { value: 'all', label: 'All episodes' },
  { value: 'nth', label: 'Every nth update' },
  { value: 'best-worst', label: 'Best and worst of each update' },
  { value: 'evaluation', label: 'Evaluation episodes only' },
] as const;

export function RunPreferences() {
  const client = useQueryClient();
  const { data, error, refetch } = useCall('preferences.read', {});
  const save = useMutation({
    scope: { id: 'preferences' }, // one after the other: each keeps what the one before it has changed
    mutationFn: async (change: Partial<Input<'preferences.change'>>) => {
      const { concurrent, retention } = await client.ensureQueryData(stored);
      return call('preferences.change', { concurrent, retention, ...change });
    },
    onSuccess: (answer: Preferences) => client.setQueryData(stored.queryKey, answer),
    onError: (problem) => toastError('Could not save the setting', problem),
  });
  if (error) return <ErrorState title="Could not read the run settings" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Loading settings" rows={2} />;
  const { concurrent, retention, threads } = data;
  return (
    <Section title="Runs" hint="Applies to new runs.">
      <div className={styles.fields}>
        <Field
          label="Concurrent runs"
          hint={`This machine has ${threads} threads; each run uses its “Threads” setting. More concurrent runs make each one slower.`}
        >
          {(ids) => (
            <Select
              {...ids}
              value={String(concurrent)}
              options={Array.from({ length: MOST_CONCURRENT }, (_, index) => ({ value: String(index + 1), label: String(index + 1) }))}
              onValue={(value) => save.mutate({ concurrent: Number(value) })}
            />
          )}
        </Field>
        <Field
          label="Stored episodes"
          hint="Used for replay. Metrics, evaluation results and checkpoints are always stored. Can be set per run under Retention."
        >
          {(ids) => (
            <Select
              {...ids}
              value={retention ?? ''}
              options={KEEP}
              onValue={(value) => save.mutate({ retention: KEEP.find((option) => option.value === value)?.value || null })}
            />
          )}
        </Field>
      </div>
    </Section>
  );
}

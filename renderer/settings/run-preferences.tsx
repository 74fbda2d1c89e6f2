// What holds for all runs: how many train at the same time, and which episodes new ones keep.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Answer, Input } from '../../preload/contract.ts';
import { MOST_CONCURRENT } from '../../preload/contract/settings.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Field, Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

type Preferences = Answer<'preferences.read'>;
const stored = callOptions('preferences.read', {});

const KEEP = [
  { value: '', label: 'As the preset says' },
  { value: 'all', label: 'All episodes' },
  { value: 'nth', label: 'Those of every nth update' },
  { value: 'best-worst', label: 'The best and worst of each update' },
  { value: 'evaluation', label: 'Those of evaluations only' },
] as const;

export function RunPreferences() {
  const client = useQueryClient();
  const { data, error, refetch } = useCall('preferences.read', {});
  const save = useMutation({
    mutationFn: (next: Input<'preferences.change'>) => call('preferences.change', next),
    onSuccess: (answer: Preferences) => client.setQueryData(stored.queryKey, answer),
    onError: (problem) => toastError('The setting was not changed', problem),
  });
  if (error) return <ErrorState title="The settings for runs could not be read" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Reading the settings" rows={2} />;
  const { concurrent, retention, threads } = data;
  return (
    <Section title="Runs" hint="Counts for everything that is started from now on.">
      <div className={styles.fields}>
        <Field
          label="Runs at the same time"
          hint={`This machine has ${threads} threads; a run uses what its setting “threads” says. More at once means each is slower.`}
        >
          {(ids) => (
            <Select
              {...ids}
              value={String(concurrent)}
              options={Array.from({ length: MOST_CONCURRENT }, (_, index) => ({ value: String(index + 1), label: String(index + 1) }))}
              onValue={(value) => save.mutate({ concurrent: Number(value), retention })}
            />
          )}
        </Field>
        <Field
          label="Episodes that new runs keep"
          hint="For replay. Metrics, evaluation results and checkpoints are always kept. Can be changed for each run under Retention."
        >
          {(ids) => (
            <Select
              {...ids}
              value={retention ?? ''}
              options={KEEP}
              onValue={(value) => save.mutate({ concurrent, retention: KEEP.find((option) => option.value === value)?.value || null })}
            />
          )}
        </Field>
      </div>
    </Section>
  );
}

// "Open the sample study": a real study, brought along with the lab, imported once; then Compare opens on it and the tour is
// offered. Used by the empty states of Runs and Compare.

import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { call, useCall, useLatest } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Progress } from '../components/stat.tsx';
import { toast, toastError } from '../state/toasts.ts';
import { offerTour } from './state.ts';
import styles from './tour.module.css';

const OPEN = ['studies.openSample'];
const PROGRESS = ['studies.sampleProgress'];

/** Under way in one place is under way in all, also for a page that is opened meanwhile. */
export function useOpenSample() {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const { mutate } = useMutation({
    mutationKey: OPEN,
    mutationFn: async () => ({ from: window.location.hash, ...(await call('studies.openSample', {})) }),
    onMutate: () => client.removeQueries({ queryKey: PROGRESS }),
    onSuccess: ({ from, study }) => {
      offerTour(study.id);
      const show = (): void => navigate(`/compare/study-${study.id}`);
      // Whoever has gone elsewhere stays there.
      if (window.location.hash === from) show();
      else toast({ title: 'The sample study is open', tone: 'success', action: { label: 'Show', run: show } });
    },
    onError: (error) => toastError('Could not open the sample study', error),
  });
  const busy = useIsMutating({ mutationKey: OPEN }) > 0;
  return { busy, open: () => mutate() };
}

export function SampleButton({ kind = 'normal' }: { kind?: 'primary' | 'normal' }) {
  const { data } = useCall('studies.list', {});
  const { busy, open } = useOpenSample();
  const progress = useLatest('studies.sampleProgress');
  if (data?.sample !== true) return null;
  return (
    <span className={styles.sample}>
      <Button kind={kind} icon="folder" disabled={busy} onClick={open}>
        {busy ? 'Opening the sample study…' : 'Open the sample study'}
      </Button>
      {busy && (
        <span className={styles.progress}>
          <Progress label="Opening the sample study" value={progress ? progress.done / progress.total : null} />
        </span>
      )}
      {busy && progress && (
        <span role="status">
          {progress.done} of {progress.total} runs
        </span>
      )}
    </span>
  );
}

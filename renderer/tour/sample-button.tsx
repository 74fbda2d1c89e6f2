// "Open the sample study": a real study, brought along with the lab, imported once; then Compare opens on it and the tour is
// offered. Used by the empty states of Runs and Compare.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call, callOptions, useCall, useEvent } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Progress } from '../components/stat.tsx';
import { toastError } from '../state/toasts.ts';
import { offerTour } from './state.ts';
import styles from './tour.module.css';

export function useOpenSample() {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const open = async (): Promise<void> => {
    setBusy(true);
    try {
      const { study } = await call('studies.openSample', {});
      await Promise.all([
        client.invalidateQueries({ queryKey: callOptions('studies.list', {}).queryKey }),
        client.invalidateQueries({ queryKey: callOptions('runs.list', {}).queryKey }),
      ]);
      offerTour(study.id);
      navigate(`/compare/study-${study.id}`);
    } catch (error) {
      toastError('Could not open the sample study', error);
    } finally {
      setBusy(false);
    }
  };
  return { busy, open };
}

export function SampleButton({ kind = 'normal' }: { kind?: 'primary' | 'normal' }) {
  const { data } = useCall('studies.list', {});
  const { busy, open } = useOpenSample();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  useEvent('studies.sampleProgress', setProgress);
  if (data?.sample !== true) return null;
  return (
    <span className={styles.sample}>
      <Button kind={kind} icon="folder" disabled={busy} onClick={() => void open()}>
        {busy ? 'Opening the sample study…' : 'Open the sample study'}
      </Button>
      {busy && (
        <span className={styles.progress}>
          <Progress label="Opening the sample study" value={progress && progress.done / progress.total} />
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

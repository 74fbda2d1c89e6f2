// What the window says when the lab's process has ended: that it starts again, that it runs again (then everything shown is asked for anew), or
// that it has to be started.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Payload } from '../../preload/contract.ts';
import { call, CallError, useEvent } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { useRuns } from '../state/runs.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './lab-status.module.css';

export function LabStatus() {
  const client = useQueryClient();
  const [status, setStatus] = useState<Payload<'system.labStatus'>>({ state: 'running', reason: '' });
  useEvent('system.labStatus', (now) => {
    if (now.state === 'running' && status.state !== 'running') {
      toast({ title: 'The lab is running again', body: 'What trained continues from its last checkpoint.', tone: 'success' });
      void client.invalidateQueries();
    }
    setStatus(now);
  });
  const { error } = useRuns();
  // A window that was opened after the end has only the failure of its first call.
  const ended = status.state === 'failed' || (error instanceof CallError && error.code === 'lab-stopped');
  if (status.state === 'running' && !ended) return null;
  const start = (): void => {
    call('system.startLab', {}).then(
      () => client.invalidateQueries(),
      (failure: unknown) => toastError('The lab was not started', failure),
    );
  };
  return (
    <div className={styles.status} role="alert">
      <Icon name="warning" />
      {status.state === 'restarting' ? (
        <p>The lab’s process ended unexpectedly ({status.reason}) and is starting again. What was recorded is safe.</p>
      ) : (
        <>
          <p>The lab’s process ended several times within a minute{status.reason && ` (${status.reason})`}. What was recorded is safe.</p>
          <Button onClick={start}>Start the lab</Button>
        </>
      )}
    </div>
  );
}

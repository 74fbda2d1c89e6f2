// The original WebShop data: choose its folder, have it checked and indexed once, with progress and a way to stop.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { WebshopState } from '../../preload/contract/webshop.ts';
import { call, callOptions, CallError, useCall, useEvent } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge, Progress } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatBytes, formatDuration } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

const stored = callOptions('webshop.state', {});

export function WebshopData() {
  const client = useQueryClient();
  const { data, error, refetch } = useCall('webshop.state', {});
  const [folder, setFolder] = useState('');
  useEvent('webshop.changed', (state) => client.setQueryData(stored.queryKey, state));
  const load = useMutation({
    mutationFn: () => call('webshop.import', { folder }),
    onSuccess: (state) => {
      toast({ title: 'WebShop data imported', tone: 'success' });
      client.setQueryData(stored.queryKey, state);
    },
  });
  const choose = async (): Promise<void> => {
    try {
      const chosen = (await call('webshop.choose', {})).folder;
      if (chosen !== null) setFolder(chosen);
    } catch (problem) {
      toastError('Could not choose a folder', problem);
    }
  };
  const cancelled = load.error instanceof CallError && load.error.code === 'cancelled' ? load.error : null;
  return (
    <Section
      title="WebShop data"
      hint={
        <>
          WebShop comes with a small built-in catalog. To use the original data (1,000 or 1.18 million products) instead, choose the folder
          with <code>items_shuffle_1000.json</code> or <code>items_shuffle.json</code> and its instructions. It is indexed once; the files
          are not moved.
        </>
      }
    >
      <Card>
        {error && <ErrorState title="Could not read the import status" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading label="Loading status" rows={2} />}
        {data?.imported && <Imported imported={data.imported} />}
        {data?.importing ? (
          <Importing importing={data.importing} />
        ) : (
          data && (
            <form
              className={styles.import}
              onSubmit={(event) => {
                event.preventDefault();
                load.mutate();
              }}
            >
              <Field label="Folder" hint="The index is written next to the files, or to the data folder if that location is read-only.">
                {(ids) => (
                  <TextInput
                    {...ids}
                    value={folder}
                    placeholder="/path/to/webshop/data"
                    onChange={(event) => setFolder(event.target.value)}
                  />
                )}
              </Field>
              <Button icon="folder" onClick={() => void choose()}>
                Choose…
              </Button>
              <Button type="submit" disabled={folder.trim() === '' || load.isPending}>
                Import
              </Button>
            </form>
          )
        )}
        {cancelled && <p className={styles.prose}>{`${cancelled.message} ${cancelled.hint}`}</p>}
        {load.error && !cancelled && <ErrorState title="Import failed" error={load.error} retry={() => load.mutate()} />}
      </Card>
    </Section>
  );
}

function Imported({ imported }: { imported: NonNullable<WebshopState['imported']> }) {
  const { folder, products, goals, index, indexBytes, notes, seconds } = imported;
  const forget = (): void => {
    call('webshop.forget', {}).then(
      () => toast({ title: 'WebShop data removed from the list; its files are unchanged' }),
      (problem: unknown) => toastError('Could not remove the data', problem),
    );
  };
  return (
    <div className={styles.imported}>
      <div>
        <p className={styles.deviceHead}>
          <Badge tone="success">ready</Badge>
          <strong data-testid="products">{products.toLocaleString('en')} products</strong>
          <span>{goals.toLocaleString('en')} tasks</span>
        </p>
        <p className={styles.prose}>
          {folder}, indexed in {formatDuration(seconds)}. The index takes {formatBytes(indexBytes)} in {index}.
          {notes > 0 && ` ${notes} records skipped, as in the original.`}
        </p>
      </div>
      <Button kind="quiet" onClick={forget}>
        Remove
      </Button>
    </div>
  );
}

function Importing({ importing }: { importing: NonNullable<WebshopState['importing']> }) {
  const { folder, share, what, secondsLeft } = importing;
  return (
    <div className={styles.importing}>
      <p>
        Importing {folder}: {what}, {(share * 100).toFixed(0)}%
        {secondsLeft !== null && <span className={styles.prose}>, about {formatDuration(secondsLeft)} left</span>}
      </p>
      <Progress label="Importing WebShop data" value={share} />
      <Button
        onClick={() => {
          call('webshop.cancel', {}).catch((problem: unknown) => toastError('Could not cancel', problem));
        }}
      >
        Cancel
      </Button>
    </div>
  );
}

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
      toast({ title: 'The WebShop data is ready', tone: 'success' });
      client.setQueryData(stored.queryKey, state);
    },
  });
  const choose = async (): Promise<void> => {
    try {
      const chosen = (await call('webshop.choose', {})).folder;
      if (chosen !== null) setFolder(chosen);
    } catch (problem) {
      toastError('No folder was chosen', problem);
    }
  };
  const cancelled = load.error instanceof CallError && load.error.code === 'cancelled' ? load.error : null;
  return (
    <Section
      title="WebShop data"
      hint={
        <>
          The world WebShop comes with a small catalog of its own. The original data (1,000 or 1.18 million products) can be used instead:
          choose the folder with <code>items_shuffle_1000.json</code> or <code>items_shuffle.json</code> and its instructions. It is indexed
          once; the files stay where they are.
        </>
      }
    >
      <Card>
        {error && <ErrorState title="The state of the data could not be read" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading label="Looking for WebShop data" rows={2} />}
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
              <Field label="Folder" hint="Its index is written beside the files, or into the data folder where that is read-only.">
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
        {cancelled && <p className={styles.muted}>{`${cancelled.message} ${cancelled.hint}`}</p>}
        {load.error && !cancelled && <ErrorState title="The data was not imported" error={load.error} retry={() => load.mutate()} />}
      </Card>
    </Section>
  );
}

function Imported({ imported }: { imported: NonNullable<WebshopState['imported']> }) {
  const { folder, products, goals, index, indexBytes, notes, seconds } = imported;
  const forget = (): void => {
    call('webshop.forget', {}).then(
      () => toast({ title: 'The data is no longer offered; its files are untouched' }),
      (problem: unknown) => toastError('That did not work', problem),
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
        <p className={styles.muted}>
          {folder}, indexed in {formatDuration(seconds)}. The index takes {formatBytes(indexBytes)} in {index}.
          {notes > 0 && ` ${notes} records were left out, as in the original.`}
        </p>
      </div>
      <Button kind="quiet" onClick={forget}>
        Stop using it
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
        {secondsLeft !== null && <span className={styles.muted}>, about {formatDuration(secondsLeft)} left</span>}
      </p>
      <Progress label="Import of the WebShop data" value={share} />
      <Button
        onClick={() => {
          call('webshop.cancel', {}).catch((problem: unknown) => toastError('It could not be stopped', problem));
        }}
      >
        Cancel
      </Button>
    </div>
  );
}

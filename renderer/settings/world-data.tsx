// Data that users bring to worlds, one section for each world that takes some: choose its folder, have it checked and indexed once,
// with progress and a way to stop.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import type { WorldData } from '../../main/lab/features/worlds.ts';
import { call, callOptions, CallError, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge, Progress } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatBytes, formatDuration } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

const stored = callOptions('worlds.data', {});

export function WorldDataSections() {
  const { data, error, refetch } = useCall('worlds.data', {});
  if (data) return data.worlds.map((world) => <WorldDataSection key={world.world} data={world} />);
  return (
    <Section title="World data">
      <Card>
        {error ? (
          <ErrorState title="Could not read the import status" error={error} retry={() => void refetch()} />
        ) : (
          <Loading label="Loading status" rows={2} />
        )}
      </Card>
    </Section>
  );
}

function WorldDataSection({ data }: { data: WorldData }) {
  const client = useQueryClient();
  const { world, title, about, files, placeholder, imported, importing } = data;
  const [folder, setFolder] = useState('');
  const load = useMutation({
    mutationFn: () => call('worlds.importData', { world, folder }),
    onSuccess: (state) => {
      toast({ title: `${title} imported`, tone: 'success' });
      client.setQueryData(stored.queryKey, state);
    },
  });
  const choose = async (): Promise<void> => {
    try {
      const chosen = (await call('worlds.chooseData', { world })).folder;
      if (chosen !== null) setFolder(chosen);
    } catch (problem) {
      toastError('Could not choose a folder', problem);
    }
  };
  const cancelled = load.error instanceof CallError && load.error.code === 'cancelled' ? load.error : null;
  return (
    <Section title={title} hint={<About about={about} files={files} />}>
      <Card>
        {imported && <Imported world={world} title={title} imported={imported} />}
        {importing ? (
          <Importing world={world} title={title} importing={importing} />
        ) : (
          <form
            className={styles.import}
            onSubmit={(event) => {
              event.preventDefault();
              load.mutate();
            }}
          >
            <Field label="Folder" hint="The index is written next to the files, or to the data folder if that location is read-only.">
              {(ids) => <TextInput {...ids} value={folder} placeholder={placeholder} onChange={(event) => setFolder(event.target.value)} />}
            </Field>
            <Button icon="folder" onClick={() => void choose()}>
              Choose…
            </Button>
            <Button type="submit" disabled={folder.trim() === '' || load.isPending}>
              Import
            </Button>
          </form>
        )}
        {cancelled && <p className={styles.prose}>{`${cancelled.message} ${cancelled.hint}`}</p>}
        {load.error && !cancelled && <ErrorState title="Import failed" error={load.error} retry={() => load.mutate()} />}
      </Card>
    </Section>
  );
}

function About({ about, files }: Pick<WorldData, 'about' | 'files'>) {
  return (
    <>
      {about} Expected in the folder:{' '}
      {files.map((file, index) => (
        <Fragment key={file}>
          {index > 0 && ' or '}
          <code>{file}</code>
        </Fragment>
      ))}
      .
    </>
  );
}

type Part<K extends 'imported' | 'importing'> = Pick<WorldData, 'world' | 'title'> & { [name in K]: NonNullable<WorldData[K]> };

function Imported({ world, title, imported }: Part<'imported'>) {
  const { folder, counts, index, indexBytes, skipped, seconds } = imported;
  const [size, ...others] = counts.map(({ label, count }) => `${count.toLocaleString('en')} ${label}`);
  const forget = (): void => {
    call('worlds.forgetData', { world }).then(
      () => toast({ title: `${title} removed from the list; its files are unchanged` }),
      (problem: unknown) => toastError('Could not remove the data', problem),
    );
  };
  return (
    <div className={styles.imported}>
      <div>
        <p className={styles.deviceHead}>
          <Badge tone="success">ready</Badge>
          <strong data-testid="data-size">{size}</strong>
          {others.map((text) => (
            <span key={text}>{text}</span>
          ))}
        </p>
        <p className={styles.prose}>
          {folder}, indexed in {formatDuration(seconds)}. The index takes {formatBytes(indexBytes)} in {index}.
          {skipped > 0 && ` ${skipped} records skipped, as in the original.`}
        </p>
      </div>
      <Button kind="quiet" onClick={forget}>
        Remove
      </Button>
    </div>
  );
}

function Importing({ world, title, importing }: Part<'importing'>) {
  const { folder, share, what, secondsLeft } = importing;
  return (
    <div className={styles.importing}>
      <p>
        Importing {folder}: {what}, {(share * 100).toFixed(0)}%
        {secondsLeft !== null && <span className={styles.prose}>, about {formatDuration(secondsLeft)} left</span>}
      </p>
      <Progress label={`Importing ${title}`} value={share} />
      <Button
        onClick={() => {
          call('worlds.cancelImport', { world }).catch((problem: unknown) => toastError('Could not cancel', problem));
        }}
      >
        Cancel
      </Button>
    </div>
  );
}

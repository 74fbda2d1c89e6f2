// Worlds and other plug-ins from folders: add one, allow it to run (the system asks), remove it.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { PluginRow } from '../../main/lab/features/plugins.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

type Change = 'plugins.add' | 'plugins.allow' | 'plugins.remove';

export function Plugins() {
  const client = useQueryClient();
  const { data, error, refetch } = useCall('plugins.list', {});
  const [folder, setFolder] = useState('');
  const change = useMutation({
    mutationFn: ({ name, folder: path }: { name: Change; folder: string }) => call(name, { folder: path }),
    onSuccess: async (list) => {
      client.setQueryData(callOptions('plugins.list', {}).queryKey, list);
      // Forms, presets and the list of worlds are made anew from what there is now.
      await client.invalidateQueries({ queryKey: callOptions('setup.schema', {}).queryKey });
      await client.invalidateQueries({ queryKey: callOptions('setup.presets', {}).queryKey });
    },
  });
  const choose = async (): Promise<void> => {
    try {
      const chosen = (await call('plugins.choose', {})).folder;
      if (chosen !== null) setFolder(chosen);
    } catch (problem) {
      toastError('Could not choose a folder', problem);
    }
  };
  return (
    <Section
      title="Worlds and plug-ins"
      hint="Worlds in any language, algorithms, presets and studies from your folders. Nothing in them runs until you allow it."
    >
      <Card>
        {error && <ErrorState title="The plug-ins could not be read" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading label="Looking for plug-ins" rows={2} />}
        {data?.plugins.map((plugin) => (
          <Row key={plugin.folder} plugin={plugin} onChange={(name) => change.mutate({ name, folder: plugin.folder })} />
        ))}
        {data?.missing.map((path) => (
          <p key={path} className={styles.muted}>
            {path} was added and is not there any more.{' '}
            <Button kind="quiet" onClick={() => change.mutate({ name: 'plugins.remove', folder: path })}>
              Remove
            </Button>
          </p>
        ))}
        <form
          className={styles.import}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ name: 'plugins.add', folder });
          }}
        >
          <Field label="Plug-in folder" hint="A folder with world.json or plugin.ts; `lab new world NAME` writes one.">
            {(ids) => (
              <TextInput {...ids} value={folder} placeholder="/path/to/my-world" onChange={(event) => setFolder(event.target.value)} />
            )}
          </Field>
          <Button icon="folder" onClick={() => void choose()}>
            Choose…
          </Button>
          <Button type="submit" disabled={folder.trim() === '' || change.isPending}>
            Add
          </Button>
        </form>
        {change.error && <ErrorState title="The plug-ins were not changed" error={change.error} retry={() => change.reset()} />}
      </Card>
    </Section>
  );
}

function Row({ plugin, onChange }: { plugin: PluginRow; onChange: (name: Change) => void }) {
  const { name, folder, allowed, worlds, algorithms, runs, problem, origin } = plugin;
  const brought = [...worlds.map((world) => `world ${world}`), ...algorithms.map((id) => `algorithm ${id}`)].join(', ');
  return (
    <div className={styles.imported}>
      <div>
        <p className={styles.deviceHead}>
          {allowed ? <Badge tone="success">allowed</Badge> : <Badge tone="warning">not allowed</Badge>}
          <strong>{name}</strong>
          <span>{brought}</span>
        </p>
        <p className={styles.muted}>
          {folder}. Runs: {runs.join('; ') || 'nothing'}
        </p>
        {problem !== null && <p className={styles.muted}>{problem}</p>}
      </div>
      <div>
        {!allowed && <Button onClick={() => onChange('plugins.allow')}>Allow…</Button>}
        {origin === 'added' && (
          <Button kind="quiet" onClick={() => onChange('plugins.remove')}>
            Remove
          </Button>
        )}
      </div>
    </div>
  );
}

// Language models: add one from a folder or a GGUF file (by dialog or by dropping it here), download the one that can be downloaded, point to one
// that has moved, remove one.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ModelList, ModelRow } from '../../main/lab/features/models.ts';
import { call, callOptions, CallError, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge, Progress } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatBytes } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

const stored = callOptions('models.list', {});

type Change =
  | { readonly name: 'models.add'; readonly input: { path: string; name: string } }
  | { readonly name: 'models.locate'; readonly input: { path: string; name: string } }
  | { readonly name: 'models.fetch'; readonly input: { name: string } }
  | { readonly name: 'models.remove'; readonly input: { name: string } };

function useModelChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change): Promise<ModelList> => {
      switch (change.name) {
        case 'models.add':
        case 'models.locate':
          return call(change.name, change.input);
        case 'models.fetch':
        case 'models.remove':
          return call(change.name, change.input);
      }
    },
    onSuccess: (list, { name }) => {
      client.setQueryData(stored.queryKey, list);
      toast({ title: name === 'models.remove' ? 'Model removed; its files are unchanged' : 'Model ready', tone: 'success' });
    },
  });
}

export function Models() {
  const { data, error, refetch } = useCall('models.list', {});
  useEffect(() => void refetch(), [refetch]); // a folder may have moved since the last look
  const change = useModelChange();
  // Kept here, not in the form, which gives way to the progress bar: after a failure nothing has to be typed again.
  const [draft, setDraft] = useState<Draft>({ path: '', name: '' });
  const locate = async (name: string, file: boolean): Promise<void> => {
    const { path } = await call('models.choose', { file });
    if (path !== null) change.mutate({ name: 'models.locate', input: { path, name } });
  };
  const cancelled = change.error instanceof CallError && change.error.code === 'cancelled';
  return (
    <Section
      title="Models"
      hint="Language models that can be policies: Hugging Face folders (Llama, Mistral, Qwen2, Qwen3, SmolLM2) and GGUF files. They are used where they are, not copied."
    >
      <Card>
        {error && <ErrorState title="The models could not be read" error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading label="Looking for models" rows={2} />}
        {data?.models.map((model) => (
          <Row
            key={model.name}
            model={model}
            onLocate={() => {
              locate(model.name, model.source.toLowerCase().endsWith('.gguf')).catch((problem: unknown) =>
                toastError('Could not choose the model', problem),
              );
            }}
            onRemove={() => change.mutate({ name: 'models.remove', input: { name: model.name } })}
          />
        ))}
        {data?.adding ? (
          <Adding adding={data.adding} />
        ) : (
          data && (
            <AddForm
              draft={draft}
              onDraft={setDraft}
              fetchable={data.fetchable}
              pending={change.isPending}
              onChange={(next) => change.mutate(next)}
            />
          )
        )}
        {cancelled && <p className={styles.prose}>Cancelled. No model was added.</p>}
        {change.error && !cancelled && <ErrorState title="Not done" error={change.error} retry={() => change.reset()} />}
      </Card>
    </Section>
  );
}

function Row({ model, onLocate, onRemove }: { model: ModelRow; onLocate: () => void; onRemove: () => void }) {
  const { name, architecture, parameters, bytes, source, problem } = model;
  return (
    <div className={styles.imported} data-model={name}>
      <div>
        <p className={styles.deviceHead}>
          {problem === null ? <Badge tone="success">ready</Badge> : <Badge tone="warning">{problem}</Badge>}
          <strong>{name}</strong>
          {architecture !== null && (
            <span>
              {architecture}, {(parameters / 1e6).toFixed(1)} M parameters, {formatBytes(bytes)}
            </span>
          )}
        </p>
        <p className={styles.prose}>
          {source}
          {problem === 'moved' && ' is no longer there. Choose its new place: it must be the same model.'}
          {problem === 'damaged' && ': its registration cannot be read. Remove it and add the model again.'}
        </p>
      </div>
      <div className={styles.buttons}>
        {problem === 'moved' && <Button onClick={onLocate}>Locate…</Button>}
        <Button kind="quiet" onClick={onRemove}>
          Remove
        </Button>
      </div>
    </div>
  );
}

interface Draft {
  readonly path: string;
  readonly name: string;
}

interface AddFormProps {
  draft: Draft;
  onDraft: (draft: Draft) => void;
  fetchable: ModelList['fetchable'];
  pending: boolean;
  onChange: (change: Change) => void;
}

function AddForm({ draft, onDraft, fetchable, pending, onChange }: AddFormProps) {
  const { path, name } = draft;
  const setPath = (next: string): void => onDraft({ path: next, name });
  const setName = (next: string): void => onDraft({ path, name: next });
  const choose = (file: boolean): void => {
    call('models.choose', { file }).then(
      (chosen) => chosen.path !== null && setPath(chosen.path),
      (problem: unknown) => toastError('Could not choose a model', problem),
    );
  };
  return (
    <form
      className={styles.import}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        const [dropped] = event.dataTransfer.files;
        if (dropped) setPath(window.astrolab.pathOf(dropped));
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ name: 'models.add', input: { path, name } });
      }}
    >
      <Field
        label="Model folder or GGUF file"
        hint="With config.json, tokenizer.json and *.safetensors. Drop a folder or file here, or choose one."
      >
        {(ids) => (
          <TextInput {...ids} value={path} placeholder="/path/to/Qwen2.5-0.5B-Instruct" onChange={(event) => setPath(event.target.value)} />
        )}
      </Field>
      <Field label="Model name" hint="Default: the name of the folder or file.">
        {(ids) => <TextInput {...ids} value={name} placeholder="qwen" onChange={(event) => setName(event.target.value)} />}
      </Field>
      <div className={styles.buttons}>
        <Button icon="folder" onClick={() => choose(false)}>
          Folder…
        </Button>
        <Button onClick={() => choose(true)}>GGUF…</Button>
        <Button type="submit" disabled={path.trim() === '' || pending}>
          Add
        </Button>
      </div>
      {fetchable.map((model) => (
        <p key={model.name} className={styles.offer}>
          None at hand? {model.title}.
          <Button kind="quiet" disabled={pending} onClick={() => onChange({ name: 'models.fetch', input: { name: model.name } })}>
            Download {model.name}
          </Button>
        </p>
      ))}
    </form>
  );
}

function Adding({ adding: { what, share } }: { adding: NonNullable<ModelList['adding']> }) {
  return (
    <div className={styles.importing}>
      <p>
        {what}
        {share !== null && `: ${(share * 100).toFixed(0)}%`}
      </p>
      <Progress label="Adding a model" value={share} />
      <Button
        onClick={() => {
          call('models.cancel', {}).catch((problem: unknown) => toastError('Could not cancel', problem));
        }}
      >
        Cancel
      </Button>
    </div>
  );
}

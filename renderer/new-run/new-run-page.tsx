// New run: choose a preset or another run to start from, change what matters in forms made from the schema, see what
// differs and what it will cost, then start it or add it to the queue.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { ConfigTree, Knob, Order, Preset } from '../../preload/contract/queue.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, Select, TextInput } from '../components/field.tsx';
import { Page, Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { useActions } from '../state/actions.ts';
import { useRuns } from '../state/runs.ts';
import { toast, toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { applyEdits, changesBetween, commandLines, getKey, showValue, words } from './draft.ts';
import type { Edits } from './draft.ts';
import { DeviceField } from './device-field.tsx';
import { KnobSection } from './knob-form.tsx';
import type { FieldState } from './knob-form.tsx';
import { Changes, CommandLine, Cost, Repeats } from './order-panel.tsx';
import type { SweptSettings } from './order-panel.tsx';
import { QueuePanel } from './queue-panel.tsx';
import util from '../theme/utilities.module.css';
import styles from './new-run.module.css';

const FIRST_PRESET = 'shop-tiny';
/** The ones to begin with stand first; the others follow by name. */
const FOREMOST = [FIRST_PRESET, 'shop-astar-po'];
const openSchema = z.record(z.string(), z.boolean());
const OPEN_AT_FIRST: Record<string, boolean> = { '': true, training: true };
/** Shown elsewhere on the page. */
const ELSEWHERE = new Set(['seed', 'device', 'world.name', 'world.settings', 'reference.imperfection']);

interface Base {
  /** "preset-shop-tiny" or "run-12": the address. */
  readonly id: string;
  readonly name: string;
  readonly preset: string | null;
  readonly config: ConfigTree;
}

export default function NewRunPage() {
  const { base: address } = useParams<{ base?: string }>();
  const presets = useCall('setup.presets', {});
  const schema = useCall('setup.schema', {});
  const runNumber = Number(/^run-(\d+)$/.exec(address ?? '')?.[1] ?? 0);
  const run = useQuery({ ...callOptions('runs.get', { run: Math.max(1, runNumber) }), enabled: runNumber > 0 });
  const preferences = useCall('preferences.read', {});
  const failed = [presets, schema, run, preferences].find(({ isError }) => isError);
  if (failed) {
    return (
      <Page title="New run">
        <ErrorState title="Could not load presets and settings" error={failed.error} retry={() => void failed.refetch()} />
      </Page>
    );
  }
  const base = presets.data && baseOf(address, presets.data.presets, run.data);
  if (!base || !schema.data || !presets.data || !preferences.data) {
    return (
      <Page title="New run">
        <Loading label="Loading presets and settings" rows={8} />
      </Page>
    );
  }
  // What Settings says for new runs counts for presets; a duplicate keeps what its model had.
  const { retention } = preferences.data;
  const preferred =
    runNumber > 0 || retention === null || retention === getKey(base.config, 'retention.keep') ? {} : { 'retention.keep': retention };
  return <Setup key={base.id} base={base} preferred={preferred} presets={presets.data.presets} schema={schema.data} />;
}

function baseOf(address: string | undefined, presets: readonly Preset[], run: Answer<'runs.get'> | undefined): Base | null {
  if (address?.startsWith('run-')) {
    if (!run) return null;
    const config = z.record(z.string(), z.json()).parse(run.config);
    return { id: address, name: `run ${run.run.id} “${run.run.name}”`, preset: run.run.preset, config };
  }
  const wanted = address?.replace(/^preset-/, '') ?? FIRST_PRESET;
  const preset = presets.find(({ id }) => id === wanted) ?? presets[0];
  return preset ? { id: `preset-${preset.id}`, name: `preset ${preset.id}`, preset: preset.id, config: preset.config } : null;
}

function inOrder(presets: readonly Preset[]): Preset[] {
  const place = ({ id }: Preset): number => (FOREMOST.includes(id) ? FOREMOST.indexOf(id) : FOREMOST.length);
  return presets.toSorted((a, b) => place(a) - place(b));
}

interface SetupProps {
  base: Base;
  /** Edits to begin with. */
  preferred: Edits;
  presets: readonly Preset[];
  schema: Answer<'setup.schema'>;
}

function Setup({ base, preferred, presets, schema }: SetupProps) {
  const [, navigate] = useLocation();
  const runs = useRuns();
  const [edits, setEdits] = useState<Edits>(preferred);
  const [seeds, setSeeds] = useState(() => showValue(base.config.seed) || '1');
  const [sweep, setSweep] = useState<SweptSettings>([]);
  const [tags, setTags] = useState('');
  const [search, setSearch] = useState('');
  const [open, setOpen] = useView('new-run.open', openSchema, OPEN_AT_FIRST);
  const [starting, setStarting] = useState(false);

  const knobs = useMemo(() => new Map(schema.groups.flatMap((group) => group.knobs.map((knob) => [knob.key, knob]))), [schema]);
  const config = useMemo(() => applyEdits(base.config, edits, knobs), [base, edits, knobs]);
  const order = useMemo<Order>(() => ({ config, seeds, sweep: [...sweep] }), [config, seeds, sweep]);
  const asked = useDebounced(order, 150);
  const check = useQuery({ ...callOptions('setup.check', asked), placeholderData: keepPreviousData, gcTime: 30_000 });
  const checked = check.data;
  const issues = checked?.issues ?? [];
  const complete = checked?.config ?? null;
  const changes = useMemo(() => changesBetween(base.config, complete ?? config), [base, complete, config]);

  const variant = String(edits['algorithm.id'] ?? getKey(config, 'algorithm.id') ?? '');
  const world = String(edits['world.name'] ?? getKey(config, 'world.name') ?? '');
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const groups = schema.groups
    .filter((group) => (group.variant === null || group.variant === variant) && (group.world === null || group.world === world))
    .map((group) => ({
      ...group,
      knobs: group.knobs.filter(
        (knob) =>
          !ELSEWHERE.has(knob.key) &&
          (wanted === '' || `${knob.key} ${words(knob.key)} ${knob.description}`.toLowerCase().includes(wanted)),
      ),
    }))
    .filter((group) => group.knobs.length > 0);

  const edit = (key: string, value: string | boolean | null): void => {
    setEdits((before) => {
      const { [key]: _old, ...rest } = before;
      return value === null ? rest : { ...rest, [key]: value };
    });
  };
  const fieldOf = (knob: Knob): FieldState => {
    const was = getKey(base.config, knob.key) ?? knob.default;
    const edited = edits[knob.key];
    const now = edited ?? getKey(complete ?? config, knob.key) ?? knob.default;
    const value = typeof now === 'boolean' ? now : typeof edited === 'string' ? edited : showValue(now);
    const changed = edited !== undefined && (typeof edited === 'boolean' ? edited !== was : edited !== showValue(was));
    return { value, base: was, changed, error: issues.find(({ key }) => key === knob.key)?.message };
  };

  const count = checked?.runs ?? 0;
  const ready = count > 0 && issues.length === 0 && !starting;
  const busy = runs.data?.runs.some(({ state }) => state === 'running') ?? false;
  const begin = async (): Promise<void> => {
    setStarting(true);
    try {
      const tagged = tags
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean);
      const { runs: made } = await call('queue.add', { order, preset: base.preset, tags: tagged });
      const [only] = made;
      if (made.length === 1 && only !== undefined && !busy) navigate(`/runs/${only}`);
      else toast({ title: made.length === 1 ? `Run ${only} queued` : `${made.length} runs queued`, tone: 'success' });
    } catch (error) {
      toastError('The run was not started', error);
    } finally {
      setStarting(false);
    }
  };
  useActions([
    {
      id: 'new-run.start',
      title: 'Start run',
      group: 'New run',
      keys: '$mod+Enter',
      whileTyping: true,
      run: () => ready && void begin(),
    },
  ]);

  const presetConfig = presets.find(({ id }) => id === base.preset)?.config;
  const command =
    presetConfig && base.preset !== null
      ? commandLines(base.preset, changesBetween(presetConfig, complete ?? config), checked?.seeds ?? [])
      : null;
  const label = count > 1 ? (busy ? `Queue ${count} runs` : `Start ${count} runs`) : busy ? 'Add to queue' : 'Start';
  return (
    <Page
      title="New run"
      subtitle={`from ${base.name}`}
      actions={
        <Button kind="primary" icon="start" disabled={!ready} onClick={() => void begin()}>
          {label}
        </Button>
      }
    >
      <div className={styles.columns}>
        <div className={styles.left}>
          <div className={styles.presets} role="radiogroup" aria-label="Preset">
            {inOrder(presets).map((preset) => (
              <button
                key={preset.id}
                type="button"
                role="radio"
                aria-checked={base.id === `preset-${preset.id}`}
                className={styles.preset}
                onClick={() => navigate(`/new/preset-${preset.id}`)}
              >
                <strong>{preset.title}</strong>
                <span>{preset.description}</span>
                <code>
                  {preset.id} · {showValue(getKey(preset.config, 'algorithm.id'))}
                </code>
              </button>
            ))}
          </div>
          <div className={styles.essentials}>
            <Field
              label="World"
              hint={schema.worlds.find(({ name }) => name === world)?.summary}
              error={issues.find(({ key }) => key === 'world.name')?.message}
            >
              {(ids) => (
                <Select
                  {...ids}
                  value={world}
                  options={schema.worlds.map(({ name, title }) => ({ value: name, label: title }))}
                  onValue={(value) => edit('world.name', value === getKey(base.config, 'world.name') ? null : value)}
                />
              )}
            </Field>
            <Field label="Algorithm" hint="Its settings are below">
              {(ids) => (
                <Select
                  {...ids}
                  value={variant}
                  options={schema.variants.map(({ id, title }) => ({ value: id, label: `${id}: ${title}` }))}
                  onValue={(value) => edit('algorithm.id', value === getKey(base.config, 'algorithm.id') ? null : value)}
                />
              )}
            </Field>
            <DeviceField
              value={String(edits.device ?? getKey(base.config, 'device') ?? 'cpu')}
              error={issues.find(({ key }) => key === 'device')?.message}
              onValue={(value) => edit('device', value === getKey(base.config, 'device') ? null : value)}
            />
          </div>
          <div className={styles.find}>
            <TextInput
              aria-label="Find a setting"
              placeholder="Find a setting: learning rate, KL, checkpoints…"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          </div>
          {groups.map((group) => {
            const id = group.variant ?? (group.world === null ? group.key : `${group.key}:${group.world}`);
            return (
              <KnobSection
                key={id}
                group={group}
                open={wanted !== '' || (open[id] ?? group.variant !== null)}
                onOpen={(now) => wanted === '' && setOpen({ ...open, [id]: now })}
                fieldOf={fieldOf}
                onEdit={edit}
              />
            );
          })}
          {groups.length === 0 && <p className={util.muted}>No setting matches.</p>}
        </div>
        <aside className={styles.right} aria-label="Summary">
          <Section title="Changes">
            <Changes changes={changes} base={base.name} onReset={() => setEdits({})} />
          </Section>
          <Section title="Seeds and sweeps">
            <Repeats seeds={seeds} onSeeds={setSeeds} sweep={sweep} onSweep={setSweep} keys={[...knobs.keys()]} issues={issues} />
            <Field label="Tags" hint="Optional, comma-separated">
              {(ids) => <TextInput {...ids} value={tags} onChange={(event) => setTags(event.target.value)} />}
            </Field>
          </Section>
          <Section title="Estimated cost">
            <Cost estimate={checked?.estimate ?? null} runs={count} config={complete} />
          </Section>
          <Section title="Queue">
            <QueuePanel runs={runs.data?.runs ?? []} />
          </Section>
          {command !== null && (
            <Section title="As a command">
              <CommandLine text={command} />
            </Section>
          )}
        </aside>
      </div>
    </Page>
  );
}

/** The value once it has been left alone for a moment. */
function useDebounced<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

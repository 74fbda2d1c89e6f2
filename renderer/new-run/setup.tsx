// The form of a new run: where it starts from, the essentials, every setting in groups, and at the right what the order is.

import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { KnobGroup, Preset } from '../../main/lab/features/setup.ts';
import { call, callOptions } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Field, Select, TextInput } from '../components/field.tsx';
import { Page, Section } from '../components/page.tsx';
import { Badge } from '../components/stat.tsx';
import { useActions } from '../state/actions.ts';
import { useRuns } from '../state/runs.ts';
import { useView } from '../state/view.ts';
import util from '../theme/utilities.module.css';
import { Planner } from '../compare/planner.tsx';
import { DeviceField } from './device-field.tsx';
import { getKey, words } from './draft.ts';
import type { Edits } from './draft.ts';
import { OnField } from './on-field.tsx';
import { BranchFrom } from './branch-from.tsx';
import { KnobSection } from './knob-form.tsx';
import { Changes, CommandLine, Cost, Errors } from './order-panel.tsx';
import { PresetAbout } from './preset-about.tsx';
import { PresetList } from './preset-list.tsx';
import { QueuePanel } from './queue-panel.tsx';
import { SweepEditor } from './sweep-editor.tsx';
import { useOrder, useStart } from './use-order.ts';
import type { Base, OrderState } from './use-order.ts';
import styles from './new-run.module.css';

const searchSchema = z.string();
const openSchema = z.record(z.string(), z.boolean());
const OPEN_AT_FIRST: Record<string, boolean> = { '': true, training: true };
/** Shown elsewhere on the page. */
const ELSEWHERE = new Set(['seed', 'device', 'world.name', 'world.settings', 'reference.imperfection']);

interface SetupProps {
  base: Base;
  /** Edits to begin with. */
  preferred: Edits;
  presets: readonly Preset[];
  schema: Answer<'setup.schema'>;
}

export function Setup({ base, preferred, presets, schema }: SetupProps) {
  const runs = useRuns();
  const order = useOrder(base, preferred, schema);
  const { begin, ready, label, queued, again } = useStart(base, order);
  // The palette leads to a setting by looking for it here.
  const [search, setSearch] = useView('new-run.search', searchSchema, '');
  const errors = order.issues.length;
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
  return (
    <Page
      title="New run"
      subtitle={`from ${base.name}`}
      actions={
        <>
          {errors > 0 && (
            <Badge tone="failure">
              {errors} {errors === 1 ? 'error' : 'errors'}
            </Badge>
          )}
          {queued ? (
            <>
              <Badge tone="success">{queued.length === 1 ? `Run ${queued[0]} queued` : `${queued.length} runs queued`}</Badge>
              <LinkButton href="/queue">View queue</LinkButton>
              <Button onClick={again}>Queue again</Button>
            </>
          ) : (
            <Button kind="primary" icon="start" disabled={!ready} onClick={() => void begin()}>
              {label}
            </Button>
          )}
        </>
      }
    >
      <div className={styles.columns}>
        <div className={styles.left}>
          {base.branch ? (
            <BranchFrom branch={base.branch} />
          ) : (
            <PresetList presets={presets} runs={runs.data?.runs ?? []} current={base.id.replace(/~.*$/, '')} />
          )}
          <PresetAbout base={base} presets={presets} />
          <Essentials order={order} schema={schema} />
          <Settings order={order} schema={schema} search={search} onSearch={setSearch} />
        </div>
        <OrderPanel base={base} order={order} onJump={(key) => jump(key, setSearch)} />
      </div>
    </Page>
  );
}

/** Leads to the field of an error, wherever it is folded away. */
function jump(key: string, setSearch: (text: string) => void): void {
  const focus = (): boolean => {
    const field = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    const control = field?.matches('input, select, button') ? field : field?.querySelector('input, select, button[role="switch"]');
    if (!(control instanceof HTMLElement)) return false;
    control.scrollIntoView({ block: 'center' });
    control.focus();
    return true;
  };
  if (focus()) return;
  setSearch(key);
  setTimeout(focus, 100);
}

function Essentials({ order: { valueOf, errorOf, choose }, schema }: { order: OrderState; schema: Answer<'setup.schema'> }) {
  const world = valueOf('world.name');
  return (
    <div className={styles.essentials}>
      <Field label="World" hint={schema.worlds.find(({ name }) => name === world)?.summary} error={errorOf('world.name')}>
        {(ids) => (
          <Select
            {...ids}
            data-key="world.name"
            value={world}
            options={schema.worlds.map(({ name, title }) => ({ value: name, label: title }))}
            onValue={(value) => choose('world.name', value)}
          />
        )}
      </Field>
      <Field label="Algorithm" hint="Its settings are below">
        {(ids) => (
          <Select
            {...ids}
            value={valueOf('algorithm.id')}
            options={schema.variants.map(({ id, title }) => ({ value: id, label: `${id}: ${title}` }))}
            onValue={(value) => choose('algorithm.id', value)}
          />
        )}
      </Field>
      <DeviceField value={valueOf('device') || 'cpu'} error={errorOf('device')} onValue={(value) => choose('device', value)} />
    </div>
  );
}

interface SettingsProps {
  order: OrderState;
  schema: Answer<'setup.schema'>;
  search: string;
  onSearch: (text: string) => void;
}

function Settings({ order: { valueOf, fieldOf, edit }, schema, search, onSearch }: SettingsProps) {
  const [open, setOpen] = useView('new-run.open', openSchema, OPEN_AT_FIRST);
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const groups = shownGroups(schema.groups, valueOf('algorithm.id'), valueOf('world.name'), wanted);
  return (
    <>
      <div className={styles.find}>
        <TextInput
          aria-label="Find a setting"
          placeholder="Find a setting: learning rate, KL, checkpoints…"
          value={search}
          onChange={(event) => onSearch(event.target.value)}
        />
      </div>
      {groups.map((group) => {
        const id = group.variant ?? (group.world === null ? group.key : `world:${group.world}`);
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
    </>
  );
}

/** The groups of this algorithm and world, with the settings that the search finds. */
function shownGroups(groups: readonly KnobGroup[], variant: string, world: string, wanted: string): KnobGroup[] {
  return groups
    .filter((group) => (group.variant === null || group.variant === variant) && (group.world === null || group.world === world))
    .map((group) => ({
      ...group,
      knobs: group.knobs.filter(
        ({ key, description }) =>
          !ELSEWHERE.has(key) && (wanted === '' || `${key} ${words(key)} ${description}`.toLowerCase().includes(wanted)),
      ),
    }))
    .filter((group) => group.knobs.length > 0);
}

/** Seeds and test tasks that are asked for. */
function sizeOf({ asked, checked, complete }: OrderState): { seeds: number; tasks: number } {
  const tasks = Number(getKey(complete ?? asked.config, 'evaluation.finalTasks') ?? 0);
  return { seeds: Math.max(1, checked?.seeds.length ?? 1), tasks: Number.isInteger(tasks) && tasks > 0 ? tasks : 0 };
}

function OrderPanel({ base, order, onJump }: { base: Base; order: OrderState; onJump: (key: string) => void }) {
  const runs = useRuns();
  const { asked, tagged, checked, issues } = order;
  const command = useQuery({
    ...callOptions('setup.command', { order: asked, preset: base.preset, tags: tagged }),
    enabled: issues.length === 0 && (checked?.runs ?? 0) > 0,
    gcTime: 30_000,
  });
  const count = checked?.runs ?? 0;
  const dryRun = async () =>
    (await call('clusters.dryRun', { cluster: order.on, order: asked, preset: base.preset, tags: tagged })).scripts;
  return (
    <aside className={styles.right} aria-label="Summary">
      {issues.length > 0 && (
        <Section title="Errors">
          <Errors issues={issues} onJump={onJump} />
        </Section>
      )}
      <Section title="Changes">
        <Changes changes={order.changes} base={base.name} onReset={() => order.setEdits({})} />
      </Section>
      <Section title="Seeds and sweeps">
        <SweepEditor
          seeds={order.seeds}
          onSeeds={order.setSeeds}
          sweep={order.sweep}
          onSweep={order.setSweep}
          keys={[...order.knobs.keys()]}
          errorOf={order.errorOf}
          preview={checked?.preview ?? []}
          count={count}
        />
        <OnField
          value={order.on}
          onValue={order.setOn}
          hint="Through the queue below"
          dryRun={count > 0 && issues.length === 0 ? dryRun : undefined}
        />
        <Field label="Tags" hint="Optional, comma-separated">
          {(ids) => <TextInput {...ids} value={order.tags} onChange={(event) => order.setTags(event.target.value)} />}
        </Field>
      </Section>
      <Section title="Estimated cost">
        <Cost estimate={checked?.estimate ?? null} runs={count} config={order.complete} />
      </Section>
      <Planner groups={[]} baseline="" world={order.valueOf('world.name')} size={sizeOf(order)} />
      <Section title="Queue">
        <QueuePanel runs={runs.data?.runs ?? []} />
      </Section>
      {issues.length === 0 && command.data?.command && (
        <Section title="As a command">
          <CommandLine text={order.on === '' ? command.data.command : `${command.data.command} --on ${order.on}`} />
        </Section>
      )}
    </aside>
  );
}

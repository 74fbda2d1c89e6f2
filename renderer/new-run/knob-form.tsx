// The form made from the schema: groups that open and close, and for every field its meaning, unit, range and default.
// Changed fields are marked and can be set back one by one.

import { memo, useId } from 'react';
import type { Knob, KnobGroup } from '../../main/lab/features/setup.ts';
import type { Json } from '../../main/lab/features/runs.ts';
import { useCall } from '../bridge.ts';
import { IconButton } from '../components/button.tsx';
import { Field, NumberInput, Select, Switch, TextInput } from '../components/field.tsx';
import { Icon } from '../components/icons.tsx';
import { Badge } from '../components/stat.tsx';
import { Explain } from '../components/tooltip.tsx';
import { formatTick } from '../format.ts';
import { showValue, words } from './draft.ts';
import styles from './new-run.module.css';

export interface FieldState {
  readonly value: string | boolean;
  /** What the base has; undefined where it has nothing to say. */
  readonly base: Json | undefined;
  readonly changed: boolean;
  readonly error: string | undefined;
}

interface GroupProps {
  group: KnobGroup;
  open: boolean;
  onOpen: (open: boolean) => void;
  fieldOf: (knob: Knob) => FieldState;
  onEdit: (key: string, value: string | boolean | null) => void;
}

export function KnobSection({ group, open, onOpen, fieldOf, onEdit }: GroupProps) {
  const fields = group.knobs.map((knob) => ({ knob, state: fieldOf(knob) }));
  const changed = fields.filter(({ state }) => state.changed).length;
  const wrong = fields.filter(({ state }) => state.error !== undefined).length;
  return (
    <details className={styles.group} open={open || wrong > 0} onToggle={(event) => onOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="chevronRight" size={13} />
        <strong>{titleOf(group)}</strong>
        <span className={styles.groupWords}>{group.description}</span>
        {wrong > 0 && (
          <Badge tone="failure">
            {wrong} {wrong === 1 ? 'error' : 'errors'}
          </Badge>
        )}
        {changed > 0 && <Badge tone="accent">{changed} changed</Badge>}
      </summary>
      <div className={styles.fields}>
        {fields.map(({ knob, state }) => (
          <KnobField key={knob.key} knob={knob} {...state} onEdit={onEdit} />
        ))}
      </div>
    </details>
  );
}

export function titleOf({ key, title, variant, world }: KnobGroup): string {
  if (variant !== null) return `Algorithm: ${title}`;
  if (world !== null) return title;
  if (key === '') return 'Run';
  return key.split('.').map(words).join(': ');
}

type FieldProps = FieldState & { knob: Knob; onEdit: (key: string, value: string | boolean | null) => void };

const KnobField = memo(function KnobField({ knob, value, base, changed, error, onEdit }: FieldProps) {
  const label = words(knob.key);
  const set = (next: string | boolean): void => onEdit(knob.key, next);
  const hint = hintOf(knob, changed ? base : undefined);
  return (
    <div className={styles.knob} data-changed={changed || undefined} data-key={knob.key}>
      <Field
        label={label}
        explain={
          <>
            <Explain what={label} title={label}>
              <p>{knob.description}</p>
              <p>{hintOf(knob, undefined)}</p>
              <code>{knob.key}</code>
            </Explain>
            {changed && (
              <span className={styles.reset}>
                <IconButton
                  icon="replay"
                  label={`Reset ${label} to ${showValue(base) || 'empty'}`}
                  onClick={() => onEdit(knob.key, null)}
                />
              </span>
            )}
          </>
        }
        hint={hint}
        error={error}
      >
        {(ids) => {
          if (knob.kind === 'switch') return <Switch label={value === true ? 'on' : 'off'} checked={value === true} onChecked={set} />;
          if (knob.kind === 'choice') {
            const options = knob.options.map((option) => ({ value: option, label: option }));
            return <Select {...ids} value={String(value)} options={options} onValue={set} />;
          }
          if (knob.key === 'policy.model.name') return <ModelInput {...ids} value={String(value)} onValue={set} />;
          if (knob.kind === 'text') return <KnobText {...ids} knob={knob} value={String(value)} onValue={set} />;
          const unit = knob.unit === 'numbers' || knob.unit === 'share' ? '' : knob.unit;
          return (
            <NumberInput {...ids} value={String(value)} onChange={(event) => set(event.target.value)} {...(unit !== '' && { unit })} />
          );
        }}
      </Field>
    </div>
  );
});

/** A text field; one for the data folder of a world offers what was imported in Settings. */
function KnobText({ knob, onValue, ...rest }: { id: string; knob: Knob; value: string; onValue: (value: string) => void }) {
  const worlds = useCall('worlds.data', {}).data?.worlds ?? [];
  const folders = worlds.flatMap(({ setting, imported }) => (imported && knob.key === `world.settings.${setting}` ? imported.folder : []));
  const list = useId();
  return (
    <>
      <TextInput {...rest} {...(folders.length > 0 && { list })} onChange={(event) => onValue(event.target.value)} />
      <datalist id={list}>
        {folders.map((folder) => (
          <option key={folder} value={folder}>
            Imported in Settings
          </option>
        ))}
      </datalist>
    </>
  );
}

/** The models of Settings, and what the config names although it is not here. */
function ModelInput({ value, onValue, ...rest }: { id: string; value: string; onValue: (value: string) => void }) {
  const { data } = useCall('models.list', {});
  const names = data?.models.map(({ name }) => name) ?? [];
  const options = [
    { value: '', label: names.length > 0 ? 'none' : 'none: add a model in Settings' },
    ...names.map((name) => ({ value: name, label: name })),
    ...(value === '' || names.includes(value) ? [] : [{ value, label: `${value}: not on this machine` }]),
  ];
  return <Select {...rest} value={value} options={options} onValue={onValue} />;
}

/** Range and default in one short line; what the base had where it was changed. */
function hintOf(knob: Knob, base: Json | undefined): string {
  const parts: string[] = [];
  if (knob.low !== null && knob.high !== null && Math.abs(knob.high) < 1e15)
    parts.push(`${formatTick(knob.low)} to ${formatTick(knob.high)}`);
  if (knob.key === 'threads' || knob.key === 'deviceMemory') parts.push('0 = auto');
  if (knob.unit === 'share') parts.push('share');
  if (base !== undefined) parts.push(`was ${showValue(base) || 'empty'}`);
  else if (knob.default !== undefined && typeof knob.default !== 'object') parts.push(`default ${showValue(knob.default) || 'empty'}`);
  else if (Array.isArray(knob.default)) parts.push(`default ${showValue(knob.default)}`);
  return parts.join(' · ');
}

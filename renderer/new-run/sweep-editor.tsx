// Seeds and sweeps: values typed, or filled from a range with linear or log spacing, and a preview of the runs they make.

import { useState } from 'react';
import type { Order } from '../../main/lab/features/setup.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Field, NumberInput, Switch, TextInput } from '../components/field.tsx';
import { rangeValues } from './draft.ts';
import styles from './new-run.module.css';

type Swept = Order['sweep'];

interface SweepEditorProps {
  seeds: string;
  onSeeds: (seeds: string) => void;
  sweep: Swept;
  onSweep: (sweep: Swept) => void;
  keys: readonly string[];
  errorOf: (key: string) => string | undefined;
  /** Names of the first runs, and how many there are. */
  preview: readonly string[];
  count: number;
}

const MOST_SWEEPS = 3;

export function SweepEditor({ seeds, onSeeds, sweep, onSweep, keys, errorOf, preview, count }: SweepEditorProps) {
  const change = (index: number, part: Partial<Swept[number]>): void =>
    onSweep(sweep.map((entry, other) => (other === index ? { ...entry, ...part } : entry)));
  return (
    <>
      <Field label="Seeds" hint="One run per seed: 1-5 or 1, 2, 7" error={errorOf('seeds')}>
        {(ids) => <TextInput {...ids} data-key="seeds" value={seeds} onChange={(event) => onSeeds(event.target.value)} />}
      </Field>
      {sweep.map((entry, index) => (
        <SweptField
          key={index}
          entry={entry}
          index={index}
          error={errorOf(`sweep.${index}`)}
          onChange={(part) => change(index, part)}
          onRemove={() => onSweep(sweep.filter((_entry, other) => other !== index))}
        />
      ))}
      <datalist id="sweep-keys">
        {keys.map((key) => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </datalist>
      {sweep.length < MOST_SWEEPS && (
        <Button kind="quiet" icon="plus" onClick={() => onSweep([...sweep, { key: '', values: '' }])}>
          Sweep a setting
        </Button>
      )}
      {count > 1 && (
        <ol className={styles.preview} aria-label="Runs of this order">
          {preview.map((name, index) => (
            <li key={index}>{name}</li>
          ))}
          {count > preview.length && <li>… {count - preview.length} more</li>}
        </ol>
      )}
    </>
  );
}

interface SweptFieldProps {
  entry: Swept[number];
  index: number;
  error: string | undefined;
  onChange: (part: Partial<Swept[number]>) => void;
  onRemove: () => void;
}

function SweptField({ entry, index, error, onChange, onRemove }: SweptFieldProps) {
  const [range, setRange] = useState(false);
  return (
    <div className={styles.sweep}>
      <Field label="Swept setting" error={error} hint="Runs every value × every seed">
        {(ids) => (
          <span className={styles.sweepRow}>
            <TextInput
              {...ids}
              data-key={`sweep.${index}`}
              list="sweep-keys"
              placeholder="training.learningRate"
              value={entry.key}
              onChange={(event) => onChange({ key: event.target.value })}
            />
            <TextInput
              aria-label={`Values of ${entry.key || 'the setting'}`}
              placeholder="0.001, 0.003"
              value={entry.values}
              onChange={(event) => onChange({ values: event.target.value })}
            />
            <IconButton icon="cross" label="Remove sweep" onClick={onRemove} />
          </span>
        )}
      </Field>
      <Button kind="quiet" aria-expanded={range} onClick={() => setRange(!range)}>
        Fill from a range…
      </Button>
      {range && <RangeFields onFill={(values) => onChange({ values })} />}
    </div>
  );
}

function RangeFields({ onFill }: { onFill: (values: string) => void }) {
  const [from, setFrom] = useState('0.0001');
  const [to, setTo] = useState('0.01');
  const [count, setCount] = useState('5');
  const [log, setLog] = useState(true);
  const values = rangeValues(Number(from), Number(to), Number(count), log);
  const fields = [
    ['From', from, setFrom],
    ['To', to, setTo],
    ['Count', count, setCount],
  ] as const;
  return (
    <div className={styles.range} role="group" aria-label="Range of values">
      {fields.map(([label, value, set]) => (
        <Field key={label} label={label}>
          {(ids) => <NumberInput {...ids} value={value} onChange={(event) => set(event.target.value)} />}
        </Field>
      ))}
      <Switch label="Log spacing" checked={log} onChecked={setLog} />
      <Button disabled={values === null} onClick={() => values && onFill(values.join(', '))}>
        Fill in
      </Button>
    </div>
  );
}

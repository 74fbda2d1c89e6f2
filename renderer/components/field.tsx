// Form parts. A Field ties label, control, meaning and error together for eyes and screen readers alike; the controls
// are the browser's own, restyled, because they already know keyboard, zoom and forced colours.

import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui';
import { useId } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './field.module.css';

interface FieldProps {
  label: string;
  /** What it means; beside the label, usually an <Explain>. */
  explain?: ReactNode;
  /** Unit, range, default: one short line under the control. */
  hint?: ReactNode;
  /** What is wrong and how to fix it. */
  error?: string | undefined;
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }) => ReactNode;
}

export function Field({ label, explain, hint, error, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div className={styles.field}>
      <div className={styles.labelRow}>
        <label htmlFor={id}>{label}</label>
        {explain}
      </div>
      {children({ id, 'aria-describedby': note === undefined ? undefined : noteId, 'aria-invalid': error ? true : undefined })}
      {note !== undefined && (
        <div id={noteId} className={styles.note} data-error={error ? true : undefined} aria-live={error ? 'polite' : undefined}>
          {error && <Icon name="warning" size={13} />}
          {note}
        </div>
      )}
    </div>
  );
}

export function TextInput(props: Omit<ComponentProps<'input'>, 'className'>) {
  return <input type="text" className={styles.input} spellCheck={false} autoComplete="off" {...props} />;
}

/** A text field for numbers: it keeps what is typed (1e-4, 0.0001) and leaves judging to the schema. */
export function NumberInput({ unit, ...props }: Omit<ComponentProps<'input'>, 'className' | 'type'> & { unit?: string }) {
  return (
    <span className={styles.withUnit}>
      <input type="text" inputMode="decimal" className={styles.input} data-numeric spellCheck={false} autoComplete="off" {...props} />
      {unit !== undefined && <span className={styles.unit}>{unit}</span>}
    </span>
  );
}

interface SelectProps extends Omit<ComponentProps<'select'>, 'className' | 'onChange' | 'children'> {
  options: readonly { value: string; label: string; disabled?: boolean }[];
  onValue: (value: string) => void;
}

export function Select({ options, onValue, ...rest }: SelectProps) {
  return (
    <span className={styles.selectBox}>
      <select className={styles.select} onChange={(event) => onValue(event.target.value)} {...rest}>
        {options.map(({ value, label, disabled }) => (
          <option key={value} value={value} disabled={disabled}>
            {label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" size={12} />
    </span>
  );
}

export function Switch({
  label,
  checked,
  onChecked,
  disabled,
}: {
  label: string;
  checked: boolean;
  onChecked: (on: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <span className={styles.switchRow}>
      <RadixSwitch.Root id={id} className={styles.switch} checked={checked} onCheckedChange={onChecked} disabled={disabled}>
        <RadixSwitch.Thumb className={styles.thumb} />
      </RadixSwitch.Root>
      <label htmlFor={id}>{label}</label>
    </span>
  );
}

/** `label` is spoken only; a checkbox with visible words goes into its own <label>. */
export function Checkbox({
  label,
  checked,
  onChecked,
}: {
  label: string;
  checked: boolean | 'indeterminate';
  onChecked: (on: boolean) => void;
}) {
  return (
    <RadixCheckbox.Root
      className={styles.checkbox}
      aria-label={label}
      checked={checked}
      onCheckedChange={(state) => onChecked(state === true)}
    >
      <RadixCheckbox.Indicator className={styles.tick}>
        {checked === 'indeterminate' ? <span className={styles.dash} /> : <Icon name="check" size={12} />}
      </RadixCheckbox.Indicator>
    </RadixCheckbox.Root>
  );
}

// Saved filters of the list: filter, grouping, order and columns under a name, chosen from a menu or the palette.

import { useState } from 'react';
import { z } from 'zod';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field, TextInput } from '../components/field.tsx';
import { Menu } from '../components/menu.tsx';
import type { MenuItem } from '../components/menu.tsx';
import { useActions } from '../state/actions.ts';
import { toastWithUndo } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { listSettings } from './use-run-view.ts';
import type { ListSettings } from './use-run-view.ts';

const savedSchema = z.array(z.object({ name: z.string().min(1), settings: listSettings }));
type Saved = z.infer<typeof savedSchema>;
const NONE: Saved = [];
const LONGEST_NAME = 60;

/** The same settings, whatever order their keys were stored in. */
const same = (a: ListSettings, b: ListSettings): boolean => JSON.stringify(listSettings.parse(a)) === JSON.stringify(listSettings.parse(b));

export function SavedFilters({ settings, onSettings }: { settings: ListSettings; onSettings: (settings: ListSettings) => void }) {
  const [saved, setSaved] = useView('runs.saved', savedSchema, NONE);
  const [naming, setNaming] = useState(false);
  const current = saved.find((one) => same(one.settings, settings));
  useActions(
    saved.map(({ name, settings: wanted }) => ({
      id: `runs.saved.${name}`,
      title: `Filter: ${name}`,
      group: 'Runs',
      run: () => onSettings(wanted),
    })),
  );
  const remove = ({ name }: { name: string }): void => {
    setSaved(saved.filter((one) => one.name !== name));
    toastWithUndo(`Filter “${name}” deleted`, () => setSaved(saved));
  };
  const items: (MenuItem | 'line')[] = [
    ...saved.map((one): MenuItem => ({
      label: one.name,
      ...(one === current && { icon: 'check' }),
      run: () => onSettings(one.settings),
    })),
    ...(saved.length > 0 ? (['line'] as const) : []),
    { label: 'Save current filter…', icon: 'plus', disabled: current !== undefined, run: () => setNaming(true) },
    ...(current ? [{ label: `Delete “${current.name}”`, icon: 'trash' as const, danger: true, run: () => remove(current) }] : []),
  ];
  return (
    <>
      <Menu items={items}>
        <Button icon="star" aria-label="Saved filters" title="Saved filters">
          {current?.name ?? 'Filters'}
        </Button>
      </Menu>
      <NameDialog
        open={naming}
        onClose={() => setNaming(false)}
        onName={(name) => {
          setSaved([...saved.filter((one) => one.name !== name), { name, settings }]);
          setNaming(false);
        }}
      />
    </>
  );
}

function NameDialog({ open, onClose, onName }: { open: boolean; onClose: () => void; onName: (name: string) => void }) {
  const [name, setName] = useState('');
  const save = (): void => {
    const chosen = name.trim();
    if (chosen === '') return;
    onName(chosen);
    setName('');
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Save filter"
      actions={
        <Button kind="primary" disabled={name.trim() === ''} onClick={save}>
          Save
        </Button>
      }
    >
      <Field label="Name" hint="Keeps text, state, algorithm, tag, grouping, order and columns. A filter with this name is replaced.">
        {(ids) => (
          <TextInput
            {...ids}
            maxLength={LONGEST_NAME}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') save();
            }}
          />
        )}
      </Field>
    </Dialog>
  );
}

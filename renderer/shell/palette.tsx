// Ctrl/Cmd-K: finds any page, run, metric or action that is registered now (state/actions.ts) and does it.

import { Command } from 'cmdk';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useCall } from '../bridge.ts';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { Keys } from '../components/keys.tsx';
import { words } from '../new-run/draft.ts';
import { currentActions, useActionStore } from '../state/actions.ts';
import type { Action } from '../state/actions.ts';
import { writeView } from '../state/view.ts';
import { keysOf } from './keyboard.ts';
import styles from './palette.module.css';

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Search everything" bare width={580}>
      <PaletteList onClose={onClose} />
    </Dialog>
  );
}

/** Every metric, which leads to its curve in Compare, and every setting, which leads to its field in New run. */
function useFound(): Action[] {
  const [, navigate] = useLocation();
  const glossary = useCall('metrics.glossary', {});
  const schema = useCall('setup.schema', {});
  return useMemo(() => {
    const metrics = (glossary.data?.metrics ?? []).map(({ id, name, formula }) => ({
      id: `metric.${id}`,
      title: name,
      group: 'Metrics',
      words: [id, formula],
      run: () => {
        writeView('compare.metric', id);
        navigate('/compare');
      },
    }));
    const knobs = (schema.data?.groups ?? []).flatMap((group) => group.knobs);
    const settings = [...new Map(knobs.map((knob) => [knob.key, knob])).values()].map(({ key, description }) => ({
      id: `setting.${key}`,
      title: `${words(key)} (${key})`,
      group: 'Settings of a run',
      words: [description],
      run: () => {
        writeView('new-run.search', key);
        navigate('/new');
      },
    }));
    return [...metrics, ...settings];
  }, [glossary.data, schema.data, navigate]);
}

function PaletteList({ onClose }: { onClose: () => void }) {
  const lists = useActionStore((state) => state.lists);
  const [text, setText] = useState('');
  const found = useFound();
  // Hundreds of metrics and settings would bury the rest; they come up when something is asked for.
  const actions = [...currentActions(lists).filter((action) => !action.keyboardOnly), ...(text.length > 1 ? found : [])];
  const groups = [...new Set(actions.map(({ group }) => group))];
  return (
    <Command label="Search everything" loop className={styles.palette}>
      <div className={styles.search}>
        <Icon name="search" />
        <Command.Input
          data-autofocus
          value={text}
          onValueChange={setText}
          className={styles.input}
          placeholder="Search pages, runs, metrics, settings and actions…"
        />
      </div>
      <Command.List className={styles.list} label="Matches">
        <Command.Empty className={styles.empty}>No results</Command.Empty>
        {groups.map((group) => (
          <Command.Group key={group} heading={group} className={styles.group}>
            {actions
              .filter((action) => action.group === group)
              .map((action) => (
                <Command.Item
                  key={action.id}
                  value={`${action.title} ${action.id}`}
                  keywords={[group, ...(action.words ?? [])]}
                  className={styles.item}
                  onSelect={() => {
                    onClose();
                    action.run();
                  }}
                >
                  <span>{action.title}</span>
                  {keysOf(action)[0] && <Keys keys={keysOf(action)[0] ?? ''} />}
                </Command.Item>
              ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

// Ctrl/Cmd-K: finds any page, run, metric or action that is registered now (state/actions.ts) and does it.

import { Command } from 'cmdk';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { Keys } from '../components/keys.tsx';
import { currentActions, useActionStore } from '../state/actions.ts';
import { keysOf } from './keyboard.ts';
import styles from './palette.module.css';

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Search everything" bare width={580}>
      <PaletteList onClose={onClose} />
    </Dialog>
  );
}

function PaletteList({ onClose }: { onClose: () => void }) {
  const lists = useActionStore((state) => state.lists);
  const actions = currentActions(lists).filter((action) => !action.keyboardOnly);
  const groups = [...new Set(actions.map(({ group }) => group))];
  return (
    <Command label="Search everything" loop className={styles.palette}>
      <div className={styles.search}>
        <Icon name="search" />
        <Command.Input data-autofocus className={styles.input} placeholder="Search pages, runs, metrics, settings and actions…" />
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

// "?": every key that works here and now, read from the same list that binds them.

import { Dialog } from '../components/dialog.tsx';
import { Keys } from '../components/keys.tsx';
import { currentActions, useActionStore } from '../state/actions.ts';
import { keysOf } from './keyboard.ts';
import styles from './keys-dialog.module.css';

export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const lists = useActionStore((state) => state.lists);
  const actions = currentActions(lists).filter((action) => action.keys !== undefined);
  const groups = [...new Set(actions.map(({ group }) => group))];
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" width={560}>
      <div className={styles.groups}>
        {groups.map((group) => (
          <section key={group}>
            <h3 className={styles.heading}>{group}</h3>
            <dl>
              {actions
                .filter((action) => action.group === group)
                .map((action) => (
                  <div key={action.id} className={styles.row}>
                    <dt>{action.title}</dt>
                    <dd>
                      <Keys keys={keysOf(action)[0] ?? ''} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

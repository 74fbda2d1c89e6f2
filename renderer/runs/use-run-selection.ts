// Which runs are selected and where the cursor stands in the list, and the keyboard actions on them.

import { useState } from 'react';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { useActions } from '../state/actions.ts';
import { deleteRuns } from '../state/runs.ts';
import type { Item } from './rows.ts';

export function useRunSelection(runs: readonly RunRow[], items: readonly Item[]) {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [cursor, setCursor] = useState(-1);
  const chosen = runs.filter(({ id }) => selected.has(id));
  const item = items[cursor];
  const under = item?.kind === 'run' ? item.run : null;
  /** What an action is about: the selection, or else the row under the cursor. */
  const target = chosen.length > 0 ? chosen : under ? [under] : [];
  const clear = (): void => setSelected(new Set());
  const removeTarget = (): void => {
    if (target.length === 0) return;
    void deleteRuns(target.map(({ id }) => id));
    clear();
  };
  const move = (by: number): void => setCursor((now) => Math.min(items.length - 1, Math.max(0, now + by)));
  const select = (ids: readonly number[], on: boolean): void => {
    setSelected((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (on) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  };
  return { selected, select, clear, chosen, cursor, setCursor, move, under, target, removeTarget };
}

interface ListCommands {
  onSearch: () => void;
  onOpen: (run: RunRow) => void;
  onTag: () => void;
  onColumns: () => void;
}

export function useRunActions(selection: ReturnType<typeof useRunSelection>, { onSearch, onOpen, onTag, onColumns }: ListCommands): void {
  const { under, target, selected, select, move, removeTarget } = selection;
  useActions([
    { id: 'runs.filter', title: 'Filter runs', group: 'Runs', keys: '/', run: onSearch },
    { id: 'runs.next', title: 'Next run', group: 'Runs', keys: 'j', keyboardOnly: true, run: () => move(1) },
    { id: 'runs.previous', title: 'Previous run', group: 'Runs', keys: 'k', keyboardOnly: true, run: () => move(-1) },
    { id: 'runs.open', title: 'Open run', group: 'Runs', keys: 'o', run: () => under && onOpen(under) },
    { id: 'runs.select', title: 'Select run', group: 'Runs', keys: 'x', run: () => under && select([under.id], !selected.has(under.id)) },
    { id: 'runs.tag', title: 'Tag runs', group: 'Runs', keys: 't', run: () => target.length > 0 && onTag() },
    { id: 'runs.delete', title: 'Delete runs', group: 'Runs', keys: 'Delete', run: removeTarget },
    { id: 'runs.columns', title: 'Choose columns', group: 'Runs', run: onColumns },
  ]);
}

// What the pointer and the keyboard do in the table of runs: select one row or a range of them, open a run or a group, move
// the cursor.

import { useRef } from 'react';
import type { KeyboardEvent, RefObject } from 'react';
import type { RunRow } from '../../main/lab/features/runs.ts';
import type { Item } from './rows.ts';
import type { MenuPlace } from './run-menu.tsx';
import type { RowEvents } from './table-rows.tsx';

export interface RowHandlers {
  items: readonly Item[];
  selected: ReadonlySet<number>;
  onSelect: (runs: readonly number[], on: boolean) => void;
  /** Index into `items`. */
  cursor: number;
  onCursor: (cursor: number) => void;
  onOpen: (run: RunRow) => void;
  onToggleGroup: (key: string) => void;
  onDelete: () => void;
  /** Right-click on a row. */
  onMenu: (place: MenuPlace) => void;
}

interface RowActions {
  select(index: number, event: { shiftKey: boolean }): void;
  activate(index: number): void;
  /** Moves the cursor; Shift selects what it passes. */
  move(to: number, event: { shiftKey: boolean }): void;
}

/** The runs among these items; heads of groups are left out. */
export const runIds = (items: readonly Item[]): number[] => items.flatMap((item) => (item.kind === 'run' ? [item.run.id] : []));

export function useRowActions({ items, selected, onSelect, cursor, onCursor, onOpen, onToggleGroup }: RowHandlers): RowActions {
  const anchor = useRef<number | null>(null);
  /** From the anchor to here, as Shift asks for. */
  const extend = (to: number): void => {
    const from = anchor.current ?? to;
    onSelect(runIds(items.slice(Math.min(from, to), Math.max(from, to) + 1)), true);
  };
  return {
    select: (index, event) => {
      const item = items[index];
      if (item?.kind !== 'run') return;
      if (event.shiftKey && anchor.current !== null) extend(index);
      else onSelect([item.run.id], !selected.has(item.run.id));
      anchor.current = index;
    },
    activate: (index) => {
      const item = items[index];
      if (item?.kind === 'run') onOpen(item.run);
      else if (item) onToggleGroup(item.group.key);
    },
    move: (to, event) => {
      const next = Math.min(items.length - 1, Math.max(0, to));
      if (event.shiftKey) {
        anchor.current ??= cursor;
        extend(next);
      } else anchor.current = next;
      onCursor(next);
    },
  };
}

/** The same object at every render, so that a row renders again only when its run, place or selection changes. */
export function useStableRowEvents({ select, activate }: RowActions, { onCursor, onMenu }: RowHandlers): RowEvents {
  const latest = useRef({ select, activate, onCursor, onMenu });
  latest.current = { select, activate, onCursor, onMenu };
  const stable = useRef<RowEvents>({
    select: (index, event) => latest.current.select(index, event),
    activate: (index, event) => {
      latest.current.onCursor(index);
      if (event.shiftKey || event.ctrlKey || event.metaKey) latest.current.select(index, event);
      else latest.current.activate(index);
    },
    menu: (run, event) => {
      event.preventDefault();
      latest.current.onMenu({ run, x: event.clientX, y: event.clientY });
    },
  });
  return stable.current;
}

/** Keys pressed on the table itself, not on something inside it. */
export function rowKeys(
  { select, activate, move }: RowActions,
  { items, cursor, onSelect, onDelete }: RowHandlers,
  { scroller, rowHeight }: { scroller: RefObject<HTMLElement | null>; rowHeight: number },
): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? rowHeight) / rowHeight) - 2);
    const moves: Record<string, number> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: items.length - 1,
    };
    const to = moves[event.key];
    const acts: Record<string, () => void> = {
      Enter: () => activate(cursor),
      ' ': () => select(cursor, event),
      Delete: onDelete,
      Escape: () => onSelect(runIds(items), false),
    };
    if (to !== undefined) move(to, event);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) onSelect(runIds(items), true);
    else if (acts[event.key]) acts[event.key]?.();
    else return;
    event.preventDefault();
  };
}

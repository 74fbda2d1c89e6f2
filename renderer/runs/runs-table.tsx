// The table itself: only the rows in view exist, so 5,000 runs scroll like 50. A real table with the role of a grid: one
// stop for Tab, arrows move a cursor, Enter opens, Space selects.

import { useVirtualizer } from '@tanstack/react-virtual';
import type { VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { Head } from '../components/table.tsx';
import type { Column } from './columns.tsx';
import { fitColumns } from './fit-columns.ts';
import { GroupRow, RunLine } from './table-rows.tsx';
import type { RowEvents } from './table-rows.tsx';
import { rowKeys, runIds, useRowActions, useStableRowEvents } from './use-row-events.ts';
import type { RowHandlers } from './use-row-events.ts';
import styles from './runs.module.css';

interface RunsTableProps extends RowHandlers {
  columns: readonly Column[];
  sort: { readonly column: string; readonly descending: boolean };
  onSort: (column: string) => void;
}

const ROW = 30;
const SELECT_WIDTH = 34;

export function RunsTable({ columns: chosen, ...rest }: RunsTableProps) {
  const { items, cursor, onCursor } = rest;
  const scroller = useRef<HTMLDivElement>(null);
  const room = useRoom(scroller) - SELECT_WIDTH;
  const { columns, narrow, width } = useMemo(() => fitColumns(chosen, room), [chosen, room]);
  const props: RunsTableProps = { ...rest, columns };
  const rows = useVirtualizer({ count: items.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 12 });
  const actions = useRowActions(props);
  const events = useStableRowEvents(actions, props);

  useEffect(() => {
    if (cursor >= 0) rows.scrollToIndex(cursor);
  }, [cursor, rows]);

  // From here on the list can be used; `npm run bench -- window` measures up to this mark.
  useEffect(() => {
    performance.mark('runs drawn');
  }, []);

  return (
    <div ref={scroller} className={styles.scroller}>
      <table
        className={styles.table}
        style={{ minWidth: width + SELECT_WIDTH }}
        data-narrow={narrow || undefined}
        role="grid"
        aria-label="Runs"
        aria-rowcount={items.length + 1}
        aria-multiselectable
        aria-activedescendant={cursor >= 0 && cursor < items.length ? `run-row-${cursor}` : undefined}
        tabIndex={0}
        onKeyDown={rowKeys(actions, props, { scroller, rowHeight: ROW })}
        onFocus={() => {
          if (cursor < 0 && items.length > 0) onCursor(0);
        }}
      >
        <colgroup>
          <col style={{ width: SELECT_WIDTH }} />
          {columns.map(({ id, width: usual, narrow: least, grow }) => {
            const wide = narrow ? (least ?? usual) : usual;
            return <col key={id} style={grow ? { minWidth: wide } : { width: wide }} />;
          })}
        </colgroup>
        <TableHead {...props} />
        <TableBody {...props} shown={rows.getVirtualItems()} height={rows.getTotalSize()} events={events} />
      </table>
    </div>
  );
}

/** How wide the inside of an element is; before it is drawn, wide enough for everything. */
function useRoom(element: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const measure = (): void => setRoom(current.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(current);
    return () => watch.disconnect();
  }, [element]);
  return room;
}

/** The box that selects every run shown, and the titles of the columns, which sort. */
function TableHead({ items, columns, sort, onSort, selected, onSelect }: RunsTableProps) {
  const runs = runIds(items);
  const all = runs.length > 0 && runs.every((run) => selected.has(run));
  return (
    <thead>
      <tr aria-rowindex={1}>
        <Head width={SELECT_WIDTH}>
          <input
            type="checkbox"
            className={styles.check}
            aria-label="Select all shown runs"
            tabIndex={-1}
            checked={all}
            onChange={() => onSelect(runs, !all)}
          />
        </Head>
        {columns.map((column) => (
          <Head
            key={column.id}
            {...(column.numeric && { numeric: true })}
            {...(column.sort && {
              sort: sort.column === column.id ? (sort.descending ? ('descending' as const) : ('ascending' as const)) : ('none' as const),
              onSort: () => onSort(column.id),
            })}
          >
            {column.title}
          </Head>
        ))}
      </tr>
    </thead>
  );
}

interface TableBodyProps extends RunsTableProps {
  shown: readonly VirtualItem[];
  /** Of all rows, in pixels. */
  height: number;
  events: RowEvents;
}

/** The rows in view, between two empty rows as high as what is left out. */
function TableBody({ items, columns, selected, cursor, shown, height, events }: TableBodyProps) {
  const before = shown[0]?.start ?? 0;
  const after = height - (shown.at(-1)?.end ?? 0);
  return (
    <tbody>
      {before > 0 && <tr aria-hidden="true" style={{ height: before }} />}
      {shown.map(({ index, key }) => {
        const item = items[index];
        if (!item) return null;
        if (item.kind === 'group') {
          return <GroupRow key={key} index={index} item={item} columns={columns.length} current={index === cursor} events={events} />;
        }
        return (
          <RunLine
            key={key}
            index={index}
            run={item.run}
            columns={columns}
            selected={selected.has(item.run.id)}
            current={index === cursor}
            events={events}
          />
        );
      })}
      {after > 0 && <tr aria-hidden="true" style={{ height: after }} />}
    </tbody>
  );
}

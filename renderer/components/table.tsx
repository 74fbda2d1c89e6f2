// Table primitives: real table elements, so that screen readers and copying work. Numbers are right-aligned and
// tabular; a sortable header is a button that says its order. Long lists wrap these with a virtualizer.

import type { ComponentProps, ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './table.module.css';

/** `label` names the table for screen readers. */
export function Table({ label, children, ...rest }: { label: string; children: ReactNode } & Omit<ComponentProps<'table'>, 'className'>) {
  return (
    <table className={styles.table} aria-label={label} {...rest}>
      {children}
    </table>
  );
}

export type SortOrder = 'ascending' | 'descending' | 'none';

interface HeadProps {
  children: ReactNode;
  numeric?: boolean;
  sort?: SortOrder;
  onSort?: () => void;
  width?: number | string;
}

export function Head({ children, numeric = false, sort, onSort, width }: HeadProps) {
  return (
    <th
      scope="col"
      className={styles.head}
      data-numeric={numeric || undefined}
      aria-sort={onSort ? (sort ?? 'none') : undefined}
      style={{ width }}
    >
      {onSort ? (
        <button type="button" className={styles.sort} onClick={onSort}>
          {children}
          <span className={styles.arrow} data-order={sort ?? 'none'}>
            <Icon name="chevronDown" size={12} />
          </span>
        </button>
      ) : (
        children
      )}
    </th>
  );
}

interface RowProps extends Omit<ComponentProps<'tr'>, 'className'> {
  selected?: boolean;
}

export function Row({ selected, children, ...rest }: RowProps) {
  return (
    <tr className={styles.row} aria-selected={selected} data-clickable={rest.onClick ? true : undefined} {...rest}>
      {children}
    </tr>
  );
}

interface CellProps extends Omit<ComponentProps<'td'>, 'className'> {
  numeric?: boolean;
  muted?: boolean;
}

export function Cell({ numeric, muted, children, ...rest }: CellProps) {
  return (
    <td className={styles.cell} data-numeric={numeric || undefined} data-muted={muted || undefined} {...rest}>
      {children}
    </td>
  );
}

// What the authors of the write-ups expected and measured, beside what the runs of this data folder measure. Read when it is opened, because it goes
// through the episodes of all those runs.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callOptions } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Field, Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import styles from './studies.module.css';

const SIZES = [
  { value: 'quick', label: 'quick' },
  { value: 'small', label: 'small' },
  { value: 'medium', label: 'medium' },
  { value: 'full', label: 'full' },
] as const;
type Size = (typeof SIZES)[number]['value'];

export function Sources() {
  const [open, setOpen] = useState(false);
  const [size, setSize] = useState<Size>('medium');
  const { data, error, refetch } = useQuery({ ...callOptions('sources.table', { size }), enabled: open });
  const choose = (value: string): void => {
    const found = SIZES.find((one) => one.value === value);
    if (found) setSize(found.value);
  };
  return (
    <Section
      title="Expected, measured then, measured here"
      hint={
        <>
          The systems that the lab was made after, seeds 1 to 3 of each preset. <code>npm run lab -- sources --train --size {size}</code>{' '}
          trains them.
        </>
      }
      actions={<Button onClick={() => setOpen(!open)}>{open ? 'Hide' : 'Show the table'}</Button>}
    >
      {open && <Field label="Size of the presets">{(ids) => <Select {...ids} value={size} options={[...SIZES]} onValue={choose} />}</Field>}
      {open && error && <ErrorState title="Could not read the runs" error={error} retry={() => void refetch()} />}
      {open && !data && !error && <Loading label="Reading runs" rows={8} />}
      {open && data?.tables.map((table) => <Measured key={table.title} {...table} />)}
    </Section>
  );
}

function Measured({ title, header, rows }: { title: string; header: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <div className={styles.wide} role="region" aria-label={`${title}, scrollable`} tabIndex={0}>
      <h3>{title}</h3>
      <Table label={title}>
        <thead>
          <tr>
            {header.map((name) => (
              <Head key={name}>{name}</Head>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row[0]}>
              {row.map((cell, column) => (
                <Cell key={header[column]}>{cell}</Cell>
              ))}
            </Row>
          ))}
        </tbody>
      </Table>
    </div>
  );
}

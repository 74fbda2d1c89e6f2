// The two toolbars above the list of runs: filter, grouping and columns, or, once runs are selected, what can be done with them.

import { useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { useLocation } from 'wouter';
import { z } from 'zod';
import { runStates } from '../../main/base/vocabulary.ts';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Select, TextInput } from '../components/field.tsx';
import { exportRuns } from '../state/transfer.ts';
import type { RunFilter } from './rows.ts';
import { useConfigKeys } from './run-dialogs.tsx';
import { GROUP_KEYS } from './use-run-view.ts';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

interface BulkBarProps {
  chosen: readonly RunRow[];
  onTag: () => void;
  onEdit: () => void;
  onDelete: () => void;
  onClear: () => void;
}

/** What can be done with the selected runs. */
export function BulkBar({ chosen, onTag, onEdit, onDelete, onClear }: BulkBarProps) {
  const [, navigate] = useLocation();
  return (
    <div className={styles.bulk} role="toolbar" aria-label="Selected runs">
      <strong>{chosen.length} selected</strong>
      <Button icon="compare" onClick={() => navigate(`/compare/${chosen.map(({ id }) => id).join(',')}`)}>
        Compare
      </Button>
      <Button onClick={onTag}>Tag…</Button>
      <Button icon="download" onClick={() => void exportRuns(chosen.map(({ id }) => id))}>
        Export…
      </Button>
      {chosen.length === 1 && (
        <>
          <Button onClick={onEdit}>Rename and notes…</Button>
          <LinkButton href={`/new/run-${chosen[0]?.id ?? 0}`} icon="copy">
            Duplicate
          </LinkButton>
        </>
      )}
      <Button kind="danger" icon="trash" onClick={onDelete}>
        Delete
      </Button>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

interface FilterBarProps {
  runs: readonly RunRow[];
  filter: RunFilter;
  onFilter: (filter: RunFilter) => void;
  groupKey: string;
  onGroup: (key: string) => void;
  onColumns: () => void;
  saved: ReactNode;
  search: RefObject<HTMLInputElement | null>;
}

/** Filter, grouping and columns: the toolbar while nothing is selected. */
export function FilterBar({ runs, filter, onFilter, groupKey, onGroup, onColumns, saved, search }: FilterBarProps) {
  const [reached, setReached] = useState(false);
  const keys = useConfigKeys(reached);
  const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort();
  const any = (label: string, values: readonly string[]) => [{ value: '', label }, ...values.map((value) => ({ value, label: value }))];
  const states = [...(runs.some(({ state }) => state === 'running') ? ['live'] : []), ...distinct(runs.map(({ state }) => state))];
  const tags = distinct(runs.flatMap((run) => run.tags));
  return (
    <>
      <div className={styles.search}>
        <TextInput
          ref={search}
          aria-label="Filter by text"
          placeholder="Filter: name, tag, #12, seed:3…"
          value={filter.text}
          onChange={(event) => onFilter({ ...filter, text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onFilter({ ...filter, text: '' });
          }}
        />
      </div>
      <Select
        aria-label="State"
        value={filter.state}
        options={any('Any state', states)}
        onValue={(state) => onFilter({ ...filter, state: parseState(state) })}
      />
      <Select
        aria-label="Algorithm"
        value={filter.variant}
        options={any('Any algorithm', distinct(runs.map(({ variant }) => variant)))}
        onValue={(variant) => onFilter({ ...filter, variant })}
      />
      {tags.length > 0 && (
        <Select aria-label="Tag" value={filter.tag} options={any('Any tag', tags)} onValue={(tag) => onFilter({ ...filter, tag })} />
      )}
      {saved}
      <span className={util.spacer} />
      <div className={styles.group} onPointerEnter={() => setReached(true)}>
        <Select
          aria-label="Group by"
          onFocus={() => setReached(true)}
          value={groupKey}
          options={[
            { value: '', label: 'No grouping' },
            ...[...new Set([...Object.keys(GROUP_KEYS), ...keys, ...(groupKey === '' ? [] : [groupKey])])].map((key) => ({
              value: key,
              label: `By ${key}`,
            })),
          ]}
          onValue={onGroup}
        />
      </div>
      <Button onClick={onColumns}>Columns…</Button>
    </>
  );
}

function parseState(value: string): RunFilter['state'] {
  return z
    .union([z.enum(runStates), z.literal('live'), z.literal('')])
    .catch('')
    .parse(value);
}

// Runs: the list of everything that was ever trained here, live. Filter, sort, group by any setting, choose columns, act
// on many at once; a click or Enter opens a run. Until there is a first run, an invitation.

import { useQueries, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { useLocation } from 'wouter';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import { runState } from '../../preload/contract/runs.ts';
import type { Json, RunRow } from '../../preload/contract/runs.ts';
import { callOptions, useCall } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Select, TextInput } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { useActions } from '../state/actions.ts';
import { deleteRuns, useRuns } from '../state/runs.ts';
import { exportRuns, importRuns } from '../state/transfer.ts';
import { useView } from '../state/view.ts';
import { COLUMNS, configColumn, DEFAULT_COLUMNS } from './columns.tsx';
import type { Column } from './columns.tsx';
import { FirstRun } from './first-run.tsx';
import { ColumnsDialog, EditDialog, TagDialog, useConfigKeys } from './run-dialogs.tsx';
import { RunContextMenu } from './run-menu.tsx';
import type { MenuPlace } from './run-menu.tsx';
import { filterRuns, groupRuns, NO_FILTER, sortRuns } from './rows.ts';
import type { Item, RunFilter } from './rows.ts';
import { RunsTable } from './runs-table.tsx';
import util from '../theme/utilities.module.css';
import styles from './runs.module.css';

const filterSchema: z.ZodType<RunFilter> = z.object({
  text: z.string(),
  state: z.union([runState, z.literal('live'), z.literal('')]),
  variant: z.string(),
  tag: z.string(),
});
const columnsSchema = z.array(z.string()).min(1);
const sortSchema = z.object({ column: z.string(), descending: z.boolean() });
const NEWEST_FIRST = { column: 'id', descending: true };
const FIRST_COLUMNS = [...DEFAULT_COLUMNS];
/** Grouping that needs no look into the configs. */
const OWN_KEYS: Readonly<Record<string, (run: RunRow) => Json>> = {
  variant: ({ variant }) => variant,
  world: ({ world }) => world,
  preset: ({ preset }) => preset ?? 'custom',
  seed: ({ seed }) => seed,
  state: ({ state }) => state,
  'same config': ({ name, variant, group }) => `${name} · ${variant} · ${group.slice(0, 6)}`,
};

export default function RunsPage() {
  const about = useCall('system.about', {});
  const runs = useRuns();
  if (runs.isPending || runs.isError || runs.data.runs.length === 0) {
    return (
      <Page
        title="Runs"
        actions={
          <LinkButton href="/new" icon="plus">
            New run
          </LinkButton>
        }
      >
        {runs.isPending && <Loading label="Loading runs" rows={8} />}
        {runs.isError && <ErrorState title="Could not read the runs" error={runs.error} retry={() => void runs.refetch()} />}
        {runs.data && <FirstRun dataFolder={about.data?.dataFolder ?? ''} />}
      </Page>
    );
  }
  return <RunList runs={runs.data.runs} />;
}

function RunList({ runs }: { runs: readonly RunRow[] }) {
  const [, navigate] = useLocation();
  const [filter, setFilter] = useView('runs.filter', filterSchema, NO_FILTER);
  const [columnIds, setColumns] = useView('runs.columns', columnsSchema, FIRST_COLUMNS);
  const [sort, setSort] = useView('runs.sort', sortSchema, NEWEST_FIRST);
  const [groupKey, setGroupKey] = useView('runs.group', z.string(), '');
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState(-1);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  const [dialog, setDialog] = useState<'columns' | 'tags' | 'edit' | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const text = useDeferredValue(filter.text);

  const columns = useColumns(columnIds);
  const valueOf = useGroupValue(groupKey);
  const shown = useMemo(() => {
    const by = columns.find(({ id }) => id === sort.column)?.sort ?? ((run: RunRow) => run.id);
    return sortRuns(filterRuns(runs, { ...filter, text }), by, sort.descending);
  }, [runs, filter, text, columns, sort]);
  const items = useMemo<Item[]>(() => {
    if (!valueOf) return shown.map((run) => ({ kind: 'run', run }));
    return groupRuns(shown, valueOf).flatMap((group): Item[] => {
      const open = !closed.has(group.key);
      return [{ kind: 'group', group, open }, ...(open ? group.runs.map((run) => ({ kind: 'run' as const, run })) : [])];
    });
  }, [shown, valueOf, closed]);

  const chosen = runs.filter(({ id }) => selected.has(id));
  const under = items[cursor];
  /** What an action is about: the selection, or else the row under the cursor. */
  const target = chosen.length > 0 ? chosen : under?.kind === 'run' ? [under.run] : [];
  const removeTarget = (): void => {
    if (target.length === 0) return;
    void deleteRuns(target.map(({ id }) => id));
    setSelected(new Set());
  };
  const open = (run: RunRow): void => navigate(`/runs/${run.id}`);
  const move = (by: number): void => setCursor((now) => Math.min(items.length - 1, Math.max(0, now + by)));

  useActions([
    { id: 'runs.filter', title: 'Filter runs', group: 'Runs', keys: '/', run: () => search.current?.focus() },
    { id: 'runs.next', title: 'Next run', group: 'Runs', keys: 'j', keyboardOnly: true, run: () => move(1) },
    { id: 'runs.previous', title: 'Previous run', group: 'Runs', keys: 'k', keyboardOnly: true, run: () => move(-1) },
    { id: 'runs.open', title: 'Open run', group: 'Runs', keys: 'o', run: () => under?.kind === 'run' && open(under.run) },
    {
      id: 'runs.select',
      title: 'Select run',
      group: 'Runs',
      keys: 'x',
      run: () => under?.kind === 'run' && select([under.run.id], !selected.has(under.run.id)),
    },
    { id: 'runs.tag', title: 'Tag runs', group: 'Runs', keys: 't', run: () => target.length > 0 && setDialog('tags') },
    { id: 'runs.delete', title: 'Delete runs', group: 'Runs', keys: 'Delete', run: removeTarget },
    { id: 'runs.columns', title: 'Choose columns', group: 'Runs', run: () => setDialog('columns') },
  ]);

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

  return (
    <Page
      title="Runs"
      subtitle={summary(runs, shown.length)}
      actions={
        <>
          <Button icon="upload" onClick={() => void importRuns(null, navigate)}>
            Import…
          </Button>
          <LinkButton href="/new" icon="plus" kind="primary">
            New run
          </LinkButton>
        </>
      }
      toolbar={
        chosen.length > 0 ? (
          <div className={styles.bulk} role="toolbar" aria-label="Selected runs">
            <strong>{chosen.length} selected</strong>
            <Button icon="compare" onClick={() => navigate(`/compare/${chosen.map(({ id }) => id).join(',')}`)}>
              Compare
            </Button>
            <Button onClick={() => setDialog('tags')}>Tag…</Button>
            <Button icon="download" onClick={() => void exportRuns(chosen.map(({ id }) => id))}>
              Export…
            </Button>
            {chosen.length === 1 && (
              <>
                <Button onClick={() => setDialog('edit')}>Rename and notes…</Button>
                <LinkButton href={`/new/run-${chosen[0]?.id ?? 0}`} icon="copy">
                  Duplicate
                </LinkButton>
              </>
            )}
            <Button kind="danger" icon="trash" onClick={removeTarget}>
              Delete
            </Button>
            <Button kind="quiet" onClick={() => setSelected(new Set())}>
              Clear
            </Button>
          </div>
        ) : (
          <Toolbar
            runs={runs}
            filter={filter}
            onFilter={setFilter}
            groupKey={groupKey}
            onGroup={setGroupKey}
            onColumns={() => setDialog('columns')}
            search={search}
          />
        )
      }
    >
      <div className={styles.layout}>
        {shown.length === 0 ? (
          <div className={styles.nothing}>
            <p>No runs match this filter.</p>
            <Button kind="quiet" onClick={() => setFilter(NO_FILTER)}>
              Show all {runs.length}
            </Button>
          </div>
        ) : (
          <RunsTable
            items={items}
            columns={columns}
            sort={sort}
            onSort={(column) => setSort({ column, descending: sort.column === column ? !sort.descending : column !== 'name' })}
            selected={selected}
            onSelect={select}
            cursor={cursor}
            onCursor={setCursor}
            onOpen={open}
            onToggleGroup={(key) =>
              setClosed((before) => new Set(before.has(key) ? [...before].filter((other) => other !== key) : [...before, key]))
            }
            onDelete={removeTarget}
            onMenu={setMenu}
          />
        )}
      </div>
      {menu && <RunContextMenu key={`${menu.run.id} ${menu.x} ${menu.y}`} place={menu} onClose={() => setMenu(null)} />}
      <ColumnsDialog open={dialog === 'columns'} onClose={() => setDialog(null)} chosen={columnIds} onChosen={setColumns} />
      <TagDialog runs={dialog === 'tags' ? target : null} onClose={() => setDialog(null)} />
      <EditDialog run={dialog === 'edit' ? (chosen[0] ?? null) : null} onClose={() => setDialog(null)} />
    </Page>
  );
}

function summary(runs: readonly RunRow[], shown: number): string {
  const count = (state: RunRow['state']): number => runs.filter((run) => run.state === state).length;
  const parts = [shown === runs.length ? `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}` : `${shown} of ${runs.length} shown`];
  for (const state of ['running', 'queued', 'paused', 'failed', 'interrupted'] as const)
    if (count(state) > 0) parts.push(`${count(state)} ${state}`);
  return parts.join(' · ');
}

interface ToolbarProps {
  runs: readonly RunRow[];
  filter: RunFilter;
  onFilter: (filter: RunFilter) => void;
  groupKey: string;
  onGroup: (key: string) => void;
  onColumns: () => void;
  search: RefObject<HTMLInputElement | null>;
}

function Toolbar({ runs, filter, onFilter, groupKey, onGroup, onColumns, search }: ToolbarProps) {
  const keys = useConfigKeys();
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
        onValue={(state) => onFilter({ ...filter, state: filterSchemaState(state) })}
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
      <span className={util.spacer} />
      <div className={styles.group}>
        <Select
          aria-label="Group by"
          value={groupKey}
          options={[
            { value: '', label: 'No grouping' },
            ...[...Object.keys(OWN_KEYS), ...keys.filter((key) => !(key in OWN_KEYS))].map((key) => ({ value: key, label: `By ${key}` })),
          ]}
          onValue={onGroup}
        />
      </div>
      <Button onClick={onColumns}>Columns…</Button>
    </>
  );
}

function filterSchemaState(value: string): RunFilter['state'] {
  return z
    .union([runState, z.literal('live'), z.literal('')])
    .catch('')
    .parse(value);
}

type ConfigValues = readonly (readonly (readonly [number, Json])[] | undefined)[];

/** Made anew by the query library only when an answer has changed. */
const valuesOf = (answers: readonly UseQueryResult<Answer<'runs.configValues'>>[]): ConfigValues => answers.map(({ data }) => data?.values);

/** The chosen columns; those of config keys fill when their values arrive. */
function useColumns(ids: readonly string[]): readonly Column[] {
  const keys = useMemo(() => ids.flatMap((id) => (id.startsWith('config:') ? [id.slice(7)] : [])), [ids]);
  const values = useQueries({
    queries: keys.map((key) => ({ ...callOptions('runs.configValues', { key }), staleTime: 5_000 })),
    combine: valuesOf,
  });
  return useMemo(() => {
    const own = ids.flatMap((id) => COLUMNS.find((column) => column.id === id) ?? []);
    return [...own, ...keys.map((key, index) => configColumn(key, new Map(values[index] ?? [])))];
  }, [ids, keys, values]);
}

const NONE = { key: 'seed' };

function useGroupValue(key: string): ((run: RunRow) => Json | undefined) | null {
  const own = OWN_KEYS[key];
  const foreign = key !== '' && own === undefined;
  const query = useQuery({ ...callOptions('runs.configValues', foreign ? { key } : NONE), enabled: foreign, staleTime: 5_000 });
  const values = query.data?.values;
  return useMemo(() => {
    if (key === '') return null;
    if (own) return own;
    const map = new Map(values ?? []);
    return (run) => map.get(run.id);
  }, [key, own, values]);
}

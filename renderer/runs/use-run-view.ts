// How the list of runs is viewed: filter, columns, order and grouping, remembered between visits, and the rows that result.

import { useQueries, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import { runStates } from '../../main/base/vocabulary.ts';
import type { Json, RunRow } from '../../main/lab/features/runs.ts';
import { callOptions } from '../bridge.ts';
import { useView } from '../state/view.ts';
import { COLUMNS, configColumn } from './columns.tsx';
import type { Column } from './columns.tsx';
import { DEFAULT_COLUMNS } from './fit-columns.ts';
import { configurationLabels, filterRuns, groupRuns, NO_FILTER, sortRuns } from './rows.ts';
import type { Item, RunFilter } from './rows.ts';

const filterSchema: z.ZodType<RunFilter> = z.object({
  text: z.string(),
  state: z.union([z.enum(runStates), z.literal('live'), z.literal('')]),
  variant: z.string(),
  tag: z.string(),
});
const columnsSchema = z.array(z.string()).min(1);
const sortSchema = z.object({ column: z.string(), descending: z.boolean() });
const groupSchema = z.string();
/** What a saved filter keeps. */
export const listSettings = z.object({ filter: filterSchema, columns: columnsSchema, sort: sortSchema, group: groupSchema });
export type ListSettings = z.infer<typeof listSettings>;
const NEWEST_FIRST = { column: 'id', descending: true };
const FIRST_COLUMNS = [...DEFAULT_COLUMNS];
const SAME_CONFIG = 'same config';
/** Grouping that needs no look into the configs. */
export const GROUP_KEYS: Readonly<Record<string, (run: RunRow) => Json>> = {
  variant: ({ variant }) => variant,
  world: ({ world }) => world,
  preset: ({ preset }) => preset ?? 'custom',
  seed: ({ seed }) => seed,
  state: ({ state }) => state,
  [SAME_CONFIG]: ({ group }) => group,
};

/** The remembered settings of the list. */
function useViewSettings() {
  const [filter, setFilter] = useView('runs.filter', filterSchema, NO_FILTER);
  const [columnIds, setColumns] = useView('runs.columns', columnsSchema, FIRST_COLUMNS);
  const [sort, setSort] = useView('runs.sort', sortSchema, NEWEST_FIRST);
  const [groupKey, setGroupKey] = useView('runs.group', groupSchema, '');
  /** A second time on the same column turns its order around. */
  const sortBy = (column: string): void => setSort({ column, descending: sort.column === column ? !sort.descending : column !== 'name' });
  const settings: ListSettings = { filter, columns: columnIds, sort, group: groupKey };
  const setSettings = (next: ListSettings): void => {
    setFilter(next.filter);
    setColumns(next.columns);
    setSort(next.sort);
    setGroupKey(next.group);
  };
  return { filter, setFilter, columnIds, setColumns, sort, sortBy, groupKey, setGroupKey, settings, setSettings };
}

export function useRunView(runs: readonly RunRow[]) {
  const settings = useViewSettings();
  const { filter, sort } = settings;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const text = useDeferredValue(filter.text);
  const columns = useColumns(settings.columnIds);
  const valueOf = useGroupValue(settings.groupKey);
  const shown = useMemo(() => {
    const by = columns.find(({ id }) => id === sort.column)?.sort ?? ((run: RunRow) => run.id);
    return sortRuns(filterRuns(runs, { ...filter, text }), by, sort.descending);
  }, [runs, filter, text, columns, sort]);
  const items = useMemo<Item[]>(() => {
    if (!valueOf) return shown.map((run) => ({ kind: 'run', run }));
    const labels = settings.groupKey === SAME_CONFIG ? configurationLabels(shown) : undefined;
    return groupRuns(shown, valueOf, labels).flatMap((group): Item[] => {
      const open = !closed.has(group.key);
      return [{ kind: 'group', group, open }, ...(open ? group.runs.map((run) => ({ kind: 'run' as const, run })) : [])];
    });
  }, [shown, valueOf, closed, settings.groupKey]);
  const toggleGroup = (key: string): void =>
    setClosed((before) => new Set(before.has(key) ? [...before].filter((other) => other !== key) : [...before, key]));
  return { ...settings, columns, shown, items, toggleGroup };
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
  const own = GROUP_KEYS[key];
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

// What is being set up, as state: the edits, seeds, sweeps and tags on top of a base, what the lab says of it, and how to start it.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Answer } from '../../preload/contract.ts';
import type { ConfigTree, Knob, Order } from '../../main/lab/features/setup.ts';
import { call, callOptions } from '../bridge.ts';
import { useRuns } from '../state/runs.ts';
import { toast, toastError } from '../state/toasts.ts';
import { applyEdits, changesBetween, getKey, showValue } from './draft.ts';
import type { Edits } from './draft.ts';
import type { FieldState } from './knob-form.tsx';

export interface Base {
  /** "preset-shop-tiny" or "run-12": the address. */
  readonly id: string;
  readonly name: string;
  readonly preset: string | null;
  readonly config: ConfigTree;
  /** The checkpoint it starts from, and those it could start from. */
  readonly branch?: { readonly run: number; readonly update: number; readonly updates: readonly number[]; readonly best: number | null };
}

export type OrderState = ReturnType<typeof useOrder>;

export function useOrder(base: Base, preferred: Edits, schema: Answer<'setup.schema'>) {
  const [edits, setEdits] = useState<Edits>(preferred);
  const [seeds, setSeeds] = useState(() => showValue(base.config.seed) || '1');
  const [sweep, setSweep] = useState<Order['sweep']>([]);
  const [tags, setTags] = useState('');
  const [on, setOn] = useState('');
  const knobs = useMemo(() => new Map(schema.groups.flatMap((group) => group.knobs.map((knob) => [knob.key, knob]))), [schema]);
  const config = useMemo(() => applyEdits(base.config, edits, knobs), [base, edits, knobs]);
  const order = useMemo<Order>(() => ({ config, seeds, sweep: [...sweep] }), [config, seeds, sweep]);
  const asked = useDebounced(order, 150);
  const check = useQuery({ ...callOptions('setup.check', asked), placeholderData: keepPreviousData, gcTime: 30_000 });
  const refusal = on === '' ? check.data?.estimate?.plan?.refusal : null; // a cluster has other machines
  const issues = [...(check.data?.issues ?? []), ...(refusal ? [refusal] : [])];
  const complete = check.data?.config ?? null;
  const changes = useMemo(() => changesBetween(base.config, complete ?? config), [base, complete, config]);
  const tagged = tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

  const edit = (key: string, value: string | boolean | null): void => {
    setEdits((before) => {
      const { [key]: _old, ...rest } = before;
      return value === null ? rest : { ...rest, [key]: value };
    });
  };
  /** What the base has is no edit. */
  const choose = (key: string, value: string): void => edit(key, value === getKey(base.config, key) ? null : value);
  const fieldOf = (knob: Knob): FieldState => {
    const was = getKey(base.config, knob.key) ?? knob.default;
    const edited = edits[knob.key];
    const now = edited ?? getKey(complete ?? config, knob.key) ?? knob.default;
    const value = typeof now === 'boolean' ? now : typeof edited === 'string' ? edited : showValue(now);
    const changed = edited !== undefined && (typeof edited === 'boolean' ? edited !== was : edited !== showValue(was));
    return { value, base: was, changed, error: issues.find(({ key }) => key === knob.key)?.message };
  };
  /** The value of a setting as it is now. */
  const valueOf = (key: string): string => String(edits[key] ?? getKey(config, key) ?? '');
  /** In short where it is about memory: the list of errors has the numbers. */
  const errorOf = (key: string): string | undefined =>
    refusal?.key === key ? 'Cannot be started with this: see Errors' : issues.find((issue) => issue.key === key)?.message;
  const typed = { edits, setEdits, seeds, setSeeds, sweep, setSweep, tags, setTags, tagged, on, setOn };
  const judged = { knobs, order, asked, issues, complete, changes, checked: check.data };
  return { ...typed, ...judged, edit, choose, fieldOf, valueOf, errorOf };
}

/** Starting it, once: the same order is not taken a second time until something in it changes. */
export function useStart(base: Base, { order, tagged, issues, checked, on }: OrderState) {
  const [, navigate] = useLocation();
  const runs = useRuns();
  const [starting, setStarting] = useState(false);
  const [sent, setSent] = useState<{ order: string; runs: readonly number[] } | null>(null);
  const text = JSON.stringify([order, tagged]);
  const queued = sent !== null && sent.order === text ? sent.runs : null;
  const count = checked?.runs ?? 0;
  const ready = count > 0 && issues.length === 0 && !starting && queued === null;
  const busy = runs.data?.runs.some(({ state }) => state === 'running') ?? false;
  const begin = async (): Promise<void> => {
    setStarting(true);
    try {
      if (on !== '') {
        const { submission, attached } = await call('clusters.submit', { cluster: on, order, preset: base.preset, tags: tagged });
        return navigate(`/clusters/${on}/${submission ?? attached[0] ?? ''}`);
      }
      const { runs: made } = await call('queue.add', { order, preset: base.preset, tags: tagged });
      const [only] = made;
      setSent({ order: text, runs: made });
      if (made.length === 1 && only !== undefined && !busy) navigate(`/runs/${only}`);
      else toast({ title: made.length === 1 ? `Run ${only} queued` : `${made.length} runs queued`, tone: 'success' });
    } catch (error) {
      toastError('The run was not started', error);
    } finally {
      setStarting(false);
    }
  };
  const label =
    on !== ''
      ? `Submit ${count} to ${on}`
      : count > 1
        ? busy
          ? `Queue ${count} runs`
          : `Start ${count} runs`
        : busy
          ? 'Add to queue'
          : 'Start';
  return { begin, ready, label, queued, again: () => setSent(null) };
}

/** The value once it has been left alone for a moment. */
function useDebounced<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

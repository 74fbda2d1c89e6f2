// Keeps the query cache in step with the lab, from before the first page until the window closes. The cache is the one place where
// answers about runs are: a page reads it and listens to nothing, so it shows the same however it was reached. Rows go into the
// list as they come. Every other answer about a run whose record has changed is old from that moment: it is asked for again at once
// where it is on screen, else when a page next needs it. Events and answers arrive in the order in which the lab sent them.

import type { Query, QueryClient } from '@tanstack/react-query';
import type { CallName, EventName } from '../../preload/contract.ts';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { callOptions, listen } from '../bridge.ts';

/** Asked for again at most so often, in ms: curves follow training, lists change as fast as anyone reads, and what is worked out over whole runs may wait. */
const PAUSES: readonly { readonly of: (name: string) => boolean; readonly pause: number }[] = [
  { of: (name) => name === 'metrics.series', pause: 0 },
  { of: (name) => name === 'runs.get' || name.startsWith('compare.'), pause: 3000 },
  { of: (name) => name !== 'metrics.series' && name !== 'runs.get' && !name.startsWith('compare.'), pause: 1000 },
];
/** Asking and drawing take a quarter of the time at most: a slow machine does it less often and stays in step. */
const REST = 3;
/** Answers that rest on all runs without naming them. */
const OF_ALL_RUNS: readonly CallName[] = ['runs.configValues', 'setup.presets', 'setup.check', 'studies.plan', 'sources.table'];

/** Events that bring the newest answer of a call. */
const NEWEST = [
  ['studies.changed', 'studies.list'],
  ['models.changed', 'models.list'],
  ['worlds.dataChanged', 'worlds.data'],
  ['worker.status', 'worker.status'],
  ['system.themeChanged', 'system.theme'],
] as const satisfies readonly (readonly [EventName, CallName])[];
/** Events that say how far something is. */
const PROGRESS = ['studies.sampleProgress', 'report.progress'] as const satisfies readonly EventName[];

const list = callOptions('runs.list', {});

export function keepFresh(client: QueryClient): void {
  for (const [event, call] of NEWEST) listen(event, (answer) => client.setQueryData<unknown>([call, {}], answer));
  for (const event of PROGRESS) listen(event, (progress) => client.setQueryData<unknown>([event], progress));
  listen('studies.changed', () => void client.invalidateQueries({ queryKey: ['studies.claims'] }));
  const refreshers = PAUSES.map(({ of, pause }) => new Refresher(client, of, pause));
  listen('runs.changed', ({ rows, gone, stored }) => {
    const others = applyRows(client, rows, gone);
    const changed = new Set([...stored, ...gone]);
    // Also what is not on screen; nothing is asked for yet.
    void client.invalidateQueries({ predicate: (query) => isAbout(query, changed) || isOfAll(query), refetchType: 'none' });
    if (others) void client.invalidateQueries({ queryKey: ['runs.configValues'] });
    for (const refresher of refreshers) refresher.add(stored);
  });
}

/** Whether the list has other runs than before. */
function applyRows(client: QueryClient, rows: readonly RunRow[], gone: readonly number[]): boolean {
  let others = gone.length > 0;
  client.setQueryData(list.queryKey, (before) => {
    // The first answer is still under way, and has these rows.
    if (!before) return before;
    const left = new Map(before.runs.map((run) => [run.id, run]));
    const added = rows.some(({ id }) => !left.has(id));
    others ||= added;
    for (const id of gone) left.delete(id);
    for (const row of rows) left.set(row.id, row);
    const runs = [...left.values()];
    return { runs: added ? runs.sort((a, b) => b.id - a.id) : runs };
  });
  return others;
}

/** Asks again for what is on screen about runs that have changed, one round after the other. */
class Refresher {
  readonly #client: QueryClient;
  readonly #of: (name: string) => boolean;
  readonly #pause: number;
  readonly #due = new Set<number>();
  #busy = false;

  constructor(client: QueryClient, of: (name: string) => boolean, pause: number) {
    this.#client = client;
    this.#of = of;
    this.#pause = pause;
  }

  add(runs: readonly number[]): void {
    for (const run of runs) this.#due.add(run);
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#due.size > 0) {
      const began = performance.now();
      const runs = new Set(this.#due);
      this.#due.clear();
      const old = { predicate: (query: Query): boolean => this.#of(nameOf(query)) && isAbout(query, runs) };
      // An answer that is under way may be from before the change.
      await this.#client.cancelQueries(old);
      await this.#client.invalidateQueries(old);
      await drawn();
      await sleep(Math.max(this.#pause, REST * (performance.now() - began)));
    }
    this.#busy = false;
  }
}

const nameOf = ({ queryKey }: Query): string => String(queryKey[0]);
const isOfAll = (query: Query): boolean => OF_ALL_RUNS.some((name) => name === nameOf(query));
const isAbout = ({ queryKey }: Query, runs: ReadonlySet<number>): boolean => names(queryKey[1], runs);

/** Whether the input of a call names one of the runs: `run`, `runs` or `pairs`, at any depth. */
function names(input: unknown, runs: ReadonlySet<number>, here = false): boolean {
  if (typeof input === 'number') return here && runs.has(input);
  if (Array.isArray(input)) return input.some((one) => names(one, runs, here));
  if (typeof input !== 'object' || input === null) return false;
  return Object.entries(input).some(([key, value]) => names(value, runs, key === 'run' || key === 'runs' || key === 'pairs'));
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** When the second frame begins, the first one is on screen. A window that is out of sight draws none. */
const drawn = (): Promise<unknown> =>
  Promise.race([new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))), sleep(1000)]);

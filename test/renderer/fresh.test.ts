// What the lab reports reaches the query cache whether a page is open or not: rows of the list, and every answer about a run whose
// record has changed. The bridge is a small pretended lab whose answers count up.

import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Payload } from '../../preload/contract.ts';

type Fresh = typeof import('../../renderer/state/fresh.ts');
type Bridge = typeof import('../../renderer/bridge.ts');
type News = Payload<'runs.changed'>;

let client: QueryClient;
let bridge: Bridge;
let hear: (news: News) => void;
/** What the lab has stored; an answer is what it was when the call was made. */
let stored = 0;
let calls: string[] = [];
/** Answers wait for this. */
let slow: Promise<void> | null = null;

const nothing: News = { rows: [], gone: [], stored: [] };
const series = (run: number) => bridge.callOptions('metrics.series', { run, names: ['loss'], axis: 'update', points: 100 });
const read = (key: readonly unknown[]): unknown => client.getQueryData(key);
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(10_000);
const store = (...runs: number[]): void => {
  stored += 1;
  hear({ ...nothing, stored: runs });
};

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  [stored, calls, slow] = [0, [], null];
  vi.stubGlobal('requestAnimationFrame', (then: () => void) => setTimeout(then, 16));
  vi.stubGlobal('window', {
    astrolab: {
      call: async (name: string, input: unknown) => {
        calls.push(`${name} ${JSON.stringify(input)}`);
        const value = stored;
        if (slow) await slow;
        return { ok: true, value };
      },
      listen: (_name: string, listener: typeof hear) => {
        hear = listener;
        return () => undefined;
      },
    },
  });
  const fresh: Fresh = await import('../../renderer/state/fresh.ts');
  bridge = await import('../../renderer/bridge.ts');
  client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, networkMode: 'always' } } });
  fresh.keepFresh(client);
});
afterEach(() => {
  client.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** As a page does: reads, and is told of what changes, until it is left. */
function open(key: ReturnType<typeof series>): { value: () => unknown; leave: () => void } {
  const observer = new QueryObserver(client, key);
  const leave = observer.subscribe(() => undefined);
  return { value: () => observer.getCurrentResult().data, leave };
}

test('what is on screen follows the run; what is about another run is left alone', async () => {
  const [one, other] = [open(series(1)), open(series(2))];
  await settle();
  for (let time = 0; time < 5; time++) {
    store(1);
    await settle();
  }
  expect([one.value(), other.value()]).toEqual([5, 0]);
});

test('a page that was left and is opened again shows what was stored meanwhile, also the very last of it', async () => {
  const first = open(series(1));
  await settle();
  store(1);
  await settle();
  first.leave();
  store(1);
  store(1);
  await settle();
  expect(read(series(1).queryKey), 'nobody asks for what nobody sees').toBe(1);
  const again = open(series(1));
  await settle();
  expect(again.value()).toBe(3);
});

test('an answer that is under way when something is stored does not count as the newest, whether its page is still open or not', async () => {
  for (const leaves of [false, true]) {
    let answer: () => void = () => undefined;
    slow = new Promise((resolve) => (answer = resolve));
    const page = open(series(leaves ? 3 : 1));
    await vi.advanceTimersByTimeAsync(10);
    if (leaves) page.leave();
    store(1, 3);
    await vi.advanceTimersByTimeAsync(10);
    slow = null;
    answer();
    await settle();
    const now = leaves ? open(series(3)) : page;
    await settle();
    expect([leaves, now.value()]).toEqual([leaves, stored]);
  }
});

test('a stream of news asks again one round after the other, and the last round has everything', async () => {
  const page = open(series(1));
  await settle();
  calls = [];
  for (let time = 0; time < 100; time++) {
    store(1);
    await vi.advanceTimersByTimeAsync(20);
  }
  await settle();
  expect(page.value()).toBe(100);
  expect(calls.length).toBeLessThan(50);
});

test('comparisons, pairs and groups that name the run are about it', async () => {
  const inputs = [
    bridge.callOptions('compare.open', { runs: [4, 1] }),
    bridge.callOptions('compare.pairs', { pairs: [[2, 1]] }),
    bridge.callOptions('compare.arms', { groups: [{ key: 'a', runs: [1] }], baseline: 'a' }),
    bridge.callOptions('episodes.facets', { run: 1 }),
  ];
  const others = [bridge.callOptions('compare.open', { runs: [4, 2] }), bridge.callOptions('runs.episodes', { run: 2, limit: 1 })];
  const pages = [...inputs, ...others].map((options) => {
    const observer = new QueryObserver<unknown, Error, unknown, unknown, readonly unknown[]>(client, {
      queryKey: options.queryKey,
      queryFn: () => stored,
    });
    observer.subscribe(() => undefined);
    return observer;
  });
  await settle();
  store(1);
  await settle();
  expect(pages.map((page) => page.getCurrentResult().data)).toEqual([1, 1, 1, 1, 0, 0]);
});

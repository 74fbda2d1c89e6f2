// Where the time of a run went, from the seconds that every update records: printed at the end of `lab train` and in reports.
// The parts add up to the whole; only the world's share lies inside rollout, V* and evaluation, which step through it.

import { bytes, duration } from '../base/format.ts';
import { median } from '../base/statistics.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { memoryLimit } from '../training/batching/session-pool.ts';

export const TIME_PARTS = ['rollout', 'scoring', 'update', 'vstar', 'evaluation', 'storage', 'other', 'environment'] as const;
export type TimePart = (typeof TIME_PARTS)[number];
export type TimeSpent = Readonly<Record<TimePart, { readonly seconds: number; readonly share: number }>>;

const NAMES: Readonly<Record<TimePart, string>> = {
  rollout: 'rollout',
  scoring: 'scoring',
  update: 'update',
  vstar: 'V*',
  evaluation: 'evaluation',
  storage: 'storage',
  other: 'other',
  environment: 'in the world (within the others)',
};

/** Seconds of each part over all updates, and its share of their time. What came before the first update is not in it. */
export function timeSpent(store: Pick<Store, 'metrics'>, run: number): TimeSpent {
  const recorded = ['rollout', 'scoring', 'update', 'vstar', 'evaluation', 'storage', 'environment', 'total'] as const;
  const id = (part: string): string => `system/time.${part}`;
  const series = store.metrics.many(run, recorded.map(id));
  const sum = (part: (typeof recorded)[number]): number => {
    let seconds = 0;
    for (const value of series[id(part)]?.values ?? []) seconds += value;
    return seconds;
  };
  const parts = {
    rollout: sum('rollout'),
    scoring: sum('scoring'),
    update: sum('update'),
    vstar: sum('vstar'),
    evaluation: sum('evaluation'),
  };
  const named = Object.values(parts).reduce((a, b) => a + b, 0);
  const storage = sum('storage'); // an update's numbers are stored when its time is over
  const whole = Math.max(named, sum('total')) + storage;
  const of = (seconds: number) => ({ seconds, share: whole === 0 ? 0 : seconds / whole });
  return {
    rollout: of(parts.rollout),
    scoring: of(parts.scoring),
    update: of(parts.update),
    vstar: of(parts.vstar),
    evaluation: of(parts.evaluation),
    storage: of(storage),
    other: of(whole - named - storage),
    environment: of(sum('environment')),
  };
}

/**
 * What the graphics card cost an update, as medians, because the first one (and the first after a pause) also sends weights and moments:
 * calls, kernels, MB sent and fetched, seconds inside calls, bytes exchanged for every drawn token, and percent of the weights' size for
 * scoring and optimizer steps.
 */
const SPENT = ['calls', 'kernels', 'up', 'down', 'waiting', 'perToken', 'learning'] as const;
export type DeviceSpent = Readonly<Record<(typeof SPENT)[number] | 'idle' | 'updates' | 'onCpu', number>>;

const WHOLE = 'system/time.total';

/** Undefined for runs on the CPU. `idle`: seconds that the card waits for the host; `onCpu`: updates without it, after it was lost. */
export function deviceSpent(store: Pick<Store, 'metrics'>, run: number): DeviceSpent | undefined {
  const series = store.metrics.many(run, [WHOLE, ...SPENT.map((name) => `system/device.${name}`)]);
  const middle = (name: (typeof SPENT)[number]): number => median(series[`system/device.${name}`]?.values ?? []) || 0;
  const whole = new Map([...(series[WHOLE]?.updates ?? [])].map((update, index) => [update, series[WHOLE]?.values[index]]));
  const waiting = series['system/device.waiting'];
  const idle = [...(waiting?.values ?? [])].map((seconds, index) => {
    const all = whole.get(waiting?.updates[index] ?? -1) ?? seconds;
    return Math.max(0, all - seconds);
  });
  const spent = {
    calls: middle('calls'),
    kernels: middle('kernels'),
    up: middle('up'),
    down: middle('down'),
    waiting: middle('waiting'),
    idle: median(idle) || 0,
    perToken: middle('perToken'),
    learning: middle('learning'),
    updates: whole.size,
    onCpu: Math.max(0, whole.size - idle.length),
  };
  return spent.calls > 0 ? spent : undefined;
}

/** In one line. */
export const deviceText = ({ calls, kernels, up, down, waiting, idle, perToken, learning, updates, onCpu }: DeviceSpent): string =>
  `Device, median of an update: ${count(calls)} calls with ${count(kernels)} kernels; ${bytes(Math.round(1e6 * up))} sent, ${bytes(Math.round(1e6 * down))} fetched ` +
  `(${count(perToken)} bytes a token; learning ${learning.toFixed(2)}% of the weights' size); the host waits ${duration(waiting)} for the device, the device ${duration(idle)} for the host` +
  (onCpu > 0 ? `; ${count(onCpu)} of ${count(updates)} updates on the CPU` : '');

const count = (value: number): string => Math.round(value).toLocaleString('en');

/** The parts that took any time, largest first, the world at the end: name, seconds, share. */
export function timeRows(time: TimeSpent): { readonly name: string; readonly seconds: number; readonly share: number }[] {
  return TIME_PARTS.filter((part) => time[part].seconds > 0)
    .toSorted((a, b) => Number(a === 'environment') - Number(b === 'environment') || time[b].seconds - time[a].seconds)
    .map((part) => ({ name: NAMES[part], ...time[part] }));
}

interface Remedy {
  readonly part: TimePart;
  /** From this share of the time on it is worth a word. */
  readonly from: number;
  readonly advice: string;
}

const REMEDIES: readonly Remedy[] = [
  {
    part: 'vstar',
    from: 0.4,
    advice: 'Value tasks with fewer samples: vstar.samples=8,4,2 takes fewer as the run goes, or fewer training.tasks',
  },
  { part: 'evaluation', from: 0.3, advice: 'Evaluate less: a larger evaluation.every or fewer evaluation.tasks' },
  { part: 'storage', from: 0.15, advice: 'Store fewer episodes: retention.keep=nth or best-worst' },
  {
    part: 'scoring',
    from: 0.3,
    advice: 'Scoring is for the KL and the critic: an algorithm without them, or a shorter policy.contextLength, needs less',
  },
  { part: 'environment', from: 0.3, advice: 'The world itself is slow: fewer steps (maxSteps), or a smaller catalog' },
  { part: 'rollout', from: 0.6, advice: 'Playing takes most: a smaller training.batch or policy, or fewer steps per episode' },
  {
    part: 'update',
    from: 0.6,
    advice: 'Learning takes most: a smaller policy, fewer epochs, or training.recompute=false where memory allows',
  },
];

/** Below this many seconds an update nobody waits for it. */
const FAST = 1;
/** From this part of the allowed memory on, sessions are given up to stay within it. */
const MEMORY_SHARE = 0.85;

/** What would make a run faster or smaller, from where its own time and memory went; empty where nothing stands out. */
export function profileAdvice(
  time: TimeSpent,
  {
    secondsPerUpdate,
    memory,
    memoryLimit: limit,
  }: { readonly secondsPerUpdate: number; readonly memory: number; readonly memoryLimit: number },
): string[] {
  const advice = REMEDIES.filter(({ part, from }) => secondsPerUpdate > FAST && time[part].share >= from)
    .toSorted((a, b) => time[b.part].share - time[a.part].share)
    .map(({ part, advice: text }) => `${NAMES[part]} took ${Math.round(100 * time[part].share)}% of the time. ${text}.`);
  const taken = `The process took ${Math.round(memory)} of ${Math.round(limit)} MB.`;
  const less =
    'A smaller training.microBatch (the update stays the same), training.recompute=true or a shorter policy.contextLength takes less';
  if (memory > limit) return [...advice, `${taken} ${less}.`];
  if (memory < MEMORY_SHARE * limit || secondsPerUpdate <= FAST) return advice;
  return [
    ...advice,
    `${taken} With a larger memory, updates may be faster: sessions that were given up to stay within it are kept. ${less}.`,
  ];
}

/** Advice from what a stored run has recorded; none while it has no update. */
export function adviceFor(
  store: Pick<Store, 'metrics'>,
  { id, updates, seconds, config }: Pick<Run, 'id' | 'updates' | 'seconds' | 'config'>,
): string[] {
  if (updates === 0) return [];
  const [, memory = 0] = store.metrics.latest(id)['system/memory'] ?? [];
  return profileAdvice(timeSpent(store, id), {
    secondsPerUpdate: seconds / updates,
    memory,
    memoryLimit: memoryLimit(config),
  });
}

// Calls and events about runs: the list, one run with everything about it, and what may be changed. The list is sent
// whole (a row is small) and kept fresh by `runs.changed`, so that filtering and sorting answer at once.

import type { Catalog } from '../../config/catalog.ts';
import { z } from 'zod';
import { algorithmOf, hasAlgorithm } from '../../algorithm/registry.ts';
import { anyNumber, proportion } from '../../base/shapes.ts';
import { evaluationKinds, eventKinds, purposes, severities, stages } from '../../base/vocabulary.ts';
import { changesFromPreset } from '../../config/presets.ts';
import { adviceFor, deviceSpent, deviceText } from '../../report/timing.ts';
import type { RunEvent as StoredEvent } from '../../store/events.ts';
import type { Run, RunSummary } from '../../store/runs.ts';
import { CallFailure, type Handlers, nothing, type Reads } from '../definition.ts';
import { existingRun } from '../existing.ts';
import type { Lab } from '../lab.ts';
import { plain } from '../plain.ts';
import { proportionOf, runRow } from '../rows.ts';

export type { RunRow } from '../rows.ts';

const runId = z.int().min(1);
const runIds = z.array(runId).min(1).max(10_000);

const stage = z.enum(stages);
export type Stage = z.infer<typeof stage>;

const json = z.json();
export type Json = z.infer<typeof json>;

const difference = z.object({ key: z.string(), before: json.optional(), after: json.optional() });
export type Difference = z.infer<typeof difference>;

/** Of an alert: which one, whether it was raised or has cleared, and the metrics it is about. */
const alert = z.object({ id: z.string(), state: z.enum(['active', 'cleared']), title: z.string(), metrics: z.array(z.string()) });

const runEvent = z.object({
  id: z.number(),
  update: z.number(),
  time: z.number(),
  kind: z.enum(eventKinds),
  severity: z.enum(severities),
  text: z.string(),
  /** Null for all but alerts. */
  alert: alert.nullable(),
});
export type RunEvent = z.infer<typeof runEvent>;

const evaluation = z.object({
  id: z.number(),
  update: z.number(),
  kind: z.enum(evaluationKinds),
  split: z.string(),
  success: proportion,
  meanReturn: anyNumber,
  meanSteps: z.number(),
});

const episode = z.object({
  id: z.number(),
  update: z.number(),
  purpose: z.enum(purposes),
  task: z.string(),
  category: z.string(),
  tier: z.string(),
  failure: z.string().nullable(),
  success: z.boolean(),
  return: anyNumber,
  advantage: anyNumber.nullable(),
  steps: z.number(),
  actions: z.array(z.string()),
});
export type EpisodeRow = z.infer<typeof episode>;

const page = z.object({ total: z.number(), episodes: z.array(episode) });

export const events = {
  /** At most four times a second: rows that are new or different, runs that are gone, and runs whose record has changed, so that older answers about them no longer hold. */
  'runs.changed': z.object({ rows: z.array(runRow), gone: z.array(runId), stored: z.array(runId) }),
};

export const calls = {
  'runs.list': { input: nothing, answer: z.object({ runs: z.array(runRow) }) },
  'runs.get': {
    input: z.strictObject({ run: runId }),
    answer: z.object({
      run: runRow,
      config: json,
      versions: z.record(z.string(), z.string()),
      /** What it goes through, in order. */
      stages: z.array(stage),
      /** What differs from the preset it began with; null when that preset is gone. */
      changes: z.array(difference).nullable(),
      /** What would make it faster or smaller, from where its time and memory went. */
      advice: z.array(z.string()),
      /** What its graphics card has cost, in a line; null on the CPU. */
      device: z.string().nullable(),
      /** The temperature of its evaluations during training; 0 is greedy. */
      validationTemperature: z.number(),
    }),
  },
  'runs.change': {
    input: z.strictObject({ run: runId, name: z.string().min(1).max(120).optional(), notes: z.string().max(20_000).optional() }),
    answer: nothing,
  },
  'runs.tag': {
    input: z.strictObject({ runs: runIds, add: z.array(z.string().max(60)), remove: z.array(z.string().max(60)) }),
    answer: nothing,
  },
  /** Into the trash; `runs.restore` undoes it. */
  'runs.delete': { input: z.strictObject({ runs: runIds }), answer: nothing },
  'runs.restore': { input: z.strictObject({ runs: runIds }), answer: nothing },
  /** One config key of every run, for grouping and for columns. */
  'runs.configValues': {
    input: z.strictObject({ key: z.string().min(1).max(200) }),
    answer: z.object({ values: z.array(z.tuple([runId, json])) }),
  },
  'runs.events': { input: z.strictObject({ run: runId }), answer: z.object({ events: z.array(runEvent) }) },
  'runs.evaluations': {
    input: z.strictObject({ run: runId }),
    answer: z.object({ evaluations: z.array(evaluation), checkpoints: z.array(z.object({ update: z.number(), bytes: z.number() })) }),
  },
  /** Newest first: the latest episodes, or those behind one point of a chart. */
  'runs.episodes': {
    input: z.strictObject({
      run: runId,
      purpose: z.enum(purposes).optional(),
      fromUpdate: z.int().min(0).optional(),
      toUpdate: z.int().min(0).optional(),
      limit: z.int().min(1).max(1000),
    }),
    answer: page,
  },
};

export const reads = {
  'runs.configValues': (store, { key }) => ({
    values: [...store.runs.configValues(key)].map(([id, value]) => [id, plain(value)] as [number, ReturnType<typeof plain>]),
  }),
} satisfies Reads<typeof calls>;

export function handlers(lab: Lab): Handlers<Omit<typeof calls, keyof typeof reads>> {
  const found = (id: number): RunSummary => lab.store.runs.summary(existingRun(lab.store, id));
  return {
    'runs.list': () => ({ runs: lab.store.runs.list().map(lab.row) }),

    'runs.get': ({ run: id }) => {
      const run = lab.store.runs.get(found(id).id);
      const device = deviceSpent(lab.store, id);
      return {
        run: lab.row(run),
        config: plain(run.config),
        versions: { ...run.versions },
        stages: stagesOf(lab.catalog, run),
        changes: changesOf(lab.catalog, run),
        advice: adviceFor(lab.store, run),
        device: device ? deviceText(device) : null,
        validationTemperature: lab.store.evaluations.list(id).findLast(({ kind }) => kind === 'periodic')?.temperature ?? 0,
      };
    },

    'runs.change': ({ run, ...change }) => {
      found(run);
      const { name, notes } = change;
      lab.store.runs.change(run, { ...(name !== undefined && { name }), ...(notes !== undefined && { notes }) });
      lab.changed(run);
      return {};
    },

    'runs.tag': ({ runs, add, remove }) => {
      const { store } = lab;
      store.write(() => {
        for (const id of runs) store.runs.setTags(id, [...found(id).tags.filter((tag) => !remove.includes(tag)), ...add]);
      });
      lab.changed(...runs);
      return {};
    },

    'runs.delete': ({ runs }) => {
      const busy = runs.map(found).filter(({ state }) => state === 'running' || state === 'stopping');
      if (busy.length > 0) {
        const which = busy.map(({ id }) => id).join(', ');
        throw new CallFailure('busy-run', `Nothing was deleted: run ${which} is training.`, 'Stop it first, then delete it.');
      }
      lab.store.runs.delete(runs);
      lab.gone(runs);
      return {};
    },

    'runs.restore': ({ runs }) => {
      lab.store.runs.restore(runs);
      lab.changed(...runs);
      lab.queue.wake();
      return {};
    },

    'runs.events': ({ run }) => ({ events: lab.store.events.list(found(run).id).map(eventOf) }),

    'runs.evaluations': ({ run }) => evaluationsOf(lab, found(run).id),

    'runs.episodes': ({ run, limit, ...filter }) => {
      const { purpose, fromUpdate, toUpdate } = filter;
      const wanted = {
        ...(purpose !== undefined && { purpose }),
        ...(fromUpdate !== undefined && { fromUpdate }),
        ...(toUpdate !== undefined && { toUpdate }),
      };
      const { total, episodes } = lab.store.episodes.page(found(run).id, wanted, 'time', true, limit);
      return { total, episodes: episodes.map((episode) => ({ ...episode, actions: [...episode.actions] })) };
    },
  };
}

const alertData = z.object({ id: z.string(), state: z.enum(['active', 'cleared']), title: z.string(), metrics: z.array(z.string()) });

const eventOf = (event: StoredEvent): RunEvent => {
  const { id, update, time, kind, severity, text } = event;
  return { id, update, time, kind, severity, text, alert: alertOf(event) };
};

const alertOf = ({ kind, data }: StoredEvent): RunEvent['alert'] => (kind === 'alert' ? (alertData.safeParse(data).data ?? null) : null);

function stagesOf(catalog: Catalog, { config: { algorithm, evaluation } }: Run): Stage[] {
  const vstar = !hasAlgorithm(catalog, algorithm.id) || algorithmOf(catalog, algorithm).needs.vstar;
  return stages.filter((stage) => (stage !== 'vstar' || vstar) && (stage !== 'test' || evaluation.finalTasks > 0));
}

/** Every evaluation of a run, oldest first, and its checkpoints. */
function evaluationsOf(lab: Lab, run: number) {
  return {
    evaluations: lab.store.evaluations
      .list(run)
      .map(({ id, update, kind, split, success, meanReturn, meanSteps }) => {
        return { id, update, kind, split, success: proportionOf(success), meanReturn, meanSteps };
      })
      .sort((a, b) => a.update - b.update || a.id - b.id),
    checkpoints: lab.store.checkpoints.list(run).map(({ update, bytes }) => ({ update, bytes })),
  };
}

/** As it goes over the wire: what is absent on one side has no value there. */
function changesOf(catalog: Catalog, { preset, config }: Run): Difference[] | null {
  return (
    changesFromPreset(catalog, preset, config)?.map(({ key, before, after }) => ({
      key,
      ...(before !== undefined && { before: plain(before) }),
      ...(after !== undefined && { after: plain(after) }),
    })) ?? null
  );
}

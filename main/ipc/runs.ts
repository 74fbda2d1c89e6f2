// Calls about runs: the list, one run with its config, events, evaluations and episodes, and what may be changed.

import { z } from 'zod';
import type { Difference, runCalls, RunEvent, Stage } from '../../preload/contract/runs.ts';
import { algorithmOf } from '../algorithm/registry.ts';
import type { Json } from '../base/canonical.ts';
import { alertById } from '../metrics/alerts.ts';
import { adviceFor, deviceSpent, deviceText } from '../report/timing.ts';
import type { RunEvent as StoredEvent } from '../store/events.ts';
import type { Run, RunStore } from '../store/runs.ts';
import { stages } from '../base/vocabulary.ts';
import { checkConfig, completeConfig } from '../config/config.ts';
import { flatten } from '../config/overrides.ts';
import { changesFromPreset } from '../config/presets.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { proportionOf } from './rows.ts';

export function runHandlers(context: Context): Handlers<typeof runCalls> {
  const found = (id: number): Run => {
    const run = context.lab.store.runs.find(id);
    if (!run) throw new CallFailure('not-found', `There is no run ${id}.`, 'It may have been permanently deleted; see Runs.');
    return run;
  };
  return {
    'runs.list': () => ({ runs: context.lab.store.runs.list().map(context.lab.row) }),

    'runs.get': ({ run: id }) => {
      const run = found(id);
      const device = deviceSpent(context.lab.store, id);
      return {
        run: context.lab.row(run),
        config: plain(run.config),
        versions: { ...run.versions },
        stages: stagesOf(run),
        changes: changesOf(run),
        advice: adviceFor(context.lab.store, run),
        device: device ? deviceText(device) : null,
        validationTemperature: context.lab.store.evaluations.list(id).findLast(({ kind }) => kind === 'periodic')?.temperature ?? 0,
      };
    },

    'runs.change': ({ run, ...change }) => {
      found(run);
      const { name, notes } = change;
      context.lab.store.runs.change(run, { ...(name !== undefined && { name }), ...(notes !== undefined && { notes }) });
      context.lab.changed(run);
      return {};
    },

    'runs.tag': ({ runs, add, remove }) => {
      const { store } = context.lab;
      store.write(() => {
        for (const id of runs) store.runs.setTags(id, [...found(id).tags.filter((tag) => !remove.includes(tag)), ...add]);
      });
      context.lab.changed(...runs);
      return {};
    },

    'runs.delete': ({ runs }) => {
      const busy = runs.map(found).filter(({ state }) => state === 'running' || state === 'stopping');
      if (busy.length > 0) {
        const which = busy.map(({ id }) => id).join(', ');
        throw new CallFailure('busy-run', `Nothing was deleted: run ${which} is training.`, 'Stop it first, then delete it.');
      }
      context.lab.store.runs.delete(runs);
      context.lab.gone(runs);
      return {};
    },

    'runs.restore': ({ runs }) => {
      context.lab.store.runs.restore(runs);
      context.lab.changed(...runs);
      context.lab.queue.wake();
      return {};
    },

    'runs.configValues': ({ key }) => ({
      values: [...valuesOf(context.lab.store.runs, key)].map(([id, value]) => [id, plain(value)] as [number, ReturnType<typeof plain>]),
    }),

    'runs.events': ({ run }) => ({ events: context.lab.store.events.list(found(run).id).map(eventOf) }),

    'runs.evaluations': ({ run }) => evaluationsOf(context, found(run).id),

    'runs.episodes': ({ run, limit, ...filter }) => {
      const { purpose, fromUpdate, toUpdate } = filter;
      const wanted = {
        ...(purpose !== undefined && { purpose }),
        ...(fromUpdate !== undefined && { fromUpdate }),
        ...(toUpdate !== undefined && { toUpdate }),
      };
      const { total, episodes } = context.lab.store.episodes.page(found(run).id, wanted, 'time', true, limit);
      return { total, episodes: episodes.map((episode) => ({ ...episode, actions: [...episode.actions] })) };
    },
  };
}

const alertData = z.object({
  id: z.string(),
  state: z.enum(['active', 'cleared']).default('active'),
  title: z.string().optional(),
  metrics: z.array(z.string()).optional(),
});

const eventOf = (event: StoredEvent): RunEvent => {
  const { id, update, time, kind, severity, text } = event;
  return { id, update, time, kind, severity, text, alert: alertOf(event) };
};

/** Alerts of version 0.1.0 stored their id alone; title and metrics follow from it. */
function alertOf({ kind, data }: StoredEvent): RunEvent['alert'] {
  const stored = kind === 'alert' ? alertData.safeParse(data) : undefined;
  if (!stored?.success) return null;
  const { id, state, title, metrics } = stored.data;
  const rule = alertById(id);
  return { id, state, title: title ?? rule?.title ?? 'Alert', metrics: [...(metrics ?? rule?.metrics ?? [])] };
}

/** A run of an older version may have a config that no longer parses; then all stages are named. */
function stagesOf(run: Run): Stage[] {
  const parsed = checkConfig(run.config);
  if (!parsed.success) return [...stages];
  const { algorithm, evaluation } = parsed.data;
  const { vstar } = algorithmOf(algorithm).needs;
  return stages.filter((stage) => (stage !== 'vstar' || vstar) && (stage !== 'test' || evaluation.finalTasks > 0));
}

/** Every evaluation of a run, oldest first, and its checkpoints. */
function evaluationsOf(context: Context, run: number) {
  return {
    evaluations: context.lab.store.evaluations
      .list(run)
      .map(({ id, update, kind, split, success, meanReturn, meanSteps }) => {
        return { id, update, kind, split, success: proportionOf(success), meanReturn, meanSteps };
      })
      .sort((a, b) => a.update - b.update || a.id - b.id),
    checkpoints: context.lab.store.checkpoints.list(run).map(({ update, bytes }) => ({ update, bytes })),
  };
}

/** As it goes over the wire: what is absent on one side has no value there. */
function changesOf({ preset, config }: Run): Difference[] | null {
  return (
    changesFromPreset(preset, config)?.map(({ key, before, after }) => ({
      key,
      ...(before !== undefined && { before: plain(before) }),
      ...(after !== undefined && { after: plain(after) }),
    })) ?? null
  );
}

/** The setting in every run; a run from before the setting existed has its default. */
function valuesOf(runs: RunStore, key: string): Map<number, unknown> {
  const values = new Map<number, unknown>(runs.configValues(key));
  for (const { id } of runs.list()) {
    const value = values.has(id) ? undefined : flatten(completeConfig(runs.get(id).config)).get(key);
    if (value !== undefined) values.set(id, value);
  }
  return values;
}

type Mutable = null | boolean | number | string | Mutable[] | { [key: string]: Mutable };

/** A copy of plain data that may be handed over. */
export function plain(value: unknown | Json): Mutable {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  throw new TypeError(`Only plain data can be shown; found a ${typeof value}`);
}

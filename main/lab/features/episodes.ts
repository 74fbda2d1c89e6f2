// Calls about episodes: the list with its filters, one episode with every step and word, and another policy continuing
// from one of its steps.

import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { canonicalJson } from '../../base/canonical.ts';
import { anyNumber, episodeFilter, proportion } from '../../base/shapes.ts';
import { wilson } from '../../base/statistics.ts';
import { episodeOrders, purposes } from '../../base/vocabulary.ts';
import { readReplay, replayOf } from '../../replay/replay.ts';
import { replay } from '../../replay/schema.ts';
import { episodeHtml } from '../../report/episode-html.ts';
import { type Trajectory, trajectorySchema } from '../../rollout/trajectory.ts';
import type { EpisodeFilter as StoredFilter } from '../../store/episodes.ts';
import type { Store } from '../../store/store.ts';
import { runOfEpisode } from '../../store/trajectories.ts';
import { type Handlers, nothing, type Reads } from '../definition.ts';
import { EpisodeSearch } from '../episode-search.ts';
import { existingRun } from '../existing.ts';
import { fileName } from '../file-name.ts';
import type { Lab } from '../lab.ts';

export type { DrawnPage, PageCell, PageEntry, Replay, ReplayStep, Word } from '../../replay/schema.ts';

const run = z.int().min(1);
const episodeId = z.int().min(1);
const purpose = z.enum(purposes);

export type EpisodeFilter = z.infer<typeof episodeFilter>;

const episode = z.object({
  id: episodeId,
  run,
  /** The update it was recorded in, and the one whose weights acted. */
  update: z.number(),
  acted: z.number(),
  purpose,
  split: z.string(),
  task: z.string(),
  category: z.string(),
  tier: z.string(),
  failure: z.string().nullable(),
  seed: z.number(),
  success: z.boolean(),
  return: anyNumber,
  vstar: anyNumber.nullable(),
  advantage: anyNumber.nullable(),
  surprise: anyNumber,
  steps: z.number(),
  tokens: z.number(),
  actions: z.array(z.string()),
  starred: z.boolean(),
  comment: z.string(),
});
export type Episode = z.infer<typeof episode>;

const note = z.object({ starred: z.boolean(), comment: z.string().max(20_000) });
export type EpisodeNote = z.infer<typeof note>;

const counts = z.record(z.string(), z.number());

const policy = z.object({
  run,
  name: z.string(),
  variant: z.string(),
  seed: z.number(),
  /** Its checkpoints, and which of them had the best validation. */
  updates: z.array(z.number()),
  best: z.number().nullable(),
});

export const calls = {
  /** One self-contained HTML file, where the user says; null when they changed their mind. */
  'episodes.export': { input: z.strictObject({ episode: z.int().min(1) }), answer: z.object({ file: z.string().nullable() }) },
  'episodes.list': {
    input: z.strictObject({
      run,
      filter: episodeFilter,
      order: z.enum(episodeOrders),
      descending: z.boolean(),
      offset: z.int().min(0),
      limit: z.int().min(1).max(500),
    }),
    /** `total` match the filter, of `all` that the run has now. */
    answer: z.object({ total: z.number(), all: z.number(), episodes: z.array(episode) }),
  },
  /** What there is to filter by, with counts. */
  'episodes.facets': {
    input: z.strictObject({ run }),
    answer: z.object({ total: z.number(), purposes: counts, categories: counts, tiers: counts, failures: counts }),
  },
  'episodes.read': { input: z.strictObject({ episode: episodeId }), answer: z.object({ replay, note }) },
  /** A star and a comment; without either the note is gone. */
  'episodes.note': { input: z.strictObject({ episode: episodeId, ...note.shape }), answer: nothing },
  /** Policies that can act in this run's world: every run of it that has checkpoints. */
  'episodes.policies': { input: z.strictObject({ run }), answer: z.object({ policies: z.array(policy) }) },
  /** Plays the first `step` steps again as they were, then lets another policy continue. Nothing is stored. */
  'episodes.resample': {
    input: z.strictObject({
      episode: episodeId,
      step: z.int().min(0).max(1000),
      run,
      update: z.int().min(0),
      /** 0 takes the most probable token. */
      temperature: z.number().min(0).max(5),
      /** Another number, other draws. */
      attempt: z.int().min(0).max(1000),
      /** Number of rollouts from there: the first comes back, all are counted. */
      rollouts: z.int().min(1).max(100),
    }),
    answer: z.object({ replay, solved: proportion }),
  },
};

const NO_NOTE = { starred: false, comment: '' };
const resampled = z.object({ trajectory: trajectorySchema, solved: z.int().min(0) });

const search = new EpisodeSearch();

interface Resampled {
  readonly run: number;
  readonly update: number;
  readonly trajectory: Trajectory;
}

export const reads = {
  'episodes.list': (store, { run: id, filter: { deep, ...filter }, order, descending, offset, limit }) => {
    existingRun(store, id);
    const wanted = given(filter);
    const { total, episodes } =
      deep && filter.text
        ? store.episodes.pageOf(search.episodes(store, id, wanted), order, descending, limit, offset)
        : store.episodes.page(id, wanted, order, descending, limit, offset);
    const notes = store.notes.ofRun(id);
    return {
      total,
      all: store.episodes.count(id),
      episodes: episodes.map((one) => {
        const { starred, comment } = notes.get(one.id) ?? NO_NOTE;
        return { ...one, actions: [...one.actions], starred, comment };
      }),
    };
  },

  'episodes.facets': (store, { run: id }) => {
    const { episodes } = store;
    return { total: episodes.count(existingRun(store, id)), ...structuredClone(episodes.facets(id)) };
  },

  'episodes.read': (store, { episode: id }) => {
    existingRun(store, runOfEpisode(id));
    return { replay: readReplay(store, id), note: { ...store.notes.get(id) } };
  },

  'episodes.policies': (store, { run: id }) => ({ policies: policiesFor(store, existingRun(store, id)) }),

  resampled: (store: Store, { run: id, update, trajectory }: Resampled) => replayOf(store, store.runs.get(id), trajectory, null, update),

  html: (store: Store, { episode: id }: { readonly episode: number }) => {
    const found = readReplay(store, id);
    return { name: `episode-${id}-${found.instruction}`, html: episodeHtml(found, store.notes.get(id).comment) };
  },
} satisfies Reads<typeof calls> & Record<string, unknown>;

export function handlers(lab: Lab): Handlers<Omit<typeof calls, keyof typeof reads>> {
  return {
    'episodes.note': ({ episode: id, starred, comment }) => {
      existingRun(lab.store, runOfEpisode(id));
      // Says so when there is no such episode.
      lab.store.episodes.get(id);
      lab.store.notes.set(id, { starred, comment: comment.trim() });
      return {};
    },

    'episodes.export': async ({ episode: id }) => {
      const { name, html } = await lab.read('episodes', 'html', { episode: id });
      const filters = [{ name: 'HTML', extensions: ['html'] }];
      const file = await lab.desktop.chooseTarget({ title: 'Export episode', defaultPath: `${fileName(name)}.html`, filters });
      if (file !== null) await writeFile(file, html);
      return { file };
    },

    'episodes.resample': async (job) => {
      existingRun(lab.store, job.run);
      const result = await lab.worker.run({ kind: 'resample', dataFolder: lab.dataFolder, ...job });
      const { trajectory, solved } = resampled.parse(result);
      const { run: id, update } = job;
      return { replay: await lab.read('episodes', 'resampled', { run: id, update, trajectory }), solved: wilson(solved, job.rollouts) };
    },
  };
}

/** Every run of the same world that has checkpoints. */
function policiesFor(store: Store, run: number) {
  const { world, config } = store.runs.get(run);
  const sameWorld = canonicalJson(config.world);
  return store.runs
    .list()
    .filter(
      (other) => other.world === world && other.damaged === null && canonicalJson(store.runs.get(other.id).config.world) === sameWorld,
    )
    .map(({ id, name, variant, seed, best }) => ({
      run: id,
      name,
      variant,
      seed,
      updates: store.checkpoints.list(id).map(({ update }) => update),
      best: best?.update ?? null,
    }))
    .filter(({ updates }) => updates.length > 0);
}

/** The filter without the fields that say nothing. */
function given(filter: { [K in keyof StoredFilter]?: StoredFilter[K] | undefined }): StoredFilter {
  const { purpose, fromUpdate, toUpdate, success, category, tier, failure, task, text, starred } = filter;
  return {
    ...(purpose !== undefined && { purpose }),
    ...(fromUpdate !== undefined && { fromUpdate }),
    ...(toUpdate !== undefined && { toUpdate }),
    ...(success !== undefined && { success }),
    ...(category !== undefined && { category }),
    ...(tier !== undefined && { tier }),
    ...(failure !== undefined && { failure }),
    ...(task !== undefined && { task }),
    ...(starred !== undefined && { starred }),
    ...(text !== undefined && text !== '' && { text }),
  };
}

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
import { trajectorySchema } from '../../rollout/trajectory.ts';
import type { EpisodeFilter as StoredFilter } from '../../store/episodes.ts';
import { runOfEpisode } from '../../store/trajectories.ts';
import { type Handlers, nothing } from '../definition.ts';
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

export function handlers(lab: Lab): Handlers<typeof calls> {
  const search = new EpisodeSearch();
  return {
    'episodes.list': async ({ run, filter: { deep, ...filter }, order, descending, offset, limit }) => {
      const { store } = lab;
      const wanted = given(filter);
      const found = deep && filter.text ? await search.episodes(store, existingRun(lab.store, run), wanted) : undefined;
      const { total, episodes } = found
        ? store.episodes.pageOf(found, order, descending, limit, offset)
        : store.episodes.page(existingRun(lab.store, run), wanted, order, descending, limit, offset);
      const notes = store.notes.ofRun(run);
      return {
        total,
        all: store.episodes.count(run),
        episodes: episodes.map((episode) => {
          const { starred, comment } = notes.get(episode.id) ?? NO_NOTE;
          return { ...episode, actions: [...episode.actions], starred, comment };
        }),
      };
    },

    'episodes.note': ({ episode, starred, comment }) => {
      existingRun(lab.store, runOfEpisode(episode));
      // Says so when there is no such episode.
      lab.store.episodes.get(episode);
      lab.store.notes.set(episode, { starred, comment: comment.trim() });
      return {};
    },

    'episodes.export': ({ episode }) => exportEpisode(lab, episode),

    'episodes.facets': ({ run }) => {
      const { episodes } = lab.store;
      return { total: episodes.count(existingRun(lab.store, run)), ...structuredClone(episodes.facets(run)) };
    },

    'episodes.read': ({ episode }) => {
      existingRun(lab.store, runOfEpisode(episode));
      return { replay: readReplay(lab.store, episode), note: { ...lab.store.notes.get(episode) } };
    },

    'episodes.policies': ({ run }) => ({ policies: policiesFor(lab, existingRun(lab.store, run)) }),

    'episodes.resample': async (job) => {
      const { store } = lab;
      const run = store.runs.get(existingRun(lab.store, job.run));
      const result = await lab.worker.run({ kind: 'resample', dataFolder: lab.dataFolder, ...job });
      const { trajectory: first, solved } = resampled.parse(result);
      return { replay: replayOf(store, run, first, null, job.update), solved: wilson(solved, job.rollouts) };
    },
  };
}

async function exportEpisode({ store, desktop }: Lab, episode: number): Promise<{ file: string | null }> {
  const found = readReplay(store, episode);
  const file = await desktop.chooseTarget({
    title: 'Export episode',
    defaultPath: `${fileName(`episode-${episode}-${found.instruction}`)}.html`,
    filters: [{ name: 'HTML', extensions: ['html'] }],
  });
  if (file !== null) await writeFile(file, episodeHtml(found, store.notes.get(episode).comment));
  return { file };
}

/** Every run of the same world that has checkpoints. */
function policiesFor({ store }: Lab, run: number) {
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

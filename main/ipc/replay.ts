// Calls about episodes: the list, one episode to replay, and another policy continuing from one of its steps. The model's
// work of the latter happens in the worker process.

import { writeFile } from 'node:fs/promises';
import { dialog } from 'electron';
import { z } from 'zod';
import type { replayCalls } from '../../preload/contract/replay.ts';
import { canonicalJson } from '../base/canonical.ts';
import { episodeHtml } from '../report/episode-html.ts';
import { readReplay, replayOf } from '../replay/replay.ts';
import { wilson } from '../base/statistics.ts';
import type { EpisodeFilter } from '../store/episodes.ts';
import { runOfEpisode } from '../store/trajectories.ts';
import { trajectorySchema } from '../rollout/trajectory.ts';
import { fileName } from './charts.ts';
import { EpisodeSearch } from './episode-search.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';

const NO_NOTE = { starred: false, comment: '' };
const resampled = z.object({ trajectory: trajectorySchema, solved: z.int().min(0) });

export function replayHandlers(context: Context): Handlers<typeof replayCalls> {
  const known = (run: number): number => {
    if (!context.lab.store.runs.find(run)) {
      throw new CallFailure(
        'not-found',
        `There is no run ${run}.`,
        'It may have been deleted for good; the page Runs lists what there is.',
      );
    }
    return run;
  };
  const search = new EpisodeSearch();
  return {
    'episodes.list': async ({ run, filter: { deep, ...filter }, order, descending, offset, limit }) => {
      const { store } = context.lab;
      const wanted = given(filter);
      const found = deep && filter.text ? await search.episodes(store, known(run), wanted) : undefined;
      const { total, episodes } = found
        ? store.episodes.pageOf(found, order, descending, limit, offset)
        : store.episodes.page(known(run), wanted, order, descending, limit, offset);
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
      known(runOfEpisode(episode));
      // Says so when there is no such episode.
      context.lab.store.episodes.get(episode);
      context.lab.store.notes.set(episode, { starred, comment: comment.trim() });
      return {};
    },

    'episodes.export': ({ episode }) => exportEpisode(context, episode),

    'episodes.facets': ({ run }) => {
      const { episodes } = context.lab.store;
      return { total: episodes.count(known(run)), ...structuredClone(episodes.facets(run)) };
    },

    'episodes.read': ({ episode }) => {
      known(runOfEpisode(episode));
      return { replay: readReplay(context.lab.store, episode), note: { ...context.lab.store.notes.get(episode) } };
    },

    'episodes.policies': ({ run }) => ({ policies: policiesFor(context, known(run)) }),

    'episodes.resample': async (job) => {
      const { store } = context.lab;
      const run = store.runs.get(known(job.run));
      const result = await context.worker.run({ kind: 'resample', dataFolder: context.dataFolder, ...job });
      const { trajectory: first, solved } = resampled.parse(result);
      return { replay: replayOf(store, run, first, null, job.update), solved: wilson(solved, job.rollouts) };
    },
  };
}

async function exportEpisode({ lab: { store } }: Context, episode: number): Promise<{ file: string | null }> {
  const replay = readReplay(store, episode);
  const { canceled, filePath } = await dialog.showSaveDialog({
    title: 'Export episode',
    defaultPath: `${fileName(`episode-${episode}-${replay.instruction}`)}.html`,
    filters: [{ name: 'HTML', extensions: ['html'] }],
  });
  if (canceled || !filePath) return { file: null };
  await writeFile(filePath, episodeHtml(replay, store.notes.get(episode).comment));
  return { file: filePath };
}

/** Every run of the same world that has checkpoints. */
function policiesFor({ lab: { store } }: Context, run: number) {
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
function given(filter: { [K in keyof EpisodeFilter]?: EpisodeFilter[K] | undefined }): EpisodeFilter {
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

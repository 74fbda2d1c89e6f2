// What the list of episodes shows, remembered between visits. The order stays from run to run; a filter belongs to the run it was
// made for, since another one may have nothing of the kind.

import { useMemo } from 'react';
import { z } from 'zod';
import { episodeFilter } from '../../main/base/shapes.ts';
import { type EpisodeOrder, episodeOrders } from '../../main/base/vocabulary.ts';
import type { EpisodeFilter } from '../../main/lab/features/episodes.ts';
import { useView, writeView } from '../state/view.ts';

export interface ListView {
  readonly filter: EpisodeFilter;
  readonly order: EpisodeOrder;
  readonly descending: boolean;
}

const KEY = 'replay.view';
const viewSchema = z.object({ run: z.int().nullable(), filter: episodeFilter, order: z.enum(episodeOrders), descending: z.boolean() });
export const NEWEST_FIRST: ListView = { filter: {}, order: 'time', descending: true };
const FIRST_VIEW = { run: null, ...NEWEST_FIRST };

export function useListView(run: number): [ListView, (view: ListView) => void] {
  const [stored, store] = useView(KEY, viewSchema, FIRST_VIEW);
  const view = useMemo(() => {
    const { run: of, filter, order, descending } = stored;
    return { filter: of === run ? filter : {}, order, descending };
  }, [stored, run]);
  return [view, (next) => store({ run, ...next })];
}

/** For whoever leads to Replay: the run's list opens with this filter, newest first. */
export function filterEpisodes(run: number, filter: EpisodeFilter): void {
  writeView(KEY, { run, ...NEWEST_FIRST, filter });
}

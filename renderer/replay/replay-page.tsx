// Replay: any episode of any run, step by step and token by token. The list with its filters at the left, the player at the
// right; the address holds run and episode, so that a chart point, a cell of a matrix or a copied link leads here.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { z } from 'zod';
import { callOptions, useCall } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { useActions } from '../state/actions.ts';
import { runName, useRuns } from '../state/runs.ts';
import { useView } from '../state/view.ts';
import { EpisodeList } from './episode-list.tsx';
import { Filters } from './filters.tsx';
import { NEWEST_FIRST, useListView } from './list-view.ts';
import { Player } from './player.tsx';
import { episodeLink } from './text.ts';
import styles from './replay.module.css';

const lastRun = z.int().nullable();

export default function ReplayPage() {
  const params = useParams();
  const [, navigate] = useLocation();
  const runs = useRuns();
  const [remembered, remember] = useView('replay.run', lastRun, null);
  const rows = (runs.data?.runs ?? []).filter(({ episodes, state }) => episodes > 0 || state !== 'queued');
  const asked = Number(params.run ?? Number.NaN);
  const run = Number.isInteger(asked) ? asked : (rows.find(({ id }) => id === remembered)?.id ?? rows[0]?.id);
  const episode = params.episode === undefined ? null : Number(params.episode);

  if (runs.isError) {
    return (
      <Page title="Replay">
        <ErrorState title="Could not read the runs" error={runs.error} retry={() => void runs.refetch()} />
      </Page>
    );
  }
  if (run === undefined) {
    return (
      <Page title="Replay">
        {runs.isPending ? (
          <Loading label="Loading runs" />
        ) : (
          <EmptyState title="No episodes yet" actions={<LinkButton href="/new">Set up a run</LinkButton>}>
            <p>Runs record their episodes with every token and its statistics. Start a run to see its first episodes here.</p>
          </EmptyState>
        )}
      </Page>
    );
  }
  return (
    <Page
      title="Replay"
      actions={
        <Select
          aria-label="Run"
          value={String(run)}
          options={rows.map((row) => ({ value: String(row.id), label: `${runName(row)} · ${row.variant}` }))}
          onValue={(value) => {
            remember(Number(value));
            navigate(`/replay/${value}`);
          }}
        />
      }
    >
      <RunReplay
        key={run}
        run={run}
        episode={episode}
        start={Math.max(0, Number(params.step ?? 1) - 1)}
        onEpisode={(id) => navigate(episodeLink(run, id), { replace: episode === null })}
      />
    </Page>
  );
}

interface RunReplayProps {
  run: number;
  episode: number | null;
  /** The step to begin with, from 0. */
  start: number;
  onEpisode: (episode: number) => void;
}

function RunReplay({ run, episode, start, onEpisode }: RunReplayProps) {
  const [view, setView] = useListView(run);
  const [found, setFound] = useState<{ readonly total: number; readonly all: number } | null>(null);
  const total = found?.total ?? null;
  const [open, setOpen] = useView('replay.filters', z.boolean(), true);
  const facets = useCall('episodes.facets', { run });
  const replay = useQuery({
    ...callOptions('episodes.read', { episode: episode ?? 0 }),
    enabled: episode !== null,
    placeholderData: keepPreviousData,
  });
  const select = useCallback((id: number) => onEpisode(id), [onEpisode]);
  const all = found?.all ?? 0;
  useActions([
    { id: 'replay.filters', title: 'Toggle filters', group: 'Replay', keys: 'f', run: () => setOpen(!open) },
    {
      id: 'replay.failures',
      title: 'Show failures only',
      group: 'Replay',
      run: () => setView({ ...view, filter: { ...view.filter, success: false } }),
    },
  ]);

  return (
    <div className={styles.columns}>
      <aside className={styles.side} aria-label="Episodes of the run" data-tour-id="episodes">
        <div className={styles.sideHead}>
          <span role="status">
            {total === null ? '…' : total.toLocaleString('en')}
            {total !== null && total !== all && ` of ${all.toLocaleString('en')}`} {all === 1 ? 'episode' : 'episodes'}
          </span>
          <Button kind="quiet" icon="filter" aria-expanded={open} onClick={() => setOpen(!open)}>
            Filters{Object.keys(view.filter).length > 0 && ` (${Object.keys(view.filter).length})`}
          </Button>
        </div>
        {open && <Filters view={view} onView={setView} facets={facets.data} />}
        <EpisodeList run={run} view={view} selected={episode} onSelect={select} onFound={setFound} />
      </aside>
      <div className={styles.stage} tabIndex={-1}>
        {replay.isError && <ErrorState title="Could not read the episode" error={replay.error} retry={() => void replay.refetch()} />}
        {replay.data && !replay.isError && <Player key={replay.data.replay.id} {...replay.data} start={start} />}
        {!replay.data && !replay.isError && total !== 0 && <Loading label="Loading episode" />}
        {total === 0 && episode === null && (
          <EmptyState title="No episodes" actions={<Button onClick={() => setView(NEWEST_FIRST)}>Clear filters</Button>}>
            <p>{all === 0 ? 'This run has not recorded any episodes yet.' : 'No episodes match the filters.'}</p>
          </EmptyState>
        )}
      </div>
    </div>
  );
}

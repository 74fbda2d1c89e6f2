// The game being played: the one left at the last visit, or a new one, and what changes it. The main process keeps it; the
// page holds the latest answer.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import type { PlayGame } from '../../main/lab/features/play.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { EXAMPLE_SETUP, setupSchema } from './setup-bar.tsx';
import type { Setup, Start } from './setup-bar.tsx';

const stored = callOptions('play.game', {});

/** `world` is the one the page's address names, if any. */
export function useGame(world: string | undefined) {
  const client = useQueryClient();
  const left = useCall('play.game', {});
  const [setup, setSetup] = useView('play.setup', setupSchema, EXAMPLE_SETUP);
  const begun = useRef(false);

  const keep = useCallback((game: PlayGame) => client.setQueryData(stored.queryKey, { game }), [client]);
  const beginning = useMutation({
    mutationFn: ({ next, task }: { next: Setup; task: Start }) => call('play.start', { choice: next.choice, task }),
    onSuccess: ({ game }, { next }) => {
      keep(game);
      // The selectors say what is played, also where the world's example or a task from the list is.
      const { split, tier } = game.task;
      setSetup({ choice: game.choice, filter: { split, tier: next.filter.tier === tier ? tier : null } });
    },
  });
  const { mutate: begin } = beginning;
  const start = (next: Setup, task: Start): void => begin({ next, task });
  const act = (name: 'play.undo' | 'play.restart'): void => {
    call(name, {}).then(
      (answer) => keep(answer.game),
      (error: unknown) => toastError('Could not change the game', error),
    );
  };
  const oracle = (steps: 'one' | 'all'): void => {
    call('play.letOracle', { steps }).then(
      (answer) => keep(answer.game),
      (error: unknown) => toastError('The oracle could not continue', error),
    );
  };
  const random = (): void => start(setup, { any: { ...setup.filter, text: '' } });

  // The first visit begins with the world's example; an address with a world begins there.
  useEffect(() => {
    if (!left.data || begun.current) return;
    begun.current = true;
    const wanted = world !== undefined && world !== left.data.game?.choice.world ? world : null;
    if (wanted !== null) begin({ next: { ...EXAMPLE_SETUP, choice: { world: wanted, settings: {}, imported: false } }, task: null });
    else if (left.data.game === null) begin({ next: setup, task: null });
  }, [left.data, world, setup, begin]);

  return { game: left.data?.game ?? null, left, beginning, setup, keep, start, random, act, oracle };
}

// Play: a world by hand, as the policy meets it. What it showed and what was said runs down the page like a conversation;
// below it the next action is typed or picked, beside it stand the score, the task and the oracle.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useParams } from 'wouter';
import { z } from 'zod';
import type { PlayGame } from '../../preload/contract/play.ts';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { Segmented } from '../components/tabs.tsx';
import { useActions } from '../state/actions.ts';
import { toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { Say } from './say.tsx';
import { Score } from './score.tsx';
import { EXAMPLE_SETUP, SetupBar, setupSchema } from './setup-bar.tsx';
import type { Setup } from './setup-bar.tsx';
import { TaskDialog } from './task-dialog.tsx';
import { Transcript } from './transcript.tsx';
import styles from './play.module.css';

const drawing = z.enum(['text', 'page']);
const stored = callOptions('play.game', {});
type Start = Parameters<typeof call<'play.start'>>[1]['task'];

export default function PlayPage() {
  const { world } = useParams<{ world?: string }>();
  const client = useQueryClient();
  const left = useCall('play.game', {});
  const [setup, setSetup] = useView('play.setup', setupSchema, EXAMPLE_SETUP);
  const [view, setView] = useView<'text' | 'page'>('play.drawing', drawing, 'text');
  const [choosing, setChoosing] = useState(false);
  const begun = useRef(false);

  const keep = useCallback((game: PlayGame) => client.setQueryData(stored.queryKey, { game }), [client]);
  const beginning = useMutation({
    mutationFn: ({ next, task }: { next: Setup; task: Start }) => call('play.start', { choice: next.choice, task }),
    onSuccess: ({ game }, { next }) => {
      keep(game);
      setSetup(next);
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

  const game = left.data?.game ?? null;
  useActions([
    { id: 'play.random', title: 'New random task', group: 'Play', keys: 'n', run: random },
    { id: 'play.choose', title: 'Choose a task', group: 'Play', keys: 't', run: () => setChoosing(true) },
    { id: 'play.undo', title: 'Undo a step', group: 'Play', keys: 'u', run: () => act('play.undo') },
    { id: 'play.restart', title: 'Restart task', group: 'Play', keys: 'Shift+R', run: () => act('play.restart') },
    { id: 'play.on', title: 'Let the oracle finish', group: 'Play', keys: 'Shift+O', run: () => oracle('all') },
  ]);

  return (
    <Page
      title="Play"
      subtitle="Play as the policy: the same observations, the same actions."
      actions={
        <>
          <Segmented
            label="Show observations as"
            value={view}
            onValue={setView}
            options={[
              { value: 'text', label: 'Text' },
              { value: 'page', label: 'Page' },
            ]}
          />
          <Button onClick={() => setChoosing(true)}>Choose a task…</Button>
          <Button kind="primary" onClick={random}>
            Random task
          </Button>
        </>
      }
      toolbar={<SetupBar setup={setup} game={game} onSetup={setSetup} onStart={start} />}
    >
      {left.error && <ErrorState title="Could not read the game" error={left.error} retry={() => void left.refetch()} />}
      {beginning.error && <ErrorState title="Could not start the game" error={beginning.error} retry={() => start(setup, null)} />}
      {game === null ? (
        !beginning.error && !left.error && <Loading label="Loading world" rows={6} />
      ) : (
        <div className={styles.table}>
          <div className={styles.talk}>
            <Transcript game={game} drawing={view} onRandom={random} onRestart={() => act('play.restart')} />
            {!game.done && <Say key={`${game.task.id} ${game.moves.length}`} game={game} onGame={keep} />}
          </div>
          <Score key={`${game.task.id} ${game.moves.length}`} game={game} onAct={act} onOracle={oracle} />
        </div>
      )}
      <TaskDialog
        open={choosing}
        setup={setup}
        onClose={() => setChoosing(false)}
        onSetup={setSetup}
        onPick={(id) => {
          setChoosing(false);
          start(setup, { id });
        }}
      />
    </Page>
  );
}

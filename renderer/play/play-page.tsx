// Play: a world played interactively, as the policy meets it. What it showed and what was said runs down the page like a conversation;
// below it the next action is typed or picked, beside it stand the score, the task and the oracle.

import { useState } from 'react';
import { useParams } from 'wouter';
import { z } from 'zod';
import { Button } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { Segmented } from '../components/tabs.tsx';
import { useActions } from '../state/actions.ts';
import { useView } from '../state/view.ts';
import { Say } from './say.tsx';
import { Score } from './score.tsx';
import { SetupBar } from './setup-bar.tsx';
import { TaskDialog } from './task-dialog.tsx';
import { Transcript } from './transcript.tsx';
import { useGame } from './use-game.ts';
import styles from './play.module.css';

type Drawing = 'text' | 'page';
const drawing = z.enum(['text', 'page']);

export default function PlayPage() {
  const { world } = useParams<{ world?: string }>();
  const play = useGame(world);
  const { setup, start, random, act, oracle } = play;
  const [view, setView] = useView<Drawing>('play.drawing', drawing, 'text');
  const [choosing, setChoosing] = useState(false);

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
      toolbar={<SetupBar setup={setup} game={play.game} onStart={start} />}
    >
      <Game play={play} view={view} />
      <TaskDialog
        open={choosing}
        setup={setup}
        onClose={() => setChoosing(false)}
        onPick={(id) => {
          setChoosing(false);
          start(setup, { id });
        }}
      />
    </Page>
  );
}

/** The conversation with the next action below it and the score beside it; until there is a game, why not. */
function Game({ play, view }: { play: ReturnType<typeof useGame>; view: Drawing }) {
  const { game, left, beginning, setup, keep, start, random, act, oracle } = play;
  return (
    <>
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
          <Score key={`${game.task.id} ${game.moves.length}`} game={game} onAct={act} onOracle={oracle} onGame={keep} />
        </div>
      )}
    </>
  );
}

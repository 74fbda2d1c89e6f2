// Beside the conversation: the score, the task, the oracle, which speaks when asked, and a language model that can play on.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import type { Input } from '../../preload/contract.ts';
import type { PlayGame } from '../../main/lab/features/play.ts';
import { call, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { Badge, Stat, Stats } from '../components/stat.tsx';
import { Explain } from '../components/tooltip.tsx';
import { useActions } from '../state/actions.ts';
import { toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { signed } from './signed.ts';
import styles from './play.module.css';

const nameSchema = z.string();

interface ScoreProps {
  game: PlayGame;
  onAct: (name: 'play.undo' | 'play.restart') => void;
  onOracle: (steps: 'one' | 'all') => void;
  onGame: (game: PlayGame) => void;
}

export function Score({ game, onAct, onOracle, onGame }: ScoreProps) {
  const [revealed, setRevealed] = useState<{ action: string | null } | null>(null);
  const { moves, task, returnRange } = game;
  const last = moves.at(-1);
  const reveal = (): void => {
    call('play.oracle', {}).then(setRevealed, (error: unknown) => toastError('Could not ask the oracle', error));
  };
  useActions([{ id: 'play.oracle', title: 'What would the oracle do?', group: 'Play', keys: 'o', run: reveal }]);
  return (
    <aside className={styles.side} aria-label="Score">
      <Section title="Score">
        <Stats>
          <Stat
            label="Return so far"
            value={<span data-testid="return">{signed(game.return)}</span>}
            note={`${signed(returnRange[0])} to ${signed(returnRange[1])} possible`}
          />
          <Stat label="Step" value={<span data-testid="steps">{moves.length}</span>} unit={`of ${game.maxSteps}`} />
          {last && <Stat label="Last reward" value={<span data-testid="reward">{signed(last.reward)}</span>} note={last.reason} />}
        </Stats>
        <div className={styles.buttons}>
          <Button disabled={moves.length === 0} onClick={() => onAct('play.undo')}>
            Undo
          </Button>
          <Button disabled={moves.length === 0} onClick={() => onAct('play.restart')}>
            Restart
          </Button>
        </div>
      </Section>
      <Section title="Task">
        <p className={styles.instruction}>{task.instruction}</p>
        <p className={styles.tags}>
          <Badge>{task.split}</Badge> <Badge>{task.tier}</Badge> <Badge>{task.category}</Badge> <code>{task.id}</code>
        </p>
      </Section>
      {!game.done && (
        <Section
          title="Oracle"
          actions={
            <Explain what="Oracle" title="Oracle">
              <p>Knows the target and plays the shortest solution. Agents never see it; it gives the upper bound.</p>
            </Explain>
          }
        >
          {revealed === null ? (
            <Button onClick={reveal}>Show its action</Button>
          ) : revealed.action === null ? (
            <p>It has no action here.</p>
          ) : (
            <>
              <p>
                Oracle action: <code className={styles.oracle}>{revealed.action}</code>
              </p>
              <div className={styles.buttons}>
                <Button onClick={() => onOracle('one')}>Play this action</Button>
              </div>
            </>
          )}
          <div className={styles.buttons}>
            <Button kind="quiet" onClick={() => onOracle('all')}>
              Let the oracle finish
            </Button>
          </div>
        </Section>
      )}
      {!game.done && <ModelPlayer onGame={onGame} />}
    </aside>
  );
}

/** A language model of Settings that plays on from here; nothing where there is none. */
function ModelPlayer({ onGame }: { onGame: (game: PlayGame) => void }) {
  const names = useCall('models.list', {}).data?.models.map(({ name }) => name) ?? [];
  const [chosen, choose] = useView('play.model', nameSchema, '');
  const model = names.includes(chosen) ? chosen : names[0];
  const playing = useMutation({
    mutationFn: (input: Input<'play.letModel'>) => call('play.letModel', input),
    onSuccess: ({ game }) => onGame(game),
    onError: (error) => toastError('The model could not play', error),
  });
  if (model === undefined) return null;
  return (
    <Section
      title="Language model"
      actions={
        <Explain what="Language model" title="Language model">
          <p>Reads the episode as a chat and answers greedily, within the world’s grammar. Models are added in Settings.</p>
        </Explain>
      }
    >
      <Select aria-label="Language model" value={model} options={names.map((name) => ({ value: name, label: name }))} onValue={choose} />
      <div className={styles.buttons}>
        <Button disabled={playing.isPending} onClick={() => playing.mutate({ model, steps: 'one' })}>
          {playing.isPending ? 'Playing…' : 'Let it play one action'}
        </Button>
        <Button kind="quiet" disabled={playing.isPending} onClick={() => playing.mutate({ model, steps: 'all' })}>
          Let the model finish
        </Button>
      </div>
    </Section>
  );
}

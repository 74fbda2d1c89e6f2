// The next action: typed (and judged by the grammar as it is typed), or picked. What is refused says why and costs
// nothing; it can be said anyway, which costs a step, as it would cost a policy.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { PlayGame, PlayOffer } from '../../preload/contract/play.ts';
import { call } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { useActions } from '../state/actions.ts';
import { toastError } from '../state/toasts.ts';
import styles from './play.module.css';

/** As many as there are digits to pick them by. */
const BY_KEY = 9;

export function Say({ game, onGame }: { game: PlayGame; onGame: (game: PlayGame) => void }) {
  const [text, setText] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const [recalled, setRecalled] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const typed = useDeferredValue(text);
  const known = game.moves.filter(({ by }) => by === 'you').map(({ action }) => action);

  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  // While one types, only the good news is told; a refusal waits for Enter.
  const check = useQuery({
    queryKey: ['play.check', game.task.id, game.moves.length, typed],
    queryFn: () => call('play.check', { action: typed }),
    enabled: typed.trim() !== '',
    gcTime: 0,
  });
  const fits = typed === text && check.data?.refused === null;

  const speech = useMutation({
    mutationFn: (said: { action: string; anyway: boolean }) => call('play.say', said),
    onSuccess: (answer) => {
      setRefused(answer.refused);
      if (answer.refused === null) onGame(answer.game);
      else input.current?.focus();
    },
    onError: (error) => toastError('The action was not sent', error),
  });
  const say = (action: string, anyway = false): void => speech.mutate({ action, anyway });
  /** Writes what stands around the words and puts the cursor between. */
  const begin = (before: string, after: string): void => {
    const field = input.current;
    if (!field) return;
    flushSync(() => setText(`${before}${after}`));
    field.focus();
    field.setSelectionRange(before.length, before.length);
  };
  const recall = (by: number): void => {
    const place = Math.min(known.length, Math.max(0, recalled + by));
    setRecalled(place);
    setText(place === 0 ? '' : (known.at(-place) ?? ''));
  };

  useActions([
    { id: 'play.type', title: 'Type an action', group: 'Play', keys: '/', run: () => input.current?.focus() },
    ...game.offers.slice(0, BY_KEY).map((offer, index) => ({
      id: `play.pick.${index + 1}`,
      title: `Send ${offer.action}`,
      group: 'Play',
      keys: String(index + 1),
      keyboardOnly: true,
      run: () => say(offer.action),
    })),
  ]);

  return (
    <div className={styles.say}>
      <form
        className={styles.line}
        onSubmit={(event) => {
          event.preventDefault();
          say(text);
        }}
      >
        <Icon name="chevronRight" size={14} />
        <input
          ref={input}
          className={styles.input}
          aria-label="Action"
          aria-describedby="play-grammar"
          aria-invalid={refused !== null || undefined}
          placeholder="Type an action"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setRefused(null);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') input.current?.blur();
            if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
              event.preventDefault();
              recall(event.key === 'ArrowUp' ? 1 : -1);
            }
          }}
        />
        {fits && (
          <span className={styles.fits}>
            <Icon name="check" size={13} /> valid
          </span>
        )}
        <Button type="submit">Send</Button>
      </form>
      {refused === null ? (
        <p id="play-grammar" className={styles.grammar}>
          {game.phrases.map(({ before, after }) => (
            <button key={before} type="button" className={styles.pick} onClick={() => begin(before, after)}>
              {before}…{after}
            </button>
          ))}
          <span>{game.grammar}</span>
        </p>
      ) : (
        <div className={styles.refused} role="alert">
          <Icon name="warning" size={14} />
          <span id="play-grammar">{refused}</span>
          <Button kind="quiet" onClick={() => say(text, true)}>
            Send anyway (uses a step)
          </Button>
        </div>
      )}
      {game.offers.length > 0 && <Offers offers={game.offers} onSay={say} />}
    </div>
  );
}

/** One line per thing, with what can be done to it; plain buttons where there is one verb and no name. */
function Offers({ offers, onSay }: { offers: readonly PlayOffer[]; onSay: (action: string) => void }) {
  const things = [...new Set(offers.map(({ thing }) => thing))];
  const keyOf = (offer: PlayOffer): string => {
    const place = offers.indexOf(offer);
    return place < BY_KEY ? String(place + 1) : '';
  };
  return (
    <ul className={styles.offers} data-named={offers.some(({ name }) => name !== '') || undefined} aria-label="Available actions">
      {things.map((thing) => {
        const about = offers.filter((offer) => offer.thing === thing);
        const name = about[0]?.name ?? '';
        return (
          <li key={thing} className={styles.offer}>
            {about.map((offer) => (
              <button key={offer.action} type="button" className={styles.pick} onClick={() => onSay(offer.action)}>
                {keyOf(offer) !== '' && <kbd>{keyOf(offer)}</kbd>}
                {offer.action}
              </button>
            ))}
            {name !== '' && (
              <span className={styles.name} title={name}>
                {name}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

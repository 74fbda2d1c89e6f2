// The next action: typed (and judged by the grammar as it is typed), or picked. What is refused says why and costs
// nothing; it can be said anyway, which costs a step, as it would cost a policy.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { flushSync } from 'react-dom';
import type { PlayGame, PlayOffer } from '../../main/lab/features/play.ts';
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
  const input = useRef<HTMLInputElement>(null);
  const fits = useFits(game, text);
  const recall = useRecall(game, setText);
  const { refused, setRefused, say } = useSpeech(onGame, () => input.current?.focus());

  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  /** Writes what stands around the words and puts the cursor between. */
  const begin = (before: string, after: string): void => {
    const field = input.current;
    if (!field) return;
    flushSync(() => setText(`${before}${after}`));
    field.focus();
    field.setSelectionRange(before.length, before.length);
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
      <ActionLine
        input={input}
        text={text}
        onText={(typed) => {
          setText(typed);
          setRefused(null);
        }}
        invalid={refused !== null}
        fits={fits}
        onRecall={recall}
        onSend={() => say(text)}
      />
      {refused === null ? <Grammar game={game} onBegin={begin} /> : <Refusal reason={refused} onAnyway={() => say(text, true)} />}
      {game.offers.length > 0 && <Offers offers={game.offers} onSay={say} />}
    </div>
  );
}

/** Whether the grammar accepts the text so far. While one types, only acceptance is shown; a refusal waits for Enter. */
function useFits(game: PlayGame, text: string): boolean {
  const typed = useDeferredValue(text);
  const check = useQuery({
    queryKey: ['play.check', game.task.id, game.moves.length, typed],
    queryFn: () => call('play.check', { action: typed }),
    enabled: typed.trim() !== '',
    gcTime: 0,
  });
  return typed === text && check.data?.refused === null;
}

/** Sends an action; what is refused is kept as the reason, until the text changes. */
function useSpeech(onGame: (game: PlayGame) => void, onRefused: () => void) {
  const [refused, setRefused] = useState<string | null>(null);
  const speech = useMutation({
    mutationFn: (said: { action: string; anyway: boolean }) => call('play.say', said),
    onSuccess: (answer) => {
      setRefused(answer.refused);
      if (answer.refused === null) onGame(answer.game);
      else onRefused();
    },
    onError: (error) => toastError('The action was not sent', error),
  });
  const say = (action: string, anyway = false): void => speech.mutate({ action, anyway });
  return { refused, setRefused, say };
}

/** Goes back (1) and forth (-1) through the actions the player has sent, like the history of a shell. */
function useRecall(game: PlayGame, onText: (text: string) => void): (by: number) => void {
  const [recalled, setRecalled] = useState(0);
  const known = game.moves.filter(({ by }) => by === 'you').map(({ action }) => action);
  return (by) => {
    const place = Math.min(known.length, Math.max(0, recalled + by));
    setRecalled(place);
    onText(place === 0 ? '' : (known.at(-place) ?? ''));
  };
}

interface ActionLineProps {
  input: RefObject<HTMLInputElement | null>;
  text: string;
  onText: (text: string) => void;
  invalid: boolean;
  fits: boolean;
  onRecall: (by: number) => void;
  onSend: () => void;
}

/** The field in which an action is typed; described by the grammar or the refusal below it. */
function ActionLine({ input, text, onText, invalid, fits, onRecall, onSend }: ActionLineProps) {
  return (
    <form
      className={styles.line}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <Icon name="chevronRight" size={14} />
      <input
        ref={input}
        className={styles.input}
        aria-label="Action"
        aria-describedby="play-grammar"
        aria-invalid={invalid || undefined}
        placeholder="Type an action"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') input.current?.blur();
          if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
            event.preventDefault();
            onRecall(event.key === 'ArrowUp' ? 1 : -1);
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
  );
}

/** What can be typed, with a button for each phrase that writes its frame. */
function Grammar({ game, onBegin }: { game: PlayGame; onBegin: (before: string, after: string) => void }) {
  return (
    <p id="play-grammar" className={styles.grammar}>
      {game.phrases.map(({ before, after }) => (
        <button key={before} type="button" className={styles.pick} onClick={() => onBegin(before, after)}>
          {before}…{after}
        </button>
      ))}
      <span>{game.grammar}</span>
    </p>
  );
}

function Refusal({ reason, onAnyway }: { reason: string; onAnyway: () => void }) {
  return (
    <div className={styles.refused} role="alert">
      <Icon name="warning" size={14} />
      <span id="play-grammar">{reason}</span>
      <Button kind="quiet" onClick={onAnyway}>
        Send anyway (uses a step)
      </Button>
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

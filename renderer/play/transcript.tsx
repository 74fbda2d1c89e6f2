// The episode so far: what the world showed, what was said, what it paid and by which rule; and at the end how it went
// and how the oracle would have played.

import { useEffect, useRef } from 'react';
import type { PlayGame, PlayMove } from '../../main/lab/features/play.ts';
import type { DrawnPage } from '../../main/lab/features/episodes.ts';
import { Button } from '../components/button.tsx';
import { Badge } from '../components/stat.tsx';
import { WorldPage } from '../components/world-page.tsx';
import { signed } from './signed.ts';
import util from '../theme/utilities.module.css';
import styles from './play.module.css';

interface TranscriptProps {
  game: PlayGame;
  drawing: 'text' | 'page';
  onRandom: () => void;
  onRestart: () => void;
}

export function Transcript({ game, drawing, onRandom, onRestart }: TranscriptProps) {
  const end = useRef<HTMLDivElement>(null);
  const { moves, task } = game;
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [moves.length, task.id, drawing]);
  const section = useStayAtEnd();
  return (
    <section ref={section} className={styles.transcript} aria-label="Episode" tabIndex={0}>
      <Seen label="Start" text={game.start.observation} page={game.start.page} drawing={drawing} next={moves[0]?.action} />
      {moves.map((move, index) => (
        <div key={index} className={styles.turn}>
          <Said move={move} step={index + 1} />
          <Seen
            label={`After step ${index + 1}`}
            text={move.observation}
            page={move.page}
            drawing={drawing}
            next={moves[index + 1]?.action}
          />
        </div>
      ))}
      {game.done && <End game={game} onRandom={onRandom} onRestart={onRestart} />}
      <div ref={end} />
    </section>
  );
}

/** Pixels from the end that count as the end: the padding below the last page is not scrolled to. */
const NEAR = 48;

/** Whoever looks at the end of a list still does after the window has changed its size. */
function useStayAtEnd() {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    let atEnd = true;
    const look = (): void => {
      atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    };
    const observer = new ResizeObserver(() => {
      if (atEnd) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener('scroll', look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, []);
  return list;
}

function Seen(props: { label: string; text: string; page: DrawnPage; drawing: 'text' | 'page'; next: string | undefined }) {
  const { label, text, page, drawing, next } = props;
  return (
    <div className={styles.seen} role="group" aria-label={label}>
      {drawing === 'text' ? <pre className={styles.observation}>{text}</pre> : <WorldPage page={page} action={next} />}
    </div>
  );
}

function Said({ move, step }: { move: PlayMove; step: number }) {
  return (
    <div className={styles.said}>
      <span className={styles.step}>{step}</span>
      <code className={styles.action}>{move.action || '(nothing)'}</code>
      {move.by !== 'you' && <Badge tone="accent">{move.by}</Badge>}
      {!move.valid && <Badge tone="warning">invalid</Badge>}
      <span className={styles.paid}>
        <strong data-sign={Math.sign(move.reward)}>{signed(move.reward)}</strong> <span className={util.muted}>{move.reason}</span>
      </span>
    </div>
  );
}

function End({ game, onRandom, onRestart }: { game: PlayGame; onRandom: () => void; onRestart: () => void }) {
  const { moves, success, oracle } = game;
  const byOracle = moves.filter(({ by }) => by === 'oracle').length;
  const byModel = moves.filter(({ by }) => by === 'model').length;
  return (
    <div className={styles.end} role="status">
      <div className={styles.endLine}>
        <Badge tone={success ? 'success' : 'failure'}>{success ? 'success' : 'failure'}</Badge>
        <strong>Return {signed(game.return)}</strong>
        <span className={util.muted}>
          after {moves.length} {moves.length === 1 ? 'step' : 'steps'}
          {byOracle > 0 && `, ${byOracle} of them by the oracle`}
          {byModel > 0 && `, ${byModel} of them by a language model`}
        </span>
      </div>
      {oracle && (
        <p>
          {oracle.actions.length > 0 ? (
            <>
              Oracle: return {signed(oracle.return)} in {oracle.actions.length} {oracle.actions.length === 1 ? 'step' : 'steps'}:{' '}
              {oracle.actions.map((action, index) => (
                <span key={index}>
                  {index > 0 && ' → '}
                  <code>{action}</code>
                </span>
              ))}
            </>
          ) : (
            'The oracle has no solution for this task.'
          )}
        </p>
      )}
      <div className={styles.buttons}>
        <Button onClick={onRandom}>Another task</Button>
        <Button onClick={onRestart}>Play again</Button>
      </div>
    </div>
  );
}

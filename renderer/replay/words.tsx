// The agent's words, painted with one of their numbers; below them the word under the pointer (or the focus) with all its
// numbers and what could have been said instead, and every word in a table.

import { useState } from 'react';
import { z } from 'zod';
import type { ReplayStep, Word } from '../../main/lab/features/episodes.ts';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { formatValue } from '../format.ts';
import { useView } from '../state/view.ts';
import { MEANING, numberOf, type Paint, renamed, strength, tint, visible } from './paint.ts';
import util from '../theme/utilities.module.css';
import styles from './step.module.css';

interface WordsProps {
  step: ReplayStep;
  paint: Paint;
  /** The size that gets the deepest colour, the same in all steps of the episode. */
  scale: number;
  /** Of the whole episode, where the algorithm has one. */
  advantage: number | null;
  /** Played for training, where names may trade places. */
  training: boolean;
}

const tableSchema = z.boolean();

export function Words({ step, paint, scale, advantage, training }: WordsProps) {
  const [chosen, choose] = useState(0);
  const [table, onTable] = useView('replay.table', tableSchema, false);
  const word = step.words[Math.min(chosen, step.words.length - 1)];
  const known = step.words.some((one) => one[paint] !== null);
  if (step.words.length === 0) {
    return (
      <p className={styles.said}>
        {step.action} <span className={util.muted}>(token statistics not stored)</span>
      </p>
    );
  }
  const part = (name: Word['part']) =>
    step.words.flatMap((one, index) =>
      one.part === name
        ? [<PaintedWord key={index} word={one} paint={paint} scale={scale} chosen={one === word} onChoose={() => choose(index)} />]
        : [],
    );
  const thought = part('thought');
  return (
    <div className={styles.words}>
      {thought.length > 0 && (
        <div>
          <span className={styles.partName}>Thought</span>
          <div className={styles.said}>{thought}</div>
        </div>
      )}
      <div>
        {thought.length > 0 && <span className={styles.partName}>Action</span>}
        <div className={styles.said}>{part('action')}</div>
      </div>
      {training && renamed(step) && (
        <p className={util.muted}>Names traded places in this training episode: these are the tokens as the agent saw and wrote them.</p>
      )}
      {known ? <Legend paint={paint} scale={scale} /> : <p className={util.muted}>{missing(paint, advantage)}</p>}
      {word && <WordDetails word={word} />}
      <details className={styles.details} open={table} onToggle={(event) => onTable(event.currentTarget.open)}>
        <summary>Token table</summary>
        {table && <WordTable words={step.words} />}
      </details>
    </div>
  );
}

/** Algorithms that value whole episodes assign no advantage to single tokens. */
function missing(paint: Paint, advantage: number | null): string {
  if (paint === 'advantage' && advantage !== null) return `One advantage for the whole episode: ${formatValue(advantage)}.`;
  if (paint === 'advantage') return 'No advantage: this episode was not used for training.';
  if (paint === 'logRatio') return 'No log-ratio: the reference did not score this episode.';
  return 'Not stored for this step.';
}

interface PaintedWordProps {
  word: Word;
  paint: Paint;
  scale: number;
  chosen: boolean;
  onChoose: () => void;
}

function PaintedWord({ word, paint, scale, chosen, onChoose }: PaintedWordProps) {
  const amount = strength(word, paint, scale);
  return (
    <button
      type="button"
      className={styles.word}
      data-mark={/^<.*>$/.test(word.text) || undefined}
      data-below={(amount !== null && amount < -0.02) || undefined}
      aria-pressed={chosen}
      style={tint(amount)}
      title={`${word.text}: ${MEANING[paint].label.toLowerCase()} ${numberOf(word, paint)}`}
      onMouseEnter={onChoose}
      onFocus={onChoose}
      onClick={onChoose}
    >
      {shownText(word.text)}
    </button>
  );
}

/** Marks of the sequence say what they mean. */
function shownText(text: string): string {
  if (text === '<end>') return '⏎';
  if (text === '</think>') return '·';
  return visible(text).replace(/^##/, '');
}

function Legend({ paint, scale }: { paint: Paint; scale: number }) {
  const { ends, signed, explain } = MEANING[paint];
  const range = signed ? [-1, -0.5, 0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  const edge =
    paint === 'probability' ? ['100%', '0%'] : signed ? [`−${formatValue(scale)}`, `+${formatValue(scale)}`] : ['0', formatValue(scale)];
  return (
    <div className={styles.legend} title={explain}>
      <span>
        {ends[0]} {edge[0]}
      </span>
      <span className={styles.swatches} aria-hidden="true">
        {range.map((amount) => (
          <span key={amount} style={tint(amount)} data-below={amount < 0 || undefined} />
        ))}
      </span>
      <span>
        {edge[1]} {ends[1]}
      </span>
    </div>
  );
}

function WordDetails({ word }: { word: Word }) {
  const chosenIsListed = word.alternatives.some(({ text }) => text === word.text);
  const list =
    chosenIsListed || word.probability === null
      ? word.alternatives
      : [...word.alternatives, { text: word.text, probability: word.probability }];
  return (
    <div className={styles.wordDetails}>
      <dl className={styles.numbers}>
        <div>
          <dt>token</dt>
          <dd>
            <code>{visible(word.text)}</code>
          </dd>
        </div>
        {(['probability', 'logRatio', 'advantage', 'entropy'] as const).map((paint) => (
          <div key={paint}>
            <dt>{MEANING[paint].label.toLowerCase()}</dt>
            <dd>{numberOf(word, paint)}</dd>
          </div>
        ))}
        {word.value !== null && (
          <div>
            <dt>critic value</dt>
            <dd>{formatValue(word.value)}</dd>
          </div>
        )}
      </dl>
      {list.length > 0 && (
        <ul className={styles.alternatives} aria-label={`Alternatives to ${word.text}`}>
          {list.map(({ text, probability }) => (
            <li key={text} data-chosen={text === word.text || undefined}>
              <code>{shownText(text)}</code>
              <span className={styles.bar} aria-hidden="true">
                <span style={{ width: `${Math.max(0.5, probability * 100)}%` }} />
              </span>
              <span className={styles.percent}>{formatValue(probability, 'share')}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function WordTable({ words }: { words: readonly Word[] }) {
  return (
    <Table label="Tokens of this step">
      <thead>
        <tr>
          <Head>Token</Head>
          <Head numeric>Probability</Head>
          <Head numeric>Log-ratio</Head>
          <Head numeric>Advantage</Head>
          <Head numeric>Entropy</Head>
        </tr>
      </thead>
      <tbody>
        {words.map((word, index) => (
          <Row key={index}>
            <Cell>
              <code>{visible(word.text)}</code>
            </Cell>
            <Cell numeric>{numberOf(word, 'probability')}</Cell>
            <Cell numeric>{numberOf(word, 'logRatio')}</Cell>
            <Cell numeric>{numberOf(word, 'advantage')}</Cell>
            <Cell numeric>{numberOf(word, 'entropy')}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

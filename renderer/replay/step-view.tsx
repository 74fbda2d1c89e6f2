// One step of an episode: on the left what the world showed (drawn, or as the very text the policy read), on the right
// what the agent did, the reward and its reason, and what the oracle would have done.

import { memo } from 'react';
import type { Replay } from '../../main/lab/features/episodes.ts';
import { Icon } from '../components/icons.tsx';
import { Badge } from '../components/stat.tsx';
import { Segmented } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { formatValue } from '../format.ts';
import { MEANING, PAINTS, type Paint } from './paint.ts';
import { WorldPage } from '../components/world-page.tsx';
import { Words } from './words.tsx';
import util from '../theme/utilities.module.css';
import drawn from '../components/world-page.module.css';
import styles from './step.module.css';

export type Drawing = 'page' | 'text';

interface StepViewProps {
  replay: Replay;
  /** 0 … steps; the last place is the end. */
  position: number;
  drawing: Drawing;
  onDrawing: (drawing: Drawing) => void;
  paint: Paint;
  onPaint: (paint: Paint) => void;
  scale: number;
}

export function StepView({ replay, position, drawing, onDrawing, paint, onPaint, scale }: StepViewProps) {
  const step = replay.steps[position];
  const page = step?.page ?? replay.finalPage;
  const text = step?.observation ?? replay.finalObservation;
  return (
    <div className={styles.step}>
      <section className={styles.panel} aria-label="Observation">
        <header className={styles.panelHead}>
          <h3>{step ? 'Observation' : 'Final observation'}</h3>
          <DrawingChoice drawing={drawing} onDrawing={onDrawing} />
        </header>
        {drawing === 'page' ? <WorldPage page={page} action={step?.action} /> : <pre className={drawn.raw}>{text}</pre>}
        {step && step.view !== null && (
          <>
            <h4>Policy input</h4>
            <pre className={drawn.raw}>{step.view}</pre>
          </>
        )}
      </section>
      <section className={styles.panel} aria-label="Action">
        {step ? (
          <>
            <header className={styles.panelHead}>
              <PaintChoice paint={paint} onPaint={onPaint} />
            </header>
            <Words
              key={position}
              step={step}
              paint={paint}
              scale={scale}
              advantage={replay.advantage}
              training={replay.purpose === 'train'}
            />
            <dl className={styles.outcome}>
              <dt>Reward</dt>
              <dd>
                <strong>{formatValue(step.reward)}</strong> <span className={util.muted}>{step.reason}</span>
                {!step.valid && <Badge tone="warning">invalid</Badge>}
              </dd>
              <dt>Return so far</dt>
              <dd>
                {formatValue(step.returned)}
                {replay.vstar && <span className={util.muted}> (V* {formatValue(replay.vstar.value)})</span>}
              </dd>
              <dt>Oracle</dt>
              <dd>
                {step.oracle === null ? (
                  <span className={util.muted}>{replay.retraced ? 'not available here' : 'not available: the world has changed'}</span>
                ) : step.oracle === step.action ? (
                  <span>
                    <Icon name="check" size={13} /> agrees
                  </span>
                ) : (
                  <span>
                    <code>{step.oracle}</code>
                  </span>
                )}
              </dd>
            </dl>
          </>
        ) : (
          <End replay={replay} />
        )}
      </section>
    </div>
  );
}

const DRAWINGS = [
  { value: 'page', label: 'Page' },
  { value: 'text', label: 'Text' },
] as const;
const PAINT_OPTIONS = PAINTS.map((value) => ({ value, label: MEANING[value].label }));

// These stay as they are from step to step, so they are not drawn again.
const DrawingChoice = memo(({ drawing, onDrawing }: Pick<StepViewProps, 'drawing' | 'onDrawing'>) => (
  <Segmented label="Show the observation as" value={drawing} onValue={onDrawing} options={DRAWINGS} />
));

const PaintChoice = memo(({ paint, onPaint }: Pick<StepViewProps, 'paint' | 'onPaint'>) => (
  <>
    <h3 className={styles.paints}>
      Action
      <Explain what={MEANING[paint].label}>
        <p>{MEANING[paint].explain}</p>
      </Explain>
    </h3>
    <Segmented label="Colour tokens by" value={paint} onValue={onPaint} options={PAINT_OPTIONS} />
  </>
));

function End({ replay }: { replay: Replay }) {
  return (
    <>
      <header className={styles.panelHead}>
        <h3>Outcome</h3>
      </header>
      <dl className={styles.outcome}>
        <dt>Outcome</dt>
        <dd>
          <Badge tone={replay.success ? 'success' : 'failure'}>
            {replay.success ? 'success' : (replay.diagnosis?.failure ?? 'failure')}
          </Badge>
        </dd>
        <dt>Return</dt>
        <dd>{formatValue(replay.return)}</dd>
        <dt>V* of the task</dt>
        <dd>
          {replay.vstar ? (
            <>
              {formatValue(replay.vstar.value)}
              {replay.vstar.k !== null && (
                <span className={util.muted}>
                  {' '}
                  {replay.vstar.k} of {replay.vstar.n} reference samples solved
                </span>
              )}
            </>
          ) : (
            <span className={util.muted}>not estimated for this task</span>
          )}
        </dd>
        <dt>Advantage</dt>
        <dd>
          <EpisodeAdvantage replay={replay} />
        </dd>
      </dl>
      <ol className={styles.recap}>
        {replay.steps.map((step, index) => (
          <li key={index}>
            <code>{step.action}</code> <span className={util.muted}>{step.reason}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Some algorithms value the episode, some every token; only without either was it not used for training. */
function EpisodeAdvantage({ replay: { advantage, steps } }: { replay: Replay }) {
  if (advantage !== null) return formatValue(advantage);
  const tokens = steps.flatMap(({ words }) => words.flatMap((word) => word.advantage ?? []));
  if (tokens.length === 0) return <span className={util.muted}>not used for training</span>;
  return (
    <>
      {formatValue(tokens.reduce((sum, value) => sum + value, 0) / tokens.length)} <span className={util.muted}>mean over tokens</span>
    </>
  );
}

// Plays one episode: the head says what it was about and how it ended, the transport moves through its steps by button,
// key, scrubber or by itself, and the step fills the rest.

import { memo, useCallback, useEffect, useMemo, useState } from 'react';
import { z } from 'zod';
import type { EpisodeNote, Replay } from '../../main/lab/features/episodes.ts';
import { call } from '../bridge.ts';
import { Button, IconButton } from '../components/button.tsx';
import { Badge } from '../components/stat.tsx';
import { CopyButton } from '../components/states.tsx';
import { formatValue } from '../format.ts';
import { useActions } from '../state/actions.ts';
import { toast, toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import { Comment, CommentButton, StarButton } from './note.tsx';
import type { Draft } from './note.tsx';
import { PAINTS, scaleOf } from './paint.ts';
import { CreditPanel } from './credit.tsx';
import { Resample } from './resample.tsx';
import { StepView } from './step-view.tsx';
import { episodeText } from './text.ts';
import util from '../theme/utilities.module.css';
import styles from './player.module.css';
import branched from './resample.module.css';

const drawingSchema = z.enum(['page', 'text']);
const paintSchema = z.enum(PAINTS);
const AUTOPLAY_MS = 1400;

// A step redraws what it changes and nothing else: buttons and head stay as they are.
const SteadyButton = memo(IconButton);
const SteadyHead = memo(EpisodeHead);

/** The recorded episode, or what was sampled from one of its steps until the user goes back. */
export function Player({ replay, note, start = 0 }: { replay: Replay; note: EpisodeNote; start?: number }) {
  const [branch, setBranch] = useState<{ replay: Replay; step: number } | null>(null);
  if (!branch) return <EpisodePlayer {...{ replay, note, start }} onOpen={(sampled, step) => setBranch({ replay: sampled, step })} />;
  return (
    <>
      <p className={branched.note} role="status">
        What if: #{branch.replay.run.id} at update {branch.replay.update} continues from step {branch.step + 1}. Not stored.
        <Button onClick={() => setBranch(null)}>Back to the recorded episode</Button>
      </p>
      <EpisodePlayer replay={branch.replay} start={branch.step} />
    </>
  );
}

interface EpisodePlayerProps {
  replay: Replay;
  /** Absent for what was sampled: it is not stored. */
  note?: EpisodeNote;
  start: number;
  /** Absent for what was sampled: it cannot be branched off again. */
  onOpen?: (branch: Replay, step: number) => void;
}

function EpisodePlayer({ replay, note, start, onOpen }: EpisodePlayerProps) {
  const last = replay.steps.length;
  const steps = useSteps(last, start);
  const { position, go, back, next, togglePlay } = steps;
  const [drawing, setDrawing] = useView('replay.drawing', drawingSchema, 'page');
  const [paint, setPaint] = useView('replay.paint', paintSchema, 'probability');
  const [again, setAgain] = useState(false);
  const [credit, setCredit] = useView('replay.credit', z.boolean(), false);
  const scale = useMemo(
    () =>
      scaleOf(
        replay.steps.flatMap(({ words }) => words),
        paint,
      ),
    [replay, paint],
  );
  const toggleAgain = useCallback(() => setAgain((open) => !open), []);
  const toggleCredit = (): void => setCredit(!credit);
  useActions([
    { id: 'replay.next', title: 'Next step', group: 'Replay', keys: 'ArrowRight', keyboardOnly: true, run: next },
    { id: 'replay.previous', title: 'Previous step', group: 'Replay', keys: 'ArrowLeft', keyboardOnly: true, run: back },
    { id: 'replay.first', title: 'First step', group: 'Replay', keys: 'Home', keyboardOnly: true, run: () => go(0) },
    { id: 'replay.end', title: 'Last step', group: 'Replay', keys: 'End', keyboardOnly: true, run: () => go(last) },
    { id: 'replay.play', title: 'Play or pause', group: 'Replay', keys: 'p', run: togglePlay },
    {
      id: 'replay.text',
      title: 'Toggle page and text',
      group: 'Replay',
      keys: 't',
      run: () => setDrawing(drawing === 'page' ? 'text' : 'page'),
    },
    {
      id: 'replay.paint',
      title: 'Next token colouring',
      group: 'Replay',
      keys: 'w',
      run: () => setPaint(PAINTS[(PAINTS.indexOf(paint) + 1) % PAINTS.length] ?? 'probability'),
    },
    ...(onOpen
      ? [
          {
            id: 'replay.resample',
            title: 'What if: continue from this step with another policy',
            group: 'Replay',
            keys: 'r',
            run: toggleAgain,
          },
          { id: 'replay.credit', title: 'Credit: which step earned or lost the reward', group: 'Replay', keys: 'v', run: toggleCredit },
        ]
      : []),
  ]);

  return (
    <article className={styles.player} data-tour-id="episode" aria-label={`Episode: ${replay.instruction}`}>
      <SteadyHead replay={replay} note={note} />
      <Transport
        replay={replay}
        steps={steps}
        again={again}
        onAgain={onOpen && toggleAgain}
        credit={credit}
        onCredit={onOpen && toggleCredit}
      />
      {onOpen && again && position < last && <Resample replay={replay} step={position} onClose={() => setAgain(false)} onOpen={onOpen} />}
      {onOpen && credit && <CreditPanel key={replay.id} replay={replay} position={position} onStep={go} />}
      <StepView {...{ replay, position, drawing, paint, scale }} onDrawing={setDrawing} onPaint={setPaint} />
    </article>
  );
}

/** Where the player is in the episode (`last` is its end), moved by the user or by playback. */
function useSteps(last: number, start: number) {
  const [position, setPosition] = useState(Math.min(start, last));
  const [playing, setPlaying] = useState(false);
  const go = (to: number): void => setPosition(Math.max(0, Math.min(last, to)));
  const back = useCallback(() => setPosition((now) => Math.max(0, now - 1)), []);
  const next = useCallback(() => setPosition((now) => Math.min(last, now + 1)), [last]);

  useEffect(() => {
    if (!playing) return undefined;
    const timer = setTimeout(() => {
      setPosition(Math.min(last, position + 1));
      if (position + 1 >= last) setPlaying(false);
    }, AUTOPLAY_MS);
    return () => clearTimeout(timer);
  }, [playing, position, last]);

  const togglePlay = useCallback((): void => {
    if (!playing) setPosition((now) => (now === last ? 0 : now));
    setPlaying(!playing);
  }, [playing, last]);
  return { position, playing, go, back, next, togglePlay };
}

interface TransportProps {
  replay: Replay;
  steps: ReturnType<typeof useSteps>;
  again: boolean;
  /** Absent where the episode cannot be branched off. */
  onAgain: (() => void) | undefined;
  credit: boolean;
  onCredit: (() => void) | undefined;
}

function Transport({ replay, steps, again, onAgain, credit, onCredit }: TransportProps) {
  const { position, playing, go, back, next, togglePlay } = steps;
  const last = replay.steps.length;
  return (
    <div className={styles.transport} role="group" aria-label="Steps">
      <SteadyButton icon={playing ? 'pause' : 'start'} label={playing ? 'Pause' : 'Play'} keys="p" onClick={togglePlay} />
      <span className={styles.back}>
        <SteadyButton icon="chevronRight" label="Previous step" keys="ArrowLeft" disabled={position === 0} onClick={back} />
      </span>
      <SteadyButton icon="chevronRight" label="Next step" keys="ArrowRight" disabled={position === last} onClick={next} />
      <Scrubber replay={replay} position={position} onPosition={go} />
      <output className={styles.place}>{position === last ? 'End' : `Step ${position + 1} of ${last}`}</output>
      {onAgain && (
        <Button icon="replay" disabled={position === last} aria-expanded={again} onClick={onAgain}>
          What if…
        </Button>
      )}
      {onCredit && (
        <Button icon="chart" aria-expanded={credit} onClick={onCredit}>
          Credit
        </Button>
      )}
    </div>
  );
}

async function exportEpisode(episode: number): Promise<void> {
  try {
    const { file } = await call('episodes.export', { episode });
    if (file !== null) toast({ title: 'Episode exported', body: file, tone: 'success' });
  } catch (error) {
    toastError('The episode was not exported', error);
  }
}

interface HeadProps {
  replay: Replay;
  note: EpisodeNote | undefined;
}

/** What it was about, how it ended, and why. */
function EpisodeHead({ replay, note }: HeadProps) {
  const { diagnosis, id: episode, run } = replay;
  const [draft, setDraft] = useState<Draft>(null);
  const noted = episode !== null && note ? { episode, note, draft, onDraft: setDraft } : null;
  return (
    <header className={styles.head}>
      <div className={styles.headRow}>
        <h2 className={styles.title}>{replay.instruction}</h2>
        <span className={styles.headActions}>
          {noted && (
            <>
              <StarButton episode={noted.episode} note={noted.note} />
              <CommentButton {...noted} />
              <CopyButton text={`astrolab://run/${run.id}/episode/${episode}`} label="Copy link" icon="link" />
              <Button icon="download" onClick={() => void exportEpisode(noted.episode)}>
                Export HTML…
              </Button>
            </>
          )}
          <CopyButton text={() => episodeText(replay)} label="Copy as text" icon="copy" />
        </span>
      </div>
      <p className={styles.facts}>
        <Badge tone={replay.success ? 'success' : 'failure'}>{replay.success ? 'success' : (diagnosis?.failure ?? 'failure')}</Badge>
        <span>
          Return <strong>{formatValue(replay.return)}</strong>
        </span>
        {replay.vstar && (
          <span title="Optimal expected return of the task under KL regularisation, estimated from samples of the reference policy">
            V* <strong>{formatValue(replay.vstar.value)}</strong>
          </span>
        )}
        {replay.advantage !== null && (
          <span>
            Advantage <strong>{formatValue(replay.advantage)}</strong>
          </span>
        )}
        <span className={util.muted}>
          {replay.category} · {replay.tier} · {replay.purpose === 'vstar' ? 'V* sample' : replay.purpose} at update {replay.update} · task{' '}
          {replay.task}
        </span>
      </p>
      {diagnosis && (
        <p className={styles.why}>
          <strong>Why it failed.</strong> {diagnosis.meaning}. {diagnosis.evidence}
        </p>
      )}
      {noted && <Comment {...noted} />}
    </header>
  );
}

/** A place for every step and one for the end; rewards, mistakes and the end are marked. */
function Scrubber({ replay, position, onPosition }: { replay: Replay; position: number; onPosition: (position: number) => void }) {
  const last = replay.steps.length;
  return (
    <div className={styles.scrubber}>
      <input
        type="range"
        min={0}
        max={last}
        step={1}
        value={position}
        aria-label="Step"
        aria-valuetext={position === last ? 'end' : `step ${position + 1} of ${last}`}
        onChange={(event) => onPosition(Number(event.target.value))}
      />
      <div className={styles.ticks} aria-hidden="true">
        {[...replay.steps, null].map((step, index) => (
          <span
            key={index}
            data-kind={step === null ? 'end' : !step.valid ? 'invalid' : step.reward > 0 ? 'reward' : step.reward < 0 ? 'penalty' : 'plain'}
            data-now={index === position || undefined}
          />
        ))}
      </div>
    </div>
  );
}

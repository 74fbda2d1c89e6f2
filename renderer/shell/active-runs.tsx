// What trains now, always in sight: each run with its progress and time left, and how many wait. A click opens it.

import { Link } from 'wouter';
import { Icon } from '../components/icons.tsx';
import { Progress } from '../components/stat.tsx';
import { Tooltip } from '../components/tooltip.tsx';
import { stageNow } from '../state/progress.ts';
import { active, queued, useRuns } from '../state/runs.ts';
import styles from './sidebar.module.css';

const SHOWN = 3;

export function ActiveRuns() {
  const { data } = useRuns();
  const runs = data?.runs ?? [];
  const training = active(runs);
  const waiting = queued(runs).length;
  if (training.length === 0 && waiting === 0) return null;
  const more = training.length - SHOWN + waiting;
  const words = [training.length > SHOWN ? `${training.length - SHOWN} more training` : '', waiting > 0 ? `${waiting} queued` : ''];
  return (
    <section className={styles.active} aria-label="Training now">
      {training.slice(0, SHOWN).map((run) => {
        const { share, words: now } = stageNow(run);
        const detail = `update ${run.updates} of ${run.planned}, ${now}`;
        return (
          <Tooltip key={run.id} text={`#${run.id} ${run.name}: ${detail}`} side="right">
            <Link href={`/runs/${run.id}`} className={styles.run} aria-label={`Run ${run.id} ${run.name}, ${detail}`}>
              <span className={styles.runName}>
                <Icon name="start" size={12} />
                <span className={styles.wide}>
                  #{run.id} <bdi>{run.name}</bdi>
                </span>
              </span>
              <Progress label={`Run ${run.id}`} value={share} />
              <span className={styles.left}>{now}</span>
            </Link>
          </Tooltip>
        );
      })}
      {more > 0 && (
        <Link href="/queue" className={styles.more}>
          <Icon name="clock" size={12} />
          <span className={styles.wide}>{words.filter(Boolean).join(', ')}</span>
        </Link>
      )}
    </section>
  );
}

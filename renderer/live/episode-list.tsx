// Episodes in short, newest first: outcome, task, what was said, return. Each leads to its replay.

import { Link } from 'wouter';
import type { EpisodeRow } from '../../main/lab/features/runs.ts';
import { Icon } from '../components/icons.tsx';
import { formatValue } from '../format.ts';
import util from '../theme/utilities.module.css';
import styles from './live.module.css';

export function EpisodeList({ run, episodes, label }: { run: number; episodes: readonly EpisodeRow[]; label: string }) {
  return (
    <ul className={styles.episodes} aria-label={label}>
      {episodes.map((episode) => (
        <li key={episode.id}>
          <Link href={`/replay/${run}/${episode.id}`} className={styles.episode}>
            <span
              className={styles.outcome}
              data-success={episode.success || undefined}
              title={episode.failure ?? (episode.success ? 'success' : 'failure')}
            >
              <Icon name={episode.success ? 'check' : 'cross'} size={13} />
              <span className={util.spoken}>{episode.success ? 'success' : 'failure'}</span>
            </span>
            <span className={styles.task}>{episode.task}</span>
            <code className={styles.said}>{episode.actions.join(' → ')}</code>
            <span className={styles.number}>{formatValue(episode.return)}</span>
            <span className={styles.remark}>u{episode.update}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

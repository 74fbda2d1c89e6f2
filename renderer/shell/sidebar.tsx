// The navigation: pages, and at the bottom the state of the worker process, the keys and the theme. Narrow windows
// show icons only; their names stay for screen readers and as tooltips.

import { Link } from 'wouter';
import type { Theme } from '../../main/base/vocabulary.ts';
import type { WorkerStatus } from '../../main/lab/features/worker.ts';
import { call, useCall } from '../bridge.ts';
import { IconButton } from '../components/button.tsx';
import { Icon, Mark } from '../components/icons.tsx';
import type { IconName } from '../components/icons.tsx';
import { Keys } from '../components/keys.tsx';
import { Tooltip } from '../components/tooltip.tsx';
import { PAGES } from '../pages.ts';
import { active, useRuns } from '../state/runs.ts';
import { toastError } from '../state/toasts.ts';
import util from '../theme/utilities.module.css';
import { ActiveRuns } from './active-runs.tsx';
import styles from './sidebar.module.css';

export function Sidebar({ location, onSearch, onKeys }: { location: string; onSearch: () => void; onKeys: () => void }) {
  return (
    <nav className={styles.sidebar} aria-label="Main">
      <div className={styles.brand}>
        <Mark />
        <span className={styles.wide}>Astrolab</span>
      </div>
      <button type="button" className={styles.search} onClick={onSearch} aria-label="Search everything">
        <Icon name="search" />
        <span className={styles.wide}>Search</span>
        <span className={styles.wide}>
          <Keys keys="$mod+k" />
        </span>
      </button>
      <PageLinks place="top" location={location} />
      <div className={util.spacer} />
      <ActiveRuns />
      <WorkerLine />
      <PageLinks place="bottom" location={location} />
      <div className={styles.tools}>
        <ThemeButton />
        <IconButton icon="keyboard" label="Keyboard shortcuts" keys="?" onClick={onKeys} />
      </div>
    </nav>
  );
}

function PageLinks({ place, location }: { place: 'top' | 'bottom'; location: string }) {
  const clusters = useCall('clusters.list', {}).data?.clusters.length ?? 0;
  return (
    <ul className={styles.links}>
      {PAGES.map(({ id, title, address, navigation }) => {
        if (navigation?.place !== place || ('withCluster' in navigation && clusters === 0)) return null;
        const here = address === '/' ? location === '/' || location.startsWith('/runs') : location.startsWith(address);
        return (
          <li key={id}>
            <Tooltip text={title} keys={`g ${navigation.key}`} side="right">
              <Link href={address} className={styles.link} aria-current={here ? 'page' : undefined} aria-label={title}>
                <Icon name={navigation.icon} />
                <span className={styles.wide}>{title}</span>
              </Link>
            </Tooltip>
          </li>
        );
      })}
    </ul>
  );
}

const STATES: Readonly<Record<WorkerStatus['state'], string>> = {
  stopped: 'idle',
  starting: 'starting…',
  ready: 'ready',
  restarting: 'restarting…',
  failed: 'failed',
};

/** One quiet line: is the worker process well? Details are in Settings. */
function WorkerLine() {
  const runs = useRuns();
  const { data } = useCall('worker.status', {});
  if (!data) return null;
  const words = data.state === 'ready' && data.restarts > 0 ? `ready, restarted ${data.restarts}×` : STATES[data.state];
  // While something trains, that stands above, and a worker that is merely idle says nothing.
  if (active(runs.data?.runs ?? []).length > 0 && data.state !== 'failed') return null;
  return (
    <Tooltip text={data.reason ? `Worker process: ${words}. Last exit: ${data.reason}` : `Worker process: ${words}`} side="right">
      <Link href="/settings" className={styles.status} aria-label={`Worker process: ${words}`}>
        <span className={styles.dot} data-state={data.state} />
        <span className={styles.wide}>Worker: {words}</span>
      </Link>
    </Tooltip>
  );
}

const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' };
const THEME_WORDS: Readonly<Record<Theme, string>> = { system: 'system', light: 'light', dark: 'dark' };

function ThemeButton() {
  const theme = useCall('system.theme', {}).data?.theme ?? 'system';
  const next = NEXT_THEME[theme];
  return (
    <IconButton
      icon={THEME_ICONS[theme]}
      label={`Theme: ${THEME_WORDS[theme]}. Switch to ${THEME_WORDS[next]}`}
      onClick={() => {
        call('system.setTheme', { theme: next }).catch((error: unknown) => toastError('The theme was not changed', error));
      }}
    />
  );
}

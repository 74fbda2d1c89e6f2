// The frame around every page: navigation at the left, the page, and above them palette, keys and messages. It
// registers the actions that exist everywhere.

import { useEffect, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import type { Theme } from '../main/base/vocabulary.ts';
import type { MenuCommand } from '../preload/pages.ts';
import { call, useEvent } from './bridge.ts';
import { LinkButton } from './components/button.tsx';
import { Page } from './components/page.tsx';
import { EmptyState } from './components/states.tsx';
import { pageKey, PAGES } from './pages.ts';
import { ErrorBoundary } from './shell/error-boundary.tsx';
import { useKeyboard } from './shell/keyboard.ts';
import { KeysDialog } from './shell/keys-dialog.tsx';
import { LabStatus } from './shell/lab-status.tsx';
import { Palette } from './shell/palette.tsx';
import { Sidebar } from './shell/sidebar.tsx';
import { Toaster } from './shell/toaster.tsx';
import { useActions } from './state/actions.ts';
import type { Action } from './state/actions.ts';
import { RunWatch } from './state/runs.ts';
import { toastError } from './state/toasts.ts';
import { useDroppedFiles } from './state/transfer.ts';
import { writeView } from './state/view.ts';
import { Tour } from './tour/tour.tsx';
import styles from './app.module.css';

type Overlay = 'palette' | 'keys' | null;

export function App() {
  const [location, navigate] = useLocation();
  const [overlay, setOverlay] = useState<Overlay>(null);

  useEffect(() => {
    writeView('location', location);
    const page = PAGES.find(({ address }) => address !== '/' && location.startsWith(address)) ?? PAGES[0];
    document.title = `${page?.title ?? ''} – Astrolab`;
  }, [location]);

  useKeyboard();
  useActions([...pageActions(navigate), ...frameActions(setOverlay)]);
  useEvent('system.menuCommand', ({ command }) => obey(command, navigate, setOverlay));
  useEvent('system.navigate', ({ address }) => navigate(address));
  useDroppedFiles(navigate);
  useUnhandledErrors();

  return (
    <div className={styles.frame}>
      <Sidebar location={location} onSearch={() => setOverlay('palette')} onKeys={() => setOverlay('keys')} />
      <main className={styles.main} aria-label="Page">
        {/* A new address gets a new boundary, so leaving a broken page heals it. */}
        <ErrorBoundary key={pageKey(location)} where={`the page ${location}`}>
          <Switch>
            {PAGES.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route component={NotFound} />
          </Switch>
        </ErrorBoundary>
        <LabStatus />
        <Tour />
      </main>
      <Palette open={overlay === 'palette'} onClose={() => setOverlay(null)} />
      <KeysDialog open={overlay === 'keys'} onClose={() => setOverlay(null)} />
      <RunWatch onOpen={navigate} />
      <Toaster />
    </div>
  );
}

function pageActions(navigate: (to: string) => void): Action[] {
  return PAGES.flatMap(({ id, title, address, navigation }): Action[] => {
    const action = { id: `go.${id}`, title, group: 'Go to', run: () => navigate(address) };
    if (id === 'gallery') return [{ ...action, words: ['components', 'building blocks', 'charts'] }];
    return navigation ? [{ ...action, keys: `g ${navigation.key}` }] : [];
  });
}

function frameActions(setOverlay: (change: (now: Overlay) => Overlay) => void): Action[] {
  const toggle = (overlay: 'palette' | 'keys') => () => setOverlay((now) => (now === overlay ? null : overlay));
  const theme = (value: Theme, title: string): Action => ({
    id: `theme.${value}`,
    title,
    group: 'Appearance',
    words: ['dark', 'light', 'mode', 'colours'],
    run: () => {
      call('system.setTheme', { theme: value }).catch((error: unknown) => toastError('The theme was not changed', error));
    },
  });
  return [
    {
      id: 'palette',
      title: 'Search everything',
      group: 'General',
      keys: '$mod+k',
      whileTyping: true,
      keyboardOnly: true,
      run: toggle('palette'),
    },
    { id: 'keys', title: 'Keyboard shortcuts', group: 'General', keys: ['Shift+?', '?'], run: toggle('keys') },
    theme('system', 'Theme: system'),
    theme('light', 'Theme: light'),
    theme('dark', 'Theme: dark'),
  ];
}

function obey(command: MenuCommand, navigate: (to: string) => void, setOverlay: (overlay: Overlay) => void): void {
  if (command === 'palette' || command === 'keys') {
    setOverlay(command);
    return;
  }
  const page = PAGES.find(({ id }) => id === command);
  if (page) navigate(page.address);
}

/** What no boundary can catch: failures in event handlers and promises. */
function useUnhandledErrors(): void {
  useEffect(() => {
    const onRejection = (event: PromiseRejectionEvent): void => toastError('Something went wrong', event.reason);
    window.addEventListener('unhandledrejection', onRejection);
    return () => window.removeEventListener('unhandledrejection', onRejection);
  }, []);
}

function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState title="This page does not exist" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>There is no page at {window.location.hash}. The link may come from another version of Astrolab.</p>
      </EmptyState>
    </Page>
  );
}

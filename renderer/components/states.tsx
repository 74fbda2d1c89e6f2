// The states that are easily forgotten: nothing here yet, still loading, went wrong. Every list, chart and page draws
// one of these instead of blank space.

import type { ReactNode } from 'react';
import { call, CallError } from '../bridge.ts';
import { toast, toastError } from '../state/toasts.ts';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import util from '../theme/utilities.module.css';
import styles from './states.module.css';

interface EmptyStateProps {
  title: string;
  art?: ReactNode;
  children: ReactNode;
  actions?: ReactNode;
  /** A small line under the buttons. */
  footnote?: ReactNode;
}

/** What would be here, why it is not, and the one thing to do next. */
export function EmptyState({ title, art, children, actions, footnote }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {art}
      <h2 className={styles.title}>{title}</h2>
      <div className={styles.words}>{children}</div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      {footnote !== undefined && <p className={styles.footnote}>{footnote}</p>}
    </div>
  );
}

/** What happened, what to do, and everything needed to report it. `retry` when trying again can help. */
export function ErrorState({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof CallError ? error.hint : '';
  return (
    <div className={styles.error} role="alert">
      <div className={styles.errorHead}>
        <Icon name="warning" />
        <strong>{title}</strong>
      </div>
      <p>{message}</p>
      {hint && <p className={util.muted}>{hint}</p>}
      <div className={styles.errorActions}>
        {retry && <Button onClick={retry}>Try again</Button>}
        <CopyButton text={() => errorReport(title, error)} label="Copy details" />
      </div>
    </div>
  );
}

interface CopyButtonProps {
  text: string | (() => string | Promise<string>);
  label?: string;
  /** The label only as a tooltip, where there is little room. */
  icon?: IconName;
}

/** Copies through the main process: the page itself has no clipboard permission. */
export function CopyButton({ text, label = 'Copy', icon }: CopyButtonProps) {
  const copy = async (): Promise<void> => {
    try {
      await call('system.copy', { text: typeof text === 'string' ? text : await text() });
      toast({ title: 'Copied', tone: 'success', milliseconds: 2_000 });
    } catch (error) {
      toastError('Could not copy', error);
    }
  };
  if (icon) return <IconButton icon={icon} label={label} onClick={() => void copy()} />;
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {label}
    </Button>
  );
}

/** The text a user pastes into a report: what happened, where, with which versions. */
export async function errorReport(title: string, error: unknown, extra = ''): Promise<string> {
  const about = await call('system.about', {});
  const lines = [
    title,
    error instanceof CallError ? `${error.code}: ${error.message}` : String(error),
    `page: ${window.location.hash || '#/'}`,
    `astrolab ${about.version}, electron ${about.electron}, chrome ${about.chrome}, node ${about.node}, ${about.platform}`,
  ];
  if (error instanceof Error && error.stack) lines.push('', error.stack);
  if (extra) lines.push('', extra);
  return lines.join('\n');
}

/** Grey bars in the shape of what is coming; appears only if it takes a moment, so fast pages do not flicker. */
export function Loading({ label, rows = 3 }: { label: string; rows?: number }) {
  return (
    <div className={styles.loading} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className={styles.bar} />
      ))}
    </div>
  );
}

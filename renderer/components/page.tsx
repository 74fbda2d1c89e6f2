// The skeleton every page shares: a header with one title, one line of meaning and the page's actions, then content
// that scrolls. Sections group a page; a Toolbar holds what changes the view.

import { useId } from 'react';
import type { ReactNode } from 'react';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** One muted line: what this is, or the numbers that matter most. */
  subtitle?: ReactNode;
  /** Buttons at the right, the most important last. */
  actions?: ReactNode;
  /** Under the title: tabs, filters. Does not scroll away. */
  toolbar?: ReactNode;
  children: ReactNode;
}

export function Page({ title, subtitle, actions, toolbar, children }: PageProps) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h1>{title}</h1>
          {subtitle !== undefined && <p className={styles.subtitle}>{subtitle}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {toolbar !== undefined && <div className={styles.toolbar}>{toolbar}</div>}
      <div className={styles.content} tabIndex={-1}>
        {children}
      </div>
    </div>
  );
}

interface SectionProps {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  /** By which the guided tour finds it. */
  tourId?: string;
  children: ReactNode;
}

export function Section({ title, hint, actions, tourId, children }: SectionProps) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id} data-tour-id={tourId}>
      <div className={styles.sectionHead}>
        <div>
          <h2 id={id}>{title}</h2>
          {hint !== undefined && <p className={styles.hint}>{hint}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** A bordered surface for what belongs together. */
export function Card({ children }: { children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}

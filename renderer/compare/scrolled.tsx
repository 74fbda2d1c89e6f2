// A table that is wider or taller than its place and scrolls there, with the keys too.

import type { ReactNode } from 'react';
import styles from './compare.module.css';

export function Scrolled({ label, tall = true, children }: { label: string; tall?: boolean; children: ReactNode }) {
  return (
    <div className={tall ? styles.tall : styles.scroll} role="group" aria-label={`${label}, scrollable`} tabIndex={0}>
      {children}
    </div>
  );
}

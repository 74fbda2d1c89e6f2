// Words on demand. A Tooltip names what an icon does; an Explain is the small "i" beside a metric or a knob that opens
// its glossary entry in place, by mouse or key.

import { Popover, Tooltip as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { Keys } from './keys.tsx';
import { usePortal } from './portal.ts';
import styles from './tooltip.module.css';

export function Tooltip({
  text,
  keys,
  children,
  side = 'bottom',
}: {
  text: string;
  keys?: string;
  children: ReactElement;
  side?: 'top' | 'right' | 'bottom' | 'left';
}) {
  const container = usePortal();
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal container={container}>
        <Radix.Content className={styles.tooltip} side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {keys && <Keys keys={keys} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** `what` completes "Explain …" for screen readers. The body may hold a formula, the unit, which direction is good. */
export function Explain({ what, title, children }: { what: string; title?: string; children: ReactNode }) {
  const container = usePortal();
  return (
    <Popover.Root>
      <Popover.Trigger className={styles.explain} aria-label={`Explain ${what}`}>
        <Icon name="info" size={14} />
      </Popover.Trigger>
      <Popover.Portal container={container}>
        <Popover.Content
          className={styles.explanation}
          aria-label={title ?? what}
          side="bottom"
          align="start"
          sideOffset={6}
          collisionPadding={12}
        >
          <strong>{title ?? what}</strong>
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

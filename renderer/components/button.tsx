// Buttons. `primary` at most once a page; `quiet` inside tables and toolbars; IconButton always carries its words as a
// tooltip and as its name for screen readers.

import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import { Tooltip } from './tooltip.tsx';
import styles from './button.module.css';

type Kind = 'primary' | 'normal' | 'quiet' | 'danger';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'style'> {
  kind?: Kind;
  icon?: IconName;
}

export function Button({ kind = 'normal', icon, children, type = 'button', ...rest }: ButtonProps) {
  return (
    <button type={type} className={styles.button} data-kind={kind} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Looks like a button, is a link: it goes to another page, and can be opened by anything that follows links. */
export function LinkButton({ href, kind = 'normal', icon, children }: { href: string; kind?: Kind; icon?: IconName; children: ReactNode }) {
  return (
    <Link href={href} className={styles.button} data-kind={kind}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'style' | 'children' | 'aria-label'> {
  icon: IconName;
  label: string;
  /** Shown in the tooltip beside the label. */
  keys?: string;
}

export function IconButton({ icon, label, keys, type = 'button', ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} {...(keys === undefined ? {} : { keys })}>
      <button type={type} className={styles.icon} aria-label={label} {...rest}>
        <Icon name={icon} />
      </button>
    </Tooltip>
  );
}

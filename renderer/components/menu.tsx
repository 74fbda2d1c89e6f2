// A menu of actions behind a button. Not modal, so that it neither locks scrolling nor injects styles.

import { DropdownMenu } from 'radix-ui';
import type { ReactElement } from 'react';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';
import { Keys } from './keys.tsx';
import { usePortal } from './portal.ts';
import styles from './menu.module.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  run(): void;
}

/** `items` may hold 'line' between groups. The child is the button that opens it. */
export function Menu({ items, children }: { items: readonly (MenuItem | 'line')[]; children: ReactElement }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <MenuItems items={items} align="end" />
    </DropdownMenu.Root>
  );
}

/** The menu itself, inside a DropdownMenu.Root. */
export function MenuItems({ items, align }: { items: readonly (MenuItem | 'line')[]; align: 'start' | 'end' }) {
  const container = usePortal();
  return (
    <DropdownMenu.Portal container={container}>
      <DropdownMenu.Content className={styles.menu} align={align} sideOffset={4} collisionPadding={8}>
        {items.map((item, index) =>
          item === 'line' ? (
            <DropdownMenu.Separator key={index} className={styles.line} />
          ) : (
            <DropdownMenu.Item
              key={item.label}
              className={styles.item}
              data-danger={item.danger || undefined}
              disabled={item.disabled ?? false}
              onSelect={() => item.run()}
            >
              <span className={styles.icon}>{item.icon && <Icon name={item.icon} />}</span>
              <span className={styles.label}>{item.label}</span>
              {item.keys && <Keys keys={item.keys} />}
            </DropdownMenu.Item>
          ),
        )}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  );
}

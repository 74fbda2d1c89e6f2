// Draws the messages of state/toasts.ts. F8 moves the focus to them; they wait while pointed at or focused.

import { Toast } from 'radix-ui';
import { IconButton } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { useToastStore } from '../state/toasts.ts';
import styles from './toaster.module.css';

export function Toaster() {
  const { toasts, dismiss } = useToastStore();
  return (
    <Toast.Provider label="Message">
      {toasts.map(({ id, title, body, tone, action, milliseconds }) => (
        <Toast.Root
          key={id}
          className={styles.toast}
          data-tone={tone}
          duration={milliseconds}
          onOpenChange={(open) => !open && dismiss(id)}
        >
          {tone !== 'neutral' && (
            <span className={styles.icon}>
              <Icon name={tone === 'success' ? 'check' : 'warning'} />
            </span>
          )}
          <div className={styles.words}>
            <Toast.Title>{title}</Toast.Title>
            {body !== undefined && <Toast.Description className={styles.body}>{body}</Toast.Description>}
          </div>
          {action && (
            <Toast.Action altText={action.label} className={styles.action} onClick={() => action.run()}>
              {action.label}
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton icon="cross" label="Dismiss" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className={styles.viewport} label="Messages ({hotkey})" />
    </Toast.Provider>
  );
}

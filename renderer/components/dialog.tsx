// A modal dialog on the browser's <dialog>: it traps focus, closes with Escape, makes the rest inert and gives
// focus back, without a line of ours and without injecting styles (which the security policy would refuse).

import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { PortalContext } from './portal.ts';
import util from '../theme/utilities.module.css';
import styles from './dialog.module.css';

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** `bare` draws no header (the palette); the title is then spoken only. */
  bare?: boolean;
  width?: number;
  /** Buttons at the bottom right, the most important last. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Dialog({ open, onClose, title, bare = false, width = 520, actions, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const [portal, setPortal] = useState<HTMLElement | null>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (open && dialog && !dialog.open) {
      dialog.showModal();
      // Left to itself the browser would focus the close button, and with it open a tooltip over the title.
      const first = dialog.querySelector('[data-autofocus]') ?? dialog.firstElementChild;
      if (first instanceof HTMLElement) first.focus();
    }
    if (!open && dialog?.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={ref}
      className={styles.dialog}
      style={{ width }}
      aria-labelledby={id}
      onCancel={(event) => {
        // Escape closes it through the page's state, as everything else does: a key pressed at once then finds it closed.
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // The browser tells of a closing a moment later; opened again by then, it stays open.
        if (ref.current?.open !== true) onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      {open && (
        <PortalContext value={portal}>
          <div className={styles.body} ref={setPortal} tabIndex={-1}>
            {bare ? (
              <h2 id={id} className={util.spoken}>
                {title}
              </h2>
            ) : (
              <header className={styles.header}>
                <h2 id={id}>{title}</h2>
                <IconButton icon="cross" label="Close" keys="Escape" onClick={onClose} />
              </header>
            )}
            <div className={bare ? styles.bare : styles.content}>{children}</div>
            {actions !== undefined && <footer className={styles.footer}>{actions}</footer>}
          </div>
        </PortalContext>
      )}
    </dialog>
  );
}

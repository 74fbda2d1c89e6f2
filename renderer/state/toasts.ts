// Short messages at the window's edge. What could be asked as "are you sure?" is done at once and offered back here
// with Undo.

import { create } from 'zustand';
import { CallError } from '../bridge.ts';

export interface Toast {
  readonly id: number;
  readonly title: string;
  readonly body?: string;
  readonly tone: 'neutral' | 'success' | 'failure';
  /** One thing to do about it, e.g. Undo. */
  readonly action?: { readonly label: string; run(): void };
  readonly milliseconds: number;
}

interface ToastState {
  readonly toasts: readonly Toast[];
  dismiss(id: number): void;
}

export const useToastStore = create<ToastState>()((set) => ({
  toasts: [],
  dismiss: (id) => set(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) })),
}));

let nextId = 1;

export function toast(message: {
  title: string;
  body?: string;
  tone?: Toast['tone'];
  action?: Toast['action'];
  milliseconds?: number;
}): void {
  const entry: Toast = {
    id: nextId++,
    title: message.title,
    tone: message.tone ?? 'neutral',
    milliseconds: message.milliseconds ?? (message.action ? 10_000 : 5_000),
    ...(message.body === undefined ? {} : { body: message.body }),
    ...(message.action === undefined ? {} : { action: message.action }),
  };
  useToastStore.setState(({ toasts }) => ({ toasts: [...toasts.slice(-3), entry] }));
}

/** Done already; this takes it back. */
export function toastWithUndo(title: string, undo: () => void): void {
  toast({ title, action: { label: 'Undo', run: undo } });
}

export function toastError(title: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof CallError ? error.hint : '';
  toast({ title, body: hint ? `${message} ${hint}` : message, tone: 'failure', milliseconds: 12_000 });
}

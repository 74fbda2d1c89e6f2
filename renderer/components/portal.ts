// Where floating parts (tooltips, menus, explanations) are attached: the page's body, or the open dialog, because
// everything outside an open modal dialog lies beneath it.

import { createContext, useContext } from 'react';

export const PortalContext = createContext<HTMLElement | null>(null);

export function usePortal(): HTMLElement | undefined {
  return useContext(PortalContext) ?? undefined;
}

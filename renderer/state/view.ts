// View settings that survive leaving the page and a restart: columns, filters, zoom, smoothing. One key each, in the
// page's storage; what is read back is parsed, so an older or damaged value falls back to the default.

import { useCallback, useMemo } from 'react';
import type { z } from 'zod';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';

interface ViewState {
  readonly values: Readonly<Record<string, unknown>>;
  set(key: string, value: unknown): void;
}

const useViewStore = create<ViewState>()(
  persist(
    (set) => ({
      values: {},
      set: (key, value) => set((state) => ({ values: { ...state.values, [key]: value } })),
    }),
    { name: 'astrolab.view', partialize: ({ values }) => ({ values }) },
  ),
);

/** Like useState, but remembered under `key`. `schema` and `fallback` should be constants of the module. */
export function useView<T>(key: string, schema: z.ZodType<T>, fallback: T): [T, (value: T) => void] {
  const raw = useViewStore((state) => state.values[key]);
  const set = useViewStore((state) => state.set);
  const value = useMemo(() => (raw === undefined ? fallback : schema.catch(fallback).parse(raw)), [raw, schema, fallback]);
  return [value, useCallback((next: T) => set(key, next), [set, key])];
}

/** The same outside of components. */
export function readView<T>(key: string, schema: z.ZodType<T>, fallback: T): T {
  return schema.catch(fallback).parse(useViewStore.getState().values[key]);
}

export function writeView(key: string, value: unknown): void {
  useViewStore.getState().set(key, value);
}

// The page's side of the contract: `call` asks the lab, `listen` hears its events, `useCall` does the former for a component with caching.
// Answers and payloads were parsed on departure (main/lab/answer.ts). An answer that says "not ok" becomes a CallError with code, message and hint.

import { queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Answer, Bridge, CallName, EventName, Failure, Input, Payload } from '../preload/contract.ts';

declare global {
  interface Window {
    readonly astrolab: Bridge;
  }
}

export class CallError extends Error implements Failure {
  override readonly name = 'CallError';
  readonly code: Failure['code'];
  readonly hint: string;

  constructor({ code, message, hint }: Failure) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export async function call<N extends CallName>(name: N, input: Input<N>): Promise<Answer<N>> {
  const outcome = await window.astrolab.call(name, input);
  if (!outcome.ok) throw new CallError(outcome.error);
  return outcome.value;
}

/** One line to the lab for each event, however many listen: a payload is copied on its way, so once is enough. */
class Line<N extends EventName> {
  readonly #listeners = new Set<(payload: Payload<N>) => void>();
  readonly #name: N;
  #hangUp: (() => void) | null = null;

  constructor(name: N) {
    this.#name = name;
  }

  listen(listener: (payload: Payload<N>) => void): () => void {
    this.#listeners.add(listener);
    this.#hangUp ??= window.astrolab.listen(this.#name, (payload) => {
      for (const one of this.#listeners) one(payload);
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#hangUp?.();
      this.#hangUp = null;
    };
  }
}

const lines: { [N in EventName]?: Line<N> } = {};

/** Hears one event; returns how to stop. */
export function listen<N extends EventName>(name: N, listener: (payload: Payload<N>) => void): () => void {
  const known: Line<N> | undefined = lines[name];
  if (known) return known.listen(listener);
  const line = new Line(name);
  Object.assign(lines, { [name]: line });
  return line.listen(listener);
}

export function useEvent<N extends EventName>(name: N, listener: (payload: Payload<N>) => void): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => listen(name, (payload) => latest.current(payload)), [name]);
}

/** The cache entry of a call, for prefetching, invalidating and setting. */
export function callOptions<N extends CallName>(name: N, input: Input<N>) {
  return queryOptions<Answer<N>, Error>({ queryKey: [name, input], queryFn: () => call(name, input) });
}

/** What an event brought last, for progress (state/fresh.ts keeps it); undefined before. */
export function useLatest<N extends EventName>(name: N): Payload<N> | undefined {
  return useQuery<Payload<N>>({ queryKey: [name], queryFn: skipToken }).data;
}

export function useCall<N extends CallName>(name: N, input: Input<N>): UseQueryResult<Answer<N>, Error> {
  return useQuery(callOptions(name, input));
}

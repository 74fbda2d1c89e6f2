// The live stream: one MessagePort straight from the training process, opened once and shared by all listeners. When
// that process is started again the old port is dead, so a new one is fetched. Messages are parsed as they arrive;
// one of an unknown kind is dropped.

import { useEffect, useRef } from 'react';
import { STREAM_CHANNEL } from '../preload/channels.ts';
import { streamMessage } from '../preload/contract/training.ts';
import type { StreamMessage } from '../preload/contract.ts';
import { call, listen } from './bridge.ts';

const listeners = new Set<(message: StreamMessage) => void>();
let port: MessagePort | null = null;
let opening = false;

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const { data, source, ports } = event;
  const ours = typeof data === 'object' && data !== null && 'channel' in data && data.channel === STREAM_CHANNEL;
  if (source !== window || !ours || !ports[0]) return;
  port?.close();
  port = ports[0];
  port.onmessage = ({ data: raw }: MessageEvent<unknown>) => {
    const parsed = streamMessage.safeParse(raw);
    if (parsed.success) for (const listener of listeners) listener(parsed.data);
  };
});

/** Hears the stream from now on; resolves once the port is on its way, so that nothing sent after it is missed. */
export async function openStream(): Promise<void> {
  if (port || opening) return;
  opening = true;
  try {
    await call('training.openStream', {});
  } finally {
    opening = false;
  }
}

listen('training.status', ({ state }) => {
  if (state !== 'restarting' || !port) return;
  port.close();
  port = null;
  if (listeners.size > 0) void openStream();
});

export function subscribe(listener: (message: StreamMessage) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Calls back with every message while the component is shown. Opens the stream (and with it the training process). */
export function useStream(listener: (message: StreamMessage) => void): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    void openStream();
    return subscribe((message) => latest.current(message));
  }, []);
}

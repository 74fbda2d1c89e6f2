// The thread that talks to worlds in other processes, because the lab waits for their answers with its thread asleep (bridge.ts
// says why). It knows nothing of episodes: it gets lines with their channels, and hands back a reply for each, in order.

import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { type Channel, Connection, Program, type Reply } from './channel.ts';
import type { WorldManifest } from './manifest.ts';

export interface ThreadData {
  readonly manifest: WorldManifest;
  readonly folder: string;
  readonly helpers: string;
  readonly port: MessagePort;
  /** Counts the answers; whoever waits sleeps on it. The pids of the channels' programs follow, so that they can be ended with the lab. */
  readonly bell: Int32Array;
}

export type ToThread =
  | { readonly kind: 'exchange'; readonly lines: readonly { readonly channel: number; readonly line: string }[] }
  /** Ends a channel's program; the next line to it starts another. */
  | { readonly kind: 'end'; readonly channel: number }
  | { readonly kind: 'close' };

const { manifest, folder, helpers, port, bell }: ThreadData = workerData;
const channels = new Map<number, Channel>();

function channelOf(number: number): Channel {
  let channel = channels.get(number);
  if (!channel || channel.dead) {
    channel = manifest.url === undefined ? new Program(manifest, folder, helpers) : new Connection(manifest);
    channels.set(number, channel);
    Atomics.store(bell, 1 + number, channel.pid);
  }
  return channel;
}

function exchange(lines: Extract<ToThread, { kind: 'exchange' }>['lines']): void {
  const replies: Reply[] = [];
  let missing = lines.length;
  const places = new Map<number, number[]>();
  for (const [index, { channel }] of lines.entries()) {
    const own = places.get(channel);
    if (own) own.push(index);
    else places.set(channel, [index]);
  }
  for (const [channel, own] of places) {
    let next = 0;
    channelOf(channel).send(
      own.map((index) => lines[index]?.line ?? ''),
      (reply) => {
        replies[own[next++] ?? 0] = reply;
        missing -= 1;
        if (missing === 0) answer(replies);
      },
    );
  }
  if (lines.length === 0) answer([]);
}

function answer(replies: readonly Reply[]): void {
  port.postMessage(replies);
  Atomics.add(bell, 0, 1);
  Atomics.notify(bell, 0);
}

port.on('message', (message: ToThread) => {
  if (message.kind === 'exchange') return exchange(message.lines);
  if (message.kind === 'end') {
    channels.get(message.channel)?.close();
    channels.delete(message.channel);
    Atomics.store(bell, 1 + message.channel, 0);
    return undefined;
  }
  for (const channel of channels.values()) channel.close();
  port.close();
  parentPort?.close();
  return process.exit(0);
});

// The border to worlds in other processes, crossed synchronously: the calling thread hands a batch of lines to a thread of this
// its channel and sleeps until all of them are answered.
//
// Why not asynchronously? Every part of the lab that plays (rollouts, evaluation, replay, "what if", Play, demonstrations,
// agents, property tests) relies on worlds being functions of plain data, and none of them has anything else to do until the world answers:
// a rollout needs every row's page before its next call of the model. So the interface stays as simple as it is, numbers cannot depend on timing, and
// what would have been gained by waiting for many worlds at once is gained by sending the actions of all rows in one batch
// (Environment.stepMany), to several processes at a time. The round trip through the thread costs 30 µs a batch. Time limits are kept by the
// thread, so a world that hangs wakes the sleeper with a reason; a second limit here covers the thread itself.

import { join } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { projectFolder, resourceFile } from '../../base/paths.ts';
import type { Reply } from './channel.ts';
import type { WorldManifest } from './manifest.ts';
import type { ThreadData, ToThread } from './thread.ts';

/** Beyond all limits that the thread itself keeps. */
const THREAD_GRACE_MS = 30_000;

/** The thread beside this code: the source when this is the source, the bundle when this is the bundle. */
function threadFile(): string {
  return import.meta.url.endsWith('.ts')
    ? join(projectFolder(), 'main/environment/external/thread.ts')
    : join(projectFolder(), 'out/main/world-thread.js');
}

/** The lab ends without asking its threads, so whatever they have started is ended here. */
const bells = new Set<Int32Array>();
process.on('exit', () => {
  for (const bell of bells) for (const pid of bell.subarray(1)) if (pid !== 0) endGroup(pid);
});

function endGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // it has gone by itself
  }
}

export class Bridge {
  readonly #manifest: WorldManifest;
  readonly #folder: string;
  readonly #bell: Int32Array;
  #thread: Worker | undefined;
  #port: MessagePort | undefined;

  constructor(manifest: WorldManifest, folder: string) {
    this.#manifest = manifest;
    this.#folder = folder;
    this.#bell = new Int32Array(new SharedArrayBuffer(4 * (1 + manifest.processes)));
  }

  /** Sends all lines and waits for all replies, in the same order. */
  exchange(lines: readonly { readonly channel: number; readonly line: string }[]): readonly Reply[] {
    const port = this.#open();
    port.postMessage({ kind: 'exchange', lines } satisfies ToThread);
    const { start, message } = this.#manifest.seconds;
    const until = performance.now() + (start + message * lines.length) * 1000 + THREAD_GRACE_MS;
    for (;;) {
      const seen = Atomics.load(this.#bell, 0);
      const arrived = receiveMessageOnPort(port);
      if (arrived) return arrived.message;
      if (performance.now() > until) {
        this.close();
        return lines.map(() => ({ failed: 'timeout', detail: 'The thread that talks to the world does not answer.' }));
      }
      Atomics.wait(this.#bell, 0, seen, 1000);
    }
  }

  /** Ends the program of a channel; the next line starts it anew. */
  end(channel: number): void {
    this.#port?.postMessage({ kind: 'end', channel } satisfies ToThread);
  }

  close(): void {
    this.#port?.postMessage({ kind: 'close' } satisfies ToThread);
    this.#port = undefined;
    this.#thread = undefined;
  }

  #open(): MessagePort {
    if (this.#port) return this.#port;
    const { port1, port2 } = new MessageChannel();
    const data: ThreadData = {
      manifest: this.#manifest,
      folder: this.#folder,
      helpers: resourceFile('worlds'),
      port: port2,
      bell: this.#bell,
    };
    this.#thread = new Worker(threadFile(), { workerData: data, transferList: [port2] });
    bells.add(this.#bell);
    // The programs end with the lab: neither the thread nor the port keeps it alive.
    this.#thread.unref();
    port1.unref();
    this.#port = port1;
    return port1;
  }
}

// The lab's process, a utility process of the window's application: messages of the shell in, answers and events out. It ends when asked to,
// and with the application.

import { asFailure } from './answer.ts';
import type { Desktop } from './desktop.ts';
import { type FromLab, toLab, type ToLab } from './messages.ts';
import { type LabServer, openLab } from './server.ts';

interface ParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

const parentPort: ParentPort = Reflect.get(process, 'parentPort');
const send = (message: FromLab): void => parentPort.postMessage(message);

const asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let requests = 0;

/** The desktop at the other end of the channel: every method becomes a message. */
const desktop = new Proxy({} as Desktop, {
  get:
    (_, method) =>
    (...values: unknown[]) =>
      new Promise((resolve, reject) => {
        requests += 1;
        asked.set(requests, { resolve, reject });
        send({ kind: 'desktop', id: requests, method: String(method), values });
      }),
});

let lab: LabServer | undefined;

async function receive(message: ToLab): Promise<void> {
  switch (message.kind) {
    case 'open':
      lab = openLab(message.dataFolder, {
        desktop,
        continues: message.continues,
        send: (name, payload) => send({ kind: 'event', name, payload }),
        onTraining: (runs) => send({ kind: 'training', runs }),
      });
      return send({ kind: 'ready' });
    case 'call':
      return send({ kind: 'answer', id: message.id, outcome: await lab?.answer(message.name, message.input) });
    case 'file': {
      const outcome = await lab?.openFile(message.file).then(
        () => ({ ok: true, value: {} }),
        (error: unknown) => ({ ok: false, error: asFailure(error) }),
      );
      return send({ kind: 'answer', id: message.id, outcome });
    }
    case 'desktop': {
      const request = asked.get(message.id);
      asked.delete(message.id);
      return message.problem === null ? request?.resolve(message.value) : request?.reject(new Error(message.problem));
    }
    case 'close':
      await lab?.close();
      process.exit(0);
  }
}

parentPort.on('message', ({ data }) => void receive(toLab.parse(data)));

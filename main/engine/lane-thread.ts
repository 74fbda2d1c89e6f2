// The program of a lane (lanes.ts): makes, runs and releases sessions as it is asked, one after the other.

import { parentPort } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import type { LaneAnswer, LaneRequest, PlainValue } from './lanes.ts';
import { nativeSession, nativeValue } from './session.ts';

const sessions = new Map<number, InferenceSession>();

function sessionOf(number: number): InferenceSession {
  const session = sessions.get(number);
  if (!session) throw new Error(`The lane has no session ${number}; it was released, or never made`);
  return session;
}

async function obey(request: LaneRequest): Promise<Omit<LaneAnswer, 'id'>> {
  switch (request.kind) {
    case 'create': {
      const session = await nativeSession(request.model, request.options);
      sessions.set(request.session, session);
      return { names: [...session.inputNames] };
    }
    case 'run': {
      const feeds = Object.fromEntries(Object.entries(request.feeds).map(([name, one]) => [name, nativeValue(one)]));
      const results = await sessionOf(request.session).run(feeds, [...request.wanted]);
      const plain: [string, PlainValue][] = Object.entries(results).map(([name, { type, data, dims }]) => {
        if (!ArrayBuffer.isView(data)) throw new TypeError(`The result "${name}" of type ${type} cannot leave its lane`);
        return [name, { type, data, dims }];
      });
      return { results: Object.fromEntries(plain) };
    }
    case 'release':
      await sessionOf(request.session).release();
      sessions.delete(request.session);
      return {};
  }
}

/** One request after the other: the runtime begins a run a moment after it was asked to, and what was asked next must not overtake it. */
let last = Promise.resolve();

parentPort?.on('message', (request: LaneRequest) => {
  last = last.then(async () => {
    try {
      const given = await obey(request);
      const buffers = Object.values(given.results ?? {}).flatMap(({ data }) => (data.buffer instanceof ArrayBuffer ? [data.buffer] : []));
      parentPort?.postMessage({ id: request.id, ...given }, [...new Set(buffers)]);
    } catch (error) {
      parentPort?.postMessage({ id: request.id, error: error instanceof Error ? error.message : String(error) });
    }
  });
});

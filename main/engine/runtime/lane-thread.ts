// The program of a lane (lanes.ts): makes, runs and releases sessions as it is asked, one after the other, and helps with WebAssembly programs (wasm-lanes.ts).

import { parentPort } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import type { LaneAnswer, LaneRequest, PlainValue, PlainValues } from './lanes.ts';
import { nativeRun, nativeSession, nativeValue } from './native-session.ts';
import type { Feeds, Fetches } from './native-session.ts';
import { adamWLoop } from '../kernels/vectors.ts';
import { type Kernel, instantiate } from '../kernels/load.ts';
import { assist } from '../kernels/wasm-assist.ts';

interface Held {
  readonly session: InferenceSession;
  bound: Feeds;
}

const sessions = new Map<number, Held>();
const programs = new Map<number, Kernel>();

function sessionOf(number: number): Held {
  const held = sessions.get(number);
  if (!held) throw new Error(`The lane has no session ${number}; it was released, or never made`);
  return held;
}

const nativeValues = (values: PlainValues): Feeds =>
  Object.fromEntries(Object.entries(values).map(([name, one]) => [name, nativeValue(one)]));

async function handle(request: LaneRequest): Promise<Omit<LaneAnswer, 'id'>> {
  switch (request.kind) {
    case 'create': {
      const session = await nativeSession(request.model, request.options);
      sessions.set(request.session, { session, bound: {} });
      return { names: [...session.inputNames] };
    }
    case 'run': {
      const { session, bound } = sessionOf(request.session);
      const { wanted, given } = request;
      const fetches: Fetches = { ...Object.fromEntries(wanted.map((name) => [name, null])), ...nativeValues(given) };
      const results = await nativeRun(session, { ...bound, ...nativeValues(request.feeds) }, fetches);
      const plain = Object.entries(results).flatMap(([name, { type, data, dims }]): [string, PlainValue][] => {
        if (given[name]) return [];
        if (!ArrayBuffer.isView(data)) throw new TypeError(`The result "${name}" of type ${type} cannot leave its lane`);
        return [[name, { type, data, dims }]];
      });
      return { results: Object.fromEntries(plain) };
    }
    case 'bind':
      sessionOf(request.session).bound = nativeValues(request.feeds);
      return {};
    case 'release':
      await sessionOf(request.session).session.release();
      sessions.delete(request.session);
      return {};
    case 'load':
      programs.set(request.program, instantiate(request.module, request.memory)(request.kernel));
      return {};
    case 'assist': {
      const run = programs.get(request.program);
      if (!run) throw new Error(`The lane has no program ${request.program}; it was unloaded, or never loaded`);
      assist(run, request.control);
      return {};
    }
    case 'adamW':
      adamWLoop(request.vectors, request.factors);
      return {};
    case 'unload':
      programs.delete(request.program);
      return {};
  }
}

/** One request after the other: the runtime begins a run a moment after it was asked to, and what was asked next must not overtake it. */
let last: Promise<void> = Promise.resolve();

async function answer(request: LaneRequest, before: Promise<void>): Promise<void> {
  await before;
  try {
    const given = await handle(request);
    const buffers = Object.values(given.results ?? {}).flatMap(({ data }) => (data.buffer instanceof ArrayBuffer ? [data.buffer] : []));
    parentPort?.postMessage({ id: request.id, ...given }, [...new Set(buffers)]);
  } catch (error) {
    parentPort?.postMessage({ id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
}

parentPort?.on('message', (request: LaneRequest) => {
  last = answer(request, last);
});

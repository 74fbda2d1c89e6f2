// `npm run bench -- train`: the flagship's loop against the same loop in plain PyTorch: the same model, weights, episodes and
// loss, update by update in turn, the idle side stopped. Ours plays the world as well; the peer gets recorded episodes, so the
// world costs it nothing. The losses of the first update are compared, so that the two surely do the same work.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Side, describePeer, findPython, startOurs, startPeer } from './peer-process.ts';
import { type BenchRow, median, report } from './report.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    /** Updates that count, after the warm-up. */
    updates: { type: 'string', default: '7' },
    /** The flagship's reference policy, from `references/` of a data folder. Without it one is cloned for a few steps. */
    reference: { type: 'string' },
    /** Steps of cloning: enough for episodes of a realistic length. */
    cloning: { type: 'string', default: '60' },
    /** `cpu` counts the seconds of the processor instead: on a machine that is busy with other work, with --threads 1. */
    clock: { type: 'string', default: 'wall' },
    threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  },
});
const THREADS = Number(options.threads);
const CLOCK = z.enum(['wall', 'cpu']).parse(options.clock);
const UNIT = CLOCK === 'cpu' ? 'CPU-s' : 's';
const WARM_UP = 2;
const GOAL = 2;
/** Single precision, in another order of summation. */
const TOLERANCE = 1e-3;

const seconds = z.object({ rollout: z.number(), scoring: z.number(), update: z.number(), total: z.number() });
type Seconds = z.infer<typeof seconds>;
const ready = z.looseObject({ episodes: z.number(), parameters: z.number() });
const ourUpdate = z.object({
  seconds,
  environment: z.number(),
  file: z.string(),
  loss: z.number(),
  agentTokens: z.number(),
  tokens: z.number(),
});
const theirUpdate = z.object({ seconds, loss: z.number(), play: z.string(), drift: z.number() });

async function duel(us: Side, them: Side | undefined, folder: string): Promise<BenchRow[]> {
  for (const side of [us, them]) await side?.ask(z.object({ threads: z.number() }), { command: 'hello', threads: THREADS, clock: CLOCK });
  const { reference, cloning } = options;
  process.stderr.write(reference === undefined ? 'cloning a policy to start from …\n' : `starting from ${reference} …\n`);
  const start = await us.ask(ready, { command: 'prepare', folder, reference, cloning: Number(cloning) });
  const theirs = await them?.ask(z.object({ parameters: z.number() }), { ...start, command: 'prepare' });
  if (theirs && theirs.parameters !== start.parameters) {
    throw new Error(`The two models differ: ${start.parameters} and ${theirs.parameters} parameters`);
  }

  let ways: readonly string[] = [];
  const times: { ours: Seconds[]; peer: Seconds[]; environment: number[] } = { ours: [], peer: [], environment: [] };
  for (let update = 1; update <= WARM_UP + Number(options.updates); update++) {
    const mine = await us.ask(ourUpdate, { command: 'update' });
    const other = await them?.ask(theirUpdate, { command: 'update', file: mine.file });
    if (update === 1 && other) compare(mine.loss, other);
    process.stderr.write(
      `update ${update}: ${mine.tokens} tokens, ${mine.agentTokens} by the agent; ours ${told(mine.seconds)}` +
        `${other ? `; PyTorch (${other.play}) ${told(other.seconds)}` : ''}${update <= WARM_UP ? ' (warm-up)' : ''}\n`,
    );
    if (update <= WARM_UP) continue;
    times.ours.push(mine.seconds);
    times.environment.push(mine.environment);
    if (other) times.peer.push(other.seconds);
    ways = other?.play.split(', ') ?? [];
  }

  const of = (phase: keyof Seconds, side: 'ours' | 'peer'): number => median(times[side].map((one) => one[phase]));
  const peerOf = (phase: keyof Seconds): number | null => (them ? of(phase, 'peer') : null);
  const total = peerOf('total');
  const phases = [
    ['rollout', 'rollout (ours with the world)'],
    ['scoring', 'scoring by the reference'],
    ['update', 'update: forward, backward, AdamW'],
  ] as const;
  return [
    {
      name: `training loop, ${(start.parameters / 1e6).toFixed(2)} M parameters, ${start.episodes} episodes an update`,
      ours: start.episodes / of('total', 'ours'),
      peer: total === null ? null : start.episodes / total,
      mode: ways.length > 0 ? 'its fastest ways' : undefined,
      unit: `episodes/${UNIT}`,
      better: 'higher',
      goal: GOAL,
    },
    ...phases.map(([phase, name], index): BenchRow => ({
      name,
      mode: ways[index],
      ours: of(phase, 'ours'),
      peer: peerOf(phase),
      unit: UNIT,
      better: 'lower',
      goal: null,
    })),
    { name: 'of ours: the world', ours: median(times.environment), peer: null, unit: UNIT, better: 'lower', goal: null },
  ];
}

const told = ({ rollout, scoring, update, total }: Seconds): string =>
  `${[rollout, scoring, update].map((part) => part.toFixed(2)).join(' + ')} = ${total.toFixed(2)} s`;

function compare(loss: number, { loss: other, drift }: z.infer<typeof theirUpdate>): void {
  if (Math.abs(loss - other) > TOLERANCE * Math.abs(other) || drift > TOLERANCE * 10) {
    throw new Error(`The two sides do not do the same: losses ${loss} and ${other}, the peer's log-probabilities differ by ${drift}`);
  }
}

const python = findPython();
const folder = mkdtempSync(join(tmpdir(), 'astrolab-bench-'));
const us = startOurs('train-ours.ts');
const them = python === undefined ? undefined : startPeer(python, 'train_peer.py', THREADS);
try {
  report(await duel(us, them, folder), describePeer(python, THREADS));
} finally {
  us.close();
  them?.close();
  rmSync(folder, { recursive: true, force: true });
}

// `npm run bench -- engine --growth`: how the step's time and the process's peak memory grow with parameters, context and batch, ours and PyTorch's
// side by side, with the exponents of a fit (time ~ size^exponent, by least squares of logarithms). Every point is measured in fresh processes, because
// a peak never falls. The peer is not compiled here: compiling takes longer than all steps of a point.

import { z } from 'zod';
import { modelLayout } from '../../main/policy/transformer/transformer.ts';
import type { ModelConfig } from '../../main/policy/transformer/transformer.ts';
import { SMALL, ofMillions } from './engine-sizes.ts';
import { type Python, type Side, startOurs, startPeer } from './peer-process.ts';
import { median } from './report.ts';

/** Steps of a point that count, after one that does not. */
const STEPS = 3;

interface Point {
  readonly size: number;
  readonly label: string;
  readonly config: ModelConfig;
  readonly batch: number;
}

interface Measured {
  readonly milliseconds: number;
  readonly megabytes: number;
}

const SWEEPS: readonly { readonly name: string; readonly points: readonly Point[] }[] = [
  {
    name: 'parameters (8 × 128 tokens)',
    points: [0.1, 0.5, 2, 10, 50].map((millions) => {
      const config = ofMillions(millions);
      const parameters = modelLayout(config).count;
      return { size: parameters, label: `${(parameters / 1e6).toFixed(2)} M`, config, batch: 8 };
    }),
  },
  {
    name: 'context (0.94 M parameters, one row)',
    points: [64, 256, 1024, 2048, 4096].map((length) => ({
      size: length,
      label: String(length),
      config: { ...SMALL, contextLength: length },
      batch: 1,
    })),
  },
  {
    name: 'batch (0.94 M parameters, 128 tokens)',
    points: [1, 4, 16, 64].map((batch) => ({ size: batch, label: String(batch), config: SMALL, batch })),
  },
];

/** The exponent of y ~ x^exponent that fits best. */
export function exponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (index: 0 | 1): number => logs.reduce((sum, log) => sum + log[index], 0) / logs.length;
  const [mx, my] = [mean(0), mean(1)];
  const above = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return above / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

async function measure(side: Side, { config, batch }: Point, threads: number): Promise<Measured> {
  try {
    await side.ask(z.unknown(), { command: 'hello', threads, mode: 'eager' });
    await side.ask(z.unknown(), { command: 'train', config, batch, length: config.contextLength });
    const timed = z.object({ seconds: z.array(z.number()) });
    await side.ask(timed, { command: 'step', count: 1 });
    const { seconds } = await side.ask(timed, { command: 'step', count: STEPS });
    const { peakBytes } = await side.ask(z.object({ peakBytes: z.number() }), { command: 'memory' });
    return { milliseconds: 1e3 * median(seconds), megabytes: peakBytes / 1e6 };
  } finally {
    side.close();
  }
}

export async function growth(python: Python | undefined, threads: number): Promise<string> {
  const lines: string[] = [];
  for (const { name, points } of SWEEPS) {
    lines.push(
      `\n${name}`,
      '| size | ours, ms | PyTorch, ms | ratio | ours, MB | PyTorch, MB | ratio |',
      '|---|---:|---:|---:|---:|---:|---:|',
    );
    const all: { size: number; ours: Measured; peer: Measured | undefined }[] = [];
    for (const point of points) {
      process.stderr.write(`${name}: ${point.label}\n`);
      const ours = await measure(startOurs('engine-ours.ts'), point, threads);
      const peer = python && (await measure(startPeer(python, 'engine_peer.py', threads), point, threads));
      all.push({ size: point.size, ours, peer });
      lines.push(row(point.label, ours, peer, (value) => value.toFixed(value < 10 ? 2 : 0)));
    }
    const fit = (side: 'ours' | 'peer'): Measured | undefined => {
      const known = all.flatMap((one) => (one[side] ? [{ size: one.size, ...one[side] }] : []));
      if (known.length === 0) return undefined;
      const of = (key: keyof Measured): number => exponent(known.map((one) => [one.size, one[key]]));
      return { milliseconds: of('milliseconds'), megabytes: of('megabytes') };
    };
    const mine = fit('ours');
    if (mine) lines.push(row('exponent', mine, fit('peer'), (value) => value.toFixed(2)));
  }
  return lines.join('\n');
}

function row(label: string, ours: Measured, peer: Measured | undefined, show: (value: number) => string): string {
  const pair = (key: keyof Measured): string[] => [
    show(ours[key]),
    peer ? show(peer[key]) : '–',
    peer ? (ours[key] / peer[key]).toFixed(2) : '–',
  ];
  return `| ${[label, ...pair('milliseconds'), ...pair('megabytes')].join(' | ')} |`;
}

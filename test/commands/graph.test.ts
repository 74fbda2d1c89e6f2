// `lab graph` and the curve of `lab chars`, as people use them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { plot } from '../../main/commands/shared/plot.ts';
import { ModelSchema } from '../../main/engine/graph/onnx-schema.ts';
import { lab } from './lab.ts';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'graph-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('lab graph writes a model whose inputs hold every parameter and whose outputs are the next state', { timeout: 120_000 }, async () => {
  const file = join(folder, 'step.onnx');
  const { code, out } = await lab('graph', '--out', file, '--preset', 'shop-tiny', '--rows', '2', '--length', '16', '--json');
  expect(code).toBe(0);
  const answer = z.object({ file: z.string(), nodes: z.number(), parameters: z.number() }).parse(JSON.parse(out));
  const { graph } = fromBinary(ModelSchema, readFileSync(file));
  const size = (name: string): number =>
    Number(graph?.input.find((input) => input.name === name)?.type?.tensorType?.shape?.dim[0]?.dimValue ?? 0);
  expect(answer.file).toBe(file);
  expect(size('values.decay') + size('values.plain')).toBe(answer.parameters);
  expect(graph?.node.length).toBeGreaterThanOrEqual(answer.nodes);
  expect(graph?.node.some(({ name }) => name.startsWith('layer.0/attention/'))).toBe(true);
  expect(graph?.output.map(({ name }) => name).toSorted()).toEqual([
    'next.first.decay',
    'next.first.plain',
    'next.second.decay',
    'next.second.plain',
    'next.values.decay',
    'next.values.plain',
    'report',
  ]);
});

test('a wrong call of lab graph ends with exit code 2', { timeout: 120_000 }, async () => {
  expect(await lab('graph', '--out', join(folder, 'x.onnx'), '--preset', 'no-such-preset')).toMatchObject({ code: 2 });
});

test('a curve starts at the top left and ends at the bottom right when it falls', () => {
  const lines = plot(
    Array.from({ length: 40 }, (_, i) => 4 - i / 10),
    { title: 'loss', unit: 'nats', width: 20, height: 5 },
  ).split('\n');
  expect(lines[0]).toBe('loss (nats)');
  expect(lines[1]).toMatch(/^ {4}4\.00 ┤⠉/);
  expect(lines[5]).toMatch(/^ {4}0\.10 ┤⠀/);
  expect(lines[5]?.endsWith('⠀')).toBe(false);
  expect(plot([2, 2], { title: 'flat', unit: 'x', height: 2 }).split('\n')).toHaveLength(4);
  expect(plot([], { title: 'empty', unit: 'x' })).toBe('empty: no values');
});

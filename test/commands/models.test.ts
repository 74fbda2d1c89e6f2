// `lab models`, `generate`, `score` and `play --model` as people script against them: one JSON document each, exit codes, refusals by name.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { goldenFolder, goldenJson } from '../policy/model/samples.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';
import { model } from '../training/model-host.ts';
import { lab } from './lab.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'models-'));
  mkdirSync(join(folder, 'tiny'));
  writeTinyModel(join(folder, 'tiny'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ask(...args: string[]): Promise<{ code: number; json: unknown }> {
  const { code, out } = await lab(...args, '--data', join(folder, 'data'), '--json');
  return { code, json: JSON.parse(out) };
}

it('adds, lists, scores, continues and acts with a model', { timeout: 120_000 }, async () => {
  expect(await ask('models', 'add', goldenFolder('tiny-llama'), '--name', 'golden')).toMatchObject({
    code: 0,
    json: { name: 'golden', architecture: 'llama', parameters: 161_728 },
  });
  expect((await ask('models', 'add', join(folder, 'tiny'))).code).toBe(0);
  expect(
    z
      .array(z.object({ name: z.string() }))
      .parse((await ask('models')).json)
      .map(({ name }) => name),
  ).toEqual(['golden', 'tiny']);

  const golden = z
    .object({
      tokens: z.array(z.array(z.int())),
      adapter: z.object({ logProbs: z.array(z.array(z.number())) }),
      greedy: z.object({ prompt: z.array(z.int()), continuation: z.array(z.int()) }),
    })
    .parse(goldenJson('tiny-llama', 'golden.json'));
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(golden.tokens));
  const adapter = join(goldenFolder('tiny-llama'), 'adapter');
  const scored = await ask('score', '--model', 'golden', '--adapter', adapter, '--tokens', join(folder, 'tokens.json'));
  const { logProbs } = z.object({ logProbs: z.array(z.array(z.number())) }).parse(scored.json);
  const apart = golden.adapter.logProbs.flatMap((row, r) => row.map((number, i) => Math.abs(number - (logProbs[r]?.[i] ?? Number.NaN))));
  expect(Math.max(...apart)).toBeLessThan(1e-4);

  writeFileSync(join(folder, 'prompt.json'), JSON.stringify([golden.greedy.prompt]));
  const continued = await ask('generate', '--model', 'golden', '--tokens', join(folder, 'prompt.json'), '--greedy', '--max-tokens', '24');
  expect(continued.json).toEqual({ tokens: [golden.greedy.continuation], text: [''] });
  const said = z.object({ tokens: z.array(z.array(z.int())), text: z.array(z.string()) });
  expect(said.parse((await ask('generate', '--model', 'tiny', '--prompt', 'hello', '--max-tokens', '5')).json).text).toHaveLength(1);

  const played = z.object({ steps: z.array(z.object({ action: z.string() })) }).parse((await ask('play', 'shop', '--model', 'tiny')).json);
  expect(played.steps.length).toBeGreaterThan(0);
});

it('refuses by name what cannot be used', { timeout: 60_000 }, async () => {
  writeFileSync(join(folder, 'pytorch_model.bin'), '');
  const refused = z.object({ error: z.object({ message: z.string() }) });
  const pickle = await ask('models', 'add', join(folder, 'pytorch_model.bin'));
  expect([pickle.code, refused.parse(pickle.json).error.message]).toEqual([2, expect.stringMatching(/pickles can run code/)]);
  const unknown = await ask('score', '--model', 'nobody', '--tokens', 'x');
  expect([unknown.code, refused.parse(unknown.json).error.message]).toEqual([2, expect.stringMatching(/There is no model "nobody"/)]);
});

it('exports the reference and what training made of it, and begins the next run with either', { timeout: 120_000 }, async () => {
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(model({}, {}, { checkpoints: { every: 1, keep: 1 }, evaluation: { every: 0, finalTasks: 2 } })));
  expect((await ask('models', 'add', join(folder, 'tiny'))).code).toBeLessThanOrEqual(2); // there already, when the first test has run
  expect((await ask('train', '--config', config)).code).toBe(0);
  const exported = async (update: number): Promise<Buffer> => {
    const out = join(folder, `adapter-${update}`);
    expect((await ask('models', 'export', '1', '--update', String(update), '--out', out)).code).toBe(0);
    return readFileSync(join(out, 'adapter_model.safetensors'));
  };
  expect((await exported(0)).equals(await exported(2))).toBe(false);
  const next = (adapter: string) => ask('train', '--config', config, '--dry-run', '--set', `policy.model.adapter=${adapter}`);
  expect((await next(join(folder, 'adapter-0'))).code).toBe(0);
  const missing = await next(join(folder, 'nowhere'));
  expect([missing.code, z.object({ error: z.object({ message: z.string() }) }).parse(missing.json).error.message]).toEqual([
    2,
    expect.stringMatching(/^policy\.model\.adapter: .*nowhere has no adapter_config\.json/),
  ]);
});

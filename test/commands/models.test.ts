// `lab models`, `generate`, `score` and `play --model` as people script against them: one JSON document each, exit codes, refusals by name.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { projectFolder } from '../../main/paths.ts';
import { goldenFolder, goldenJson } from '../policy/model/samples.ts';
import { writeTinyModel } from '../policy/model/tiny-model.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'models-'));
  mkdirSync(join(folder, 'tiny'));
  writeTinyModel(join(folder, 'tiny'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lab(...args: string[]): { code: number | null; json: unknown } {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(projectFolder(), 'main', 'cli.ts'), ...args, '--data', join(folder, 'data'), '--json'],
    {
      encoding: 'utf8',
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1' },
    },
  );
  return { code: status, json: JSON.parse(stdout) };
}

it('adds, lists, scores, continues and acts with a model', { timeout: 120_000 }, () => {
  expect(lab('models', 'add', goldenFolder('tiny-llama'), '--name', 'golden')).toMatchObject({
    code: 0,
    json: { name: 'golden', architecture: 'llama', parameters: 161_728 },
  });
  expect(lab('models', 'add', join(folder, 'tiny')).code).toBe(0);
  expect(
    z
      .array(z.object({ name: z.string() }))
      .parse(lab('models').json)
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
  const scored = lab('score', '--model', 'golden', '--adapter', adapter, '--tokens', join(folder, 'tokens.json'));
  const { logProbs } = z.object({ logProbs: z.array(z.array(z.number())) }).parse(scored.json);
  const apart = golden.adapter.logProbs.flatMap((row, r) => row.map((number, i) => Math.abs(number - (logProbs[r]?.[i] ?? Number.NaN))));
  expect(Math.max(...apart)).toBeLessThan(1e-4);

  writeFileSync(join(folder, 'prompt.json'), JSON.stringify([golden.greedy.prompt]));
  const continued = lab('generate', '--model', 'golden', '--tokens', join(folder, 'prompt.json'), '--greedy', '--max-tokens', '24');
  expect(continued.json).toEqual({ tokens: [golden.greedy.continuation], text: [''] });
  const said = z.object({ tokens: z.array(z.array(z.int())), text: z.array(z.string()) });
  expect(said.parse(lab('generate', '--model', 'tiny', '--prompt', 'hello', '--max-tokens', '5').json).text).toHaveLength(1);

  const played = z.object({ steps: z.array(z.object({ action: z.string() })) }).parse(lab('play', 'shop', '--model', 'tiny').json);
  expect(played.steps.length).toBeGreaterThan(0);
});

it('refuses by name what cannot be used', { timeout: 60_000 }, () => {
  writeFileSync(join(folder, 'pytorch_model.bin'), '');
  const refused = z.object({ error: z.object({ message: z.string() }) });
  const pickle = lab('models', 'add', join(folder, 'pytorch_model.bin'));
  expect([pickle.code, refused.parse(pickle.json).error.message]).toEqual([2, expect.stringMatching(/pickles can run code/)]);
  const unknown = lab('score', '--model', 'nobody', '--tokens', 'x');
  expect([unknown.code, refused.parse(unknown.json).error.message]).toEqual([2, expect.stringMatching(/There is no model "nobody"/)]);
});

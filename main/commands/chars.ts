// `lab chars`: the engine alone, in three minutes. A character-level Transformer learns the prose of this project's
// sources (resources/text/lab.txt) by next-character prediction, draws its loss curve in the terminal and writes a few lines.
// The last tenth of the text is held out: the second number is the loss on characters it was never trained on.

import { mean } from '../base/statistics.ts';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { neg } from '../engine/graph/operators.ts';
import { ADAMW, learningRateAt } from '../engine/runtime/optimizer.ts';
import { float, integer } from '../engine/runtime/session.ts';
import { type MicroBatch, Trainer, freshState } from '../engine/runtime/training-step.ts';
import { resourceFile } from '../base/paths.ts';
import { PackedBatch } from '../policy/transformer/batch.ts';
import { policyObjective } from '../policy/transformer/network.ts';
import { Sampler } from '../policy/sampling/sampler.ts';
import { type ModelConfig, modelLayout } from '../policy/transformer/transformer.ts';
import { Random } from '../base/random.ts';
import { CallError, answer, note } from './shared/output.ts';
import { plot } from './shared/plot.ts';

const ROWS = 24;
const LENGTH = 96;
const NEW_LINE = '\n';

export function register(program: Command): void {
  program
    .command('chars')
    .description('a demonstration of the engine: train a character-level model and show its loss curve')
    .option('--minutes <n>', 'how long to train', '3')
    .option('--seed <n>', 'first weights and order of the text', '1')
    .action(async (options: { minutes: string; seed: string }) => {
      const [minutes, seed] = [Number(options.minutes), Number(options.seed)];
      if (!(minutes > 0 && minutes <= 600)) throw new CallError(`--minutes takes a number up to 600, found "${options.minutes}"`);
      if (!Number.isInteger(seed)) throw new CallError(`--seed takes a whole number, found "${options.seed}"`);
      await demonstrate(minutes * 60, seed);
    });
}

async function demonstrate(seconds: number, seed: number): Promise<void> {
  const text = readFileSync(resourceFile('text', 'lab.txt'), 'utf8');
  const alphabet = [...new Set(text)].toSorted();
  const ids = Int32Array.from(text, (character) => alphabet.indexOf(character));
  const held = Math.floor(ids.length * 0.9);
  const config: ModelConfig = {
    vocabulary: alphabet.length,
    width: 128,
    layers: 4,
    heads: 4,
    feedForward: 384,
    gate: 'relu2',
    contextLength: 2 * LENGTH,
    valueHead: false,
    aids: { matchFlag: false, pointer: false, tokenShift: 1 },
  };
  const layout = modelLayout(config);
  const random = Random.from('chars', seed);
  const values = layout.initialise(() => random.normal());
  const trainer = new Trainer({ layout, state: freshState(layout, values), optimizer: { ...ADAMW, weightDecay: 0.1 } });
  note(
    `${layout.count.toLocaleString('en')} parameters, ${text.length.toLocaleString('en')} characters, ${availableParallelism()} threads`,
  );

  const losses: number[] = [];
  const begin = performance.now();
  const elapsed = (): number => (performance.now() - begin) / 1000;
  while (elapsed() < seconds) {
    // The end of the schedule is a time, not a step: the remaining time decides the learning rate.
    const progress = Math.floor((1000 * elapsed()) / seconds);
    const rate = learningRateAt({ learningRate: 2e-3, warmup: 20, flat: 0.3, decay: 'cosine', final: 0.05 }, progress, 1000);
    const { loss } = await trainer.step(
      [batch(config, ids, () => random.below(held - LENGTH - 1))],
      losses.length < 20 ? rate * ((losses.length + 1) / 20) : rate,
    );
    losses.push(loss);
    if (losses.length % 25 === 0)
      note(`step ${losses.length}, ${elapsed().toFixed(0)} s, loss ${mean(losses.slice(-25)).toFixed(3)} nats a character`);
  }

  let start = held;
  const unseen: number[] = [];
  while (start + ROWS * LENGTH + 1 < ids.length) {
    const first = start;
    let row = 0;
    unseen.push((await trainer.gradients([batch(config, ids, () => first + row++ * LENGTH)])).report.loss);
    start += ROWS * LENGTH;
  }
  await trainer.download();
  await trainer.dispose();
  const written = await write(config, values, alphabet, seed);
  const final = mean(losses.slice(-50));
  const result = {
    steps: losses.length,
    seconds: Math.round(elapsed()),
    firstLoss: losses[0] ?? Number.NaN,
    loss: final,
    heldOutLoss: mean(unseen),
    losses,
    written,
  };
  const summary = `${losses.length} steps in ${elapsed().toFixed(0)} s: loss ${final.toFixed(3)} nats a character, ${mean(unseen).toFixed(3)} on text it never saw (chance: ${Math.log(alphabet.length).toFixed(3)})`;
  answer(result, `${plot(losses, { title: 'loss by step', unit: 'nats' })}\n${summary}\n\nIt writes:\n${written}`);
}

/** Rows of consecutive characters; every position predicts the next one. */
function batch(config: ModelConfig, ids: Int32Array, start: () => number): MicroBatch {
  const shape = { rows: ROWS, time: LENGTH, agentTokens: LENGTH, masks: 0, episodes: 1 };
  const [tokens, targets] = [new Int32Array(ROWS * LENGTH), new Int32Array(ROWS * LENGTH)];
  for (let row = 0; row < ROWS; row++) {
    const from = start();
    tokens.set(ids.subarray(from, from + LENGTH), row * LENGTH);
    targets.set(ids.subarray(from + 1, from + 1 + LENGTH), row * LENGTH);
  }
  const square = [ROWS, LENGTH];
  return {
    key: 'chars',
    build: policyObjective(config, shape, {}, (_graph, policy) => ({ loss: neg(policy.tokenMean(policy.logProbs)) })),
    feeds: {
      tokens: integer(tokens, square),
      targets: integer(targets, square),
      positions: integer(
        Int32Array.from({ length: ROWS * LENGTH }, (_, i) => i % LENGTH),
        square,
      ),
      weights: float(new Float32Array(ROWS * LENGTH).fill(1), square),
      assign: float(new Float32Array(ROWS).fill(1), [1, ROWS]),
      ...PackedBatch.divisors(1, ROWS * LENGTH),
    },
  };
}

/** A few lines drawn from the model. */
async function write(
  config: ModelConfig,
  values: ReturnType<ReturnType<typeof modelLayout>['zeros']>,
  alphabet: readonly string[],
  seed: number,
): Promise<string> {
  const sampler = new Sampler(config, values, { capacity: 1 });
  let unread = [alphabet.indexOf(NEW_LINE)];
  let written = '';
  await sampler.run(
    [
      {
        random: Random.from('chars', seed, 'write'),
        get done() {
          return written.length >= config.contextLength - 8;
        },
        mask: undefined,
        take() {
          const tokens = unread;
          unread = [];
          return { tokens, flags: tokens.map(() => 0), newRow: written === '' };
        },
        accept({ token }) {
          unread = [token];
          written += alphabet[token] ?? '';
        },
      },
    ],
    { temperature: 0.7 },
  );
  await sampler.dispose();
  return written.trim();
}

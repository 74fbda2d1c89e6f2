// The complete description of a run. Every field has a meaning, a range, a unit and a default, and forms, documentation and
// validation are all generated from this one schema. A config is plain JSON; parsing fills every default in, so two runs
// with equal parsed configs (and the same device) give the same numbers.

import { z } from 'zod';
import { CurriculumSettings } from '../algorithm/curriculum.ts';
import { algorithms } from '../algorithm/registry.ts';
import { RewardKind, scheduled, VstarSettings } from '../algorithm/vstar.ts';
import { mistakesOf } from '../environment/demonstrations.ts';
import type { Plain } from '../environment/environment.ts';
import { DEFAULT_WORLD, WORLDS } from '../environment/registry.ts';
import { between, group, knob, whole } from '../knob.ts';
import { canonicalJson, contentHash } from '../canonical.ts';
import { retentions, splits } from '../vocabulary.ts';

const Plain: z.ZodType<Plain> = z.json();

const World = group(
  {
    name: knob(z.string().min(1).max(60), DEFAULT_WORLD, 'The world the agent acts in; `lab play` lists them.'),
    settings: knob(z.record(z.string(), Plain), {}, 'Settings of the world; what is left out takes the world’s own default.'),
  },
  'The world and its settings.',
);

const LanguageModel = group(
  {
    name: knob(z.string().max(60), '', 'Name of the model; `lab models` lists them.'),
    adapter: knob(z.string().max(4096), '', 'Folder of a PEFT adapter to start from, with the rank and targets below; empty is none.'),
    train: knob(
      z.enum(['adapter', 'all']),
      'adapter',
      'Train a LoRA adapter, or every weight (small models only: it takes four times their size).',
    ),
    rank: knob(whole(1, 1024), 16, 'Rank of the adapter.'),
    alpha: knob(between(0.01, 10_000), 32, 'The adapter’s product is scaled by alpha / rank.'),
    targets: knob(
      z.enum(['all', 'attention', 'qv']),
      'all',
      'Which matrices carry the adapter: all, those of attention, or queries and values.',
    ),
    system: knob(z.string().max(4000), '', 'What the model is told before the first page; empty is the text of the world.'),
    answers: knob(
      z.enum(['grammar', 'free']),
      'grammar',
      'Hold answers to what the world allows, or let the model say anything: what cannot be parsed is an invalid action.',
    ),
    answerTokens: knob(whole(4, 512), 32, 'Longest answer, without the thought; then it is cut.', 'tokens'),
  },
  'With kind model: the language model and what of it is trained.',
);

const Policy = group(
  {
    kind: knob(z.enum(['scratch', 'model']), 'scratch', 'A small Transformer made for the world, or a language model (policy.model).'),
    model: LanguageModel,
    width: knob(whole(8, 2048), 128, 'Size of the hidden state of each token. A multiple of twice the number of heads.', 'numbers'),
    layers: knob(whole(1, 24), 3, 'Transformer layers.', 'layers'),
    heads: knob(whole(1, 32), 4, 'Attention heads per layer.', 'heads'),
    feedForward: knob(whole(8, 8192), 256, 'Width of the inner layer of each feed-forward block.', 'numbers'),
    gate: knob(z.enum(['swiglu', 'relu', 'relu2', 'silu']), 'relu', 'Activation of the feed-forward block.'),
    contextLength: knob(whole(32, 4096), 256, 'Most tokens the policy sees at once; the task and the latest turns are kept.', 'tokens'),
    thoughts: knob(z.boolean(), false, 'Let the agent write a short thought before each action.'),
    thoughtTokens: knob(whole(1, 2048), 24, 'Longest thought; then it is closed. Longer demonstrated ones are cut.', 'tokens'),
    aids: group(
      {
        relabelIds: knob(
          z.boolean(),
          true,
          'Shuffle interchangeable names (ids) anew in every training episode, so that a name means only what the page says.',
        ),
        relabelWords: knob(
          z.boolean(),
          false,
          'Let words (each with its synonyms) trade places anew in every training episode, so that things are known by reading, not by heart.',
        ),
        relabelPrices: knob(
          z.boolean(),
          false,
          'With compareFlag: let prices on pages trade places as well, so that they do not give away which thing it is. Their marks stay true.',
        ),
        phrases: knob(
          z.boolean(),
          false,
          'Read and write a name of several words (running shoes) as one token, so that it takes no more room than any other.',
        ),
        matchFlag: knob(z.boolean(), true, 'Mark the words of a page that also occur in the task.'),
        compareFlag: knob(z.boolean(), true, 'Mark the prices of a page as above or below the price in the task.'),
        pointer: knob(z.boolean(), true, 'A head that copies words from the context in one step.'),
        tokenShift: knob(
          whole(0, 8),
          6,
          'How many of the tokens before it each token sees directly (a short window over names and prices); 0 is none.',
          'tokens',
        ),
      },
      'Aids to copying, each a switch so that its effect can be measured.',
    ),
  },
  'The policy: a small decoder-only Transformer that reads and writes text.',
);

const Reference = group(
  {
    seed: knob(
      whole(0, 4_294_967_295),
      1,
      'Decides the demonstrations, the first weights and the V* samples of the reference policy; runs that differ only in their own seed share one reference.',
    ),
    demonstrations: knob(whole(0, 1_000_000), 6000, 'Imperfect demonstrations that the reference policy is cloned from.', 'episodes'),
    imperfection: knob(
      z.record(z.string(), between(0, 1)),
      {},
      'How often the demonstrator makes each mistake that the world declares (listed below by world); what is left out takes the world’s default.',
    ),
    batch: knob(whole(1, 4096), 48, 'Demonstrations per cloning step.', 'episodes'),
    steps: knob(whole(0, 1_000_000), 1100, 'Most cloning steps.', 'steps'),
    learningRate: knob(between(0, 1), 2e-3, 'Peak learning rate of cloning.'),
    warmup: knob(whole(0, 100_000), 30, 'Cloning steps over which the learning rate rises from 0.', 'steps'),
    checkEvery: knob(whole(1, 100_000), 100, 'Cloning steps between two looks at validation success.', 'steps'),
    checkTasks: knob(whole(1, 10_000), 100, 'Validation tasks played at each look.', 'tasks'),
    targetSuccess: group(
      {
        low: knob(between(0, 1), 0.2, 'Below this validation success the reference is called too weak, and a warning says so.', 'share'),
        high: knob(between(0, 1), 0.5, 'Cloning stops early once validation success passes this: competent, but far from good.', 'share'),
      },
      'Validation success that the reference should have.',
    ),
  },
  'The frozen reference policy π_ref, cloned from imperfect demonstrations; made once and cached.',
);

const Training = group(
  {
    updates: knob(whole(1, 1_000_000), 150, 'Optimizer updates (each on fresh episodes).', 'updates'),
    batch: knob(whole(1, 65_536), 128, 'Episodes per update.', 'episodes'),
    microBatch: knob(
      whole(64, 10_000_000),
      16_384,
      'Most tokens that go through the model at once; a larger update is accumulated exactly.',
      'tokens',
    ),
    recompute: knob(
      z.boolean(),
      false,
      'Gradient checkpointing: the backward pass computes each layer again instead of keeping its activations. Less memory, more time.',
    ),
    reward: knob(RewardKind, 'binary', 'Reward r of an episode in stage 2: success as 0 or 1, or the return with all its partial rewards.'),
    tasks: knob(whole(1, 1_000_000), 600, 'Training tasks that are used (and that V* is computed for).', 'tasks'),
    taskSampling: group(
      {
        mode: knob(
          z.enum(['uniform', 'prioritised']),
          'prioritised',
          'Draw tasks evenly, or in proportion to floor + (1 − running success).',
        ),
        floor: knob(between(0.001, 10), 0.1, 'Weight that even a mastered task keeps (mode prioritised).'),
        memory: knob(between(0, 1), 0.7, 'Share of the old running success that is kept when a task is met again.', 'share'),
      },
      'Which tasks come up in an update.',
    ),
    learningRate: knob(between(0, 1), 1.5e-3, 'Peak learning rate.'),
    warmup: knob(whole(0, 100_000), 5, 'Updates over which the learning rate rises from 0.', 'updates'),
    schedule: group(
      {
        shape: knob(z.enum(['constant', 'linear', 'cosine']), 'linear', 'How the learning rate falls after it was held.'),
        hold: knob(between(0, 1), 1 / 3, 'Part of the run for which the peak learning rate is held.', 'share'),
        final: knob(between(0, 1), 0.1, 'Last learning rate as a part of the peak.', 'share'),
      },
      'Learning rate over the run.',
    ),
    adamBeta1: knob(between(0, 0.9999), 0.9, 'Adam: memory of the gradient.'),
    adamBeta2: knob(between(0, 0.99999), 0.98, 'Adam: memory of the squared gradient.'),
    weightDecay: knob(between(0, 1), 0, 'Decoupled weight decay of matrices.'),
    clip: knob(between(1e-6, 1e6), 1, 'Global norm the gradient is clipped to.'),
    temperature: knob(
      z.array(between(0.05, 10)).min(1).max(8),
      [1],
      'Sampling temperature of training episodes. Several values cut the run into as many equal parts (1.5, 1, 0.8).',
    ),
  },
  'Stage 2: the updates.',
);

const Evaluation = group(
  {
    every: knob(whole(0, 100_000), 25, 'Updates between two evaluations during training; 0 is only at the end.', 'updates'),
    tasks: knob(whole(1, 100_000), 200, 'Tasks of each evaluation during training.', 'tasks'),
    split: knob(z.enum(splits), 'validation', 'Which tasks are played during training. Keep the test split for the end.'),
    temperature: knob(between(0, 10), 0, 'Sampling temperature of evaluation; 0 takes the most probable token.'),
    finalTasks: knob(whole(0, 100_000), 500, 'Test tasks played once training is done; 0 is none.', 'tasks'),
  },
  'Evaluation on fixed tasks: validation during training, test at the end.',
);

const Checkpoints = group(
  {
    every: knob(whole(0, 100_000), 25, 'Updates between two checkpoints; 0 is only at the end.', 'updates'),
    keep: knob(whole(1, 10_000), 3, 'Newest checkpoints kept beside the best one.', 'checkpoints'),
  },
  'What a run can be resumed from.',
);

const Retention = group(
  {
    keep: knob(
      z.enum(retentions),
      'all',
      'Which episodes are stored for replay: all, those of every nth update, the best and worst of each update, or those of evaluations only.',
    ),
    every: knob(whole(1, 100_000), 10, 'With nth: episodes of every so many updates are kept.', 'updates'),
    ends: knob(whole(1, 1000), 4, 'With best-worst: how many of each end are kept per update.', 'episodes'),
    vstar: knob(z.boolean(), true, 'Also keep the reference samples that V* was computed from.'),
  },
  'Which episodes are stored for replay. Metrics, evaluation results and checkpoints are always kept.',
);

/** Never set by hand: which code a run was made with is noted when it is created. */
const Plugins = z
  .exactOptional(z.record(z.string(), z.string()))
  .meta({ description: 'Hash of the code of each plug-in that the run uses.' });

/** One member per algorithm: its id and its settings side by side. */
function algorithmSchema() {
  const [first, ...others] = algorithms.map((algorithm) =>
    z
      .strictObject({ id: z.literal(algorithm.id), ...algorithm.settings.shape })
      .meta({ title: algorithm.title, description: algorithm.source }),
  );
  if (!first) throw new Error('The registry of algorithms is empty');
  return z
    .discriminatedUnion('id', [first, ...others])
    .prefault({ id: 'astar-po' })
    .meta({ description: 'The algorithm and its settings.' });
}

const runSchema = (algorithm: ReturnType<typeof algorithmSchema>) =>
  z
    .strictObject({
      name: knob(z.string().min(1).max(120), 'run', 'Name of the run, for people.'),
      seed: knob(whole(0, 4_294_967_295), 1, 'Every random draw of the run follows from it.'),
      device: knob(z.string().min(1).max(40), 'cpu', 'Where the model runs; `lab doctor` lists what there is.'),
      memory: knob(
        whole(200, 10_000_000),
        4000,
        'Memory that the training process may take (language models are not bounded). Fewer sessions are kept and micro-batches get fewer rows where it would take more; an update stays the same but for rounding.',
        'MB',
      ),
      threads: knob(whole(0, 256), 0, 'Processor threads of the engine; 0 is one per logical processor.', 'threads'),
      world: World,
      policy: Policy,
      reference: Reference,
      algorithm,
      vstar: VstarSettings,
      training: Training,
      curriculum: CurriculumSettings,
      evaluation: Evaluation,
      checkpoints: Checkpoints,
      retention: Retention,
      plugins: Plugins,
    })
    .superRefine((config, context) => {
      const { width, heads } = config.policy;
      if (width % (2 * heads) !== 0) {
        context.addIssue({
          code: 'custom',
          path: ['policy', 'width'],
          message: `expected a multiple of ${2 * heads} (two times the ${heads} heads), found ${width}`,
        });
      }
      for (const name of unknownMistakes(config)) {
        context.addIssue({
          code: 'custom',
          path: ['reference', 'imperfection', name],
          message: `expected a mistake of the world ${config.world.name} (${Object.keys(worldOf(config)?.mistakes ?? {}).join(', ')}), found ${name}`,
        });
      }
      if (config.policy.kind === 'model') {
        const { algorithm } = config;
        if (config.policy.model.name === '')
          context.addIssue({
            code: 'custom',
            path: ['policy', 'model', 'name'],
            message: 'expected the name of a model; `lab models` lists them',
          });
        if ('klEstimator' in algorithm && 'klCoefficient' in algorithm && algorithm.klEstimator === 'full' && algorithm.klCoefficient !== 0)
          context.addIssue({
            code: 'custom',
            path: ['algorithm', 'klEstimator'],
            message: 'expected k3 for a language model, whose vocabulary is too large for the full KL',
          });
      }
      const { low, high } = config.reference.targetSuccess;
      if (low > high) {
        context.addIssue({
          code: 'custom',
          path: ['reference', 'targetSuccess', 'low'],
          message: `expected at most targetSuccess.high (${high}), found ${low}`,
        });
      }
    });

export let AlgorithmConfig = algorithmSchema();
export let RunConfig = runSchema(AlgorithmConfig);

/** Makes the schemas anew, because plug-ins have brought algorithms or taken them away. */
export function renewSchemas(): void {
  AlgorithmConfig = algorithmSchema();
  RunConfig = runSchema(AlgorithmConfig);
}

export type RunConfig = z.infer<typeof RunConfig>;

/** Undefined where this lab does not have the world. */
const worldOf = ({ world }: { readonly world: { readonly name: string } }) => WORLDS.find(({ name }) => name === world.name);

function unknownMistakes(config: RunConfig): string[] {
  const world = worldOf(config);
  return world ? Object.keys(config.reference.imperfection).filter((name) => !(name in world.mistakes)) : [];
}

/** Version 0.1.0 had one set of mistakes for all worlds; worlds that have other names now say what these were called. */
const Before = z.looseObject({
  world: z.looseObject({ name: z.string().default(DEFAULT_WORLD) }).prefault({}),
  reference: z.looseObject({ imperfection: z.record(z.string(), z.unknown()) }),
});

function migrated(input: unknown): unknown {
  const before = Before.safeParse(input);
  const world = before.success ? worldOf(before.data) : undefined;
  if (!before.success || !world || typeof input !== 'object') return input;
  const now = new Map(Object.entries(world.mistakes).map(([name, { formerly }]) => [formerly ?? name, name]));
  const { reference } = before.data;
  const imperfection = Object.fromEntries(
    Object.entries(reference.imperfection).map(([name, chance]) => [name in world.mistakes ? name : (now.get(name) ?? name), chance]),
  );
  return { ...input, reference: { ...reference, imperfection } };
}

/** Reads a config of any version and fills every default in, the world's too. */
export function checkConfig(input: unknown): z.ZodSafeParseResult<RunConfig> {
  const result = RunConfig.safeParse(migrated(input), { reportInput: true });
  const world = result.success ? worldOf(result.data) : undefined;
  if (!result.success || !world) return result;
  const { reference } = result.data;
  return {
    success: true,
    data: { ...result.data, reference: { ...reference, imperfection: { ...mistakesOf(world, reference.imperfection) } } },
  };
}

/** Fills every default in, or says for each wrong field what was expected and what was found. */
export function parseConfig(input: unknown): RunConfig {
  const result = checkConfig(input);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => describeIssue(issue)).join('\n'));
}

/** A stored config with the defaults of settings that were added since; as it is when it no longer fits the schema. */
export function completeConfig(stored: unknown): unknown {
  const result = RunConfig.safeParse(stored);
  return result.success ? result.data : stored;
}

/** What the seeds of one arm have in common: the complete config without name and seed, so that old and new runs agree. */
export function armHash(stored: unknown): string {
  const config = completeConfig(stored);
  if (typeof config !== 'object' || config === null) return contentHash(config);
  return contentHash(Object.fromEntries(Object.entries(config).filter(([key]) => key !== 'name' && key !== 'seed')));
}

export class ConfigError extends Error {
  override name = 'ConfigError';
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? 'config' : issue.path.join('.');
  const found =
    'input' in issue && issue.input !== undefined && typeof issue.input !== 'object' ? ` (found ${JSON.stringify(issue.input)})` : '';
  return `${where}: ${issue.message}${found}`;
}

/** Equal configs, equal text, whatever the order of their keys. */
export const canonicalConfig = (config: RunConfig): string => canonicalJson(config);

/** Short name of everything that decides a run's numbers: the config without its name. */
export function configHash(config: RunConfig): string {
  const { name: _name, policy, ...rest } = config;
  // A small Transformer is what every config meant before there were language models: its hash stays.
  const { kind, model: _model, ...scratch } = policy;
  return contentHash({ ...rest, policy: kind === 'scratch' ? scratch : policy }).slice(0, 16);
}

/** Learning rate of an update (0-based): warm-up, held for a part of the run, then the chosen fall. */
export function learningRateAt(training: RunConfig['training'], update: number): number {
  const { learningRate, warmup, schedule, updates } = training;
  const rise = warmup > 0 ? Math.min(1, (update + 1) / warmup) : 1;
  const held = schedule.hold * updates;
  const fallen = updates > held ? Math.max(0, Math.min(1, (update - held) / Math.max(1, updates - 1 - held))) : 0;
  const { shape, final } = schedule;
  if (shape === 'constant') return learningRate * rise;
  const left = shape === 'linear' ? 1 - fallen : (1 + Math.cos(Math.PI * fallen)) / 2;
  return learningRate * rise * (final + (1 - final) * left);
}

/** Sampling temperature of an update (0-based). */
export const temperatureAt = (training: RunConfig['training'], update: number): number =>
  scheduled(training.temperature, update, training.updates);

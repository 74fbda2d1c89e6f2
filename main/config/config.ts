// The complete description of a run. Every field has a meaning, a range, a unit and a default, and forms, documentation and
// validation are all generated from this one schema. A config is plain JSON; parsing fills every default in, so two runs
// with equal parsed configs (and the same device) give the same numbers.

import { z } from 'zod';
import { CurriculumSettings } from '../algorithm/curriculum.ts';
import type { Algorithms } from '../algorithm/registry.ts';
import { RewardKind, scheduled, VstarSettings } from '../algorithm/vstar.ts';
import { mistakesOf } from '../environment/demonstrations.ts';
import type { Plain } from '../environment/environment.ts';
import { DEFAULT_WORLD, type Worlds } from '../environment/registry.ts';
import { between, group, knob, whole } from '../base/knob.ts';
import type { Catalog } from './catalog.ts';
import { LanguageModel } from './language-model.ts';
import { retentions, splits } from '../base/vocabulary.ts';

const Plain: z.ZodType<Plain> = z.json();

const World = group(
  {
    name: knob(z.string().min(1).max(60), DEFAULT_WORLD, 'World that the agent acts in; `lab play` lists them.'),
    settings: knob(z.record(z.string(), Plain), {}, 'Settings of the world; missing ones take the world’s default.'),
  },
  'The world and its settings.',
);

const Policy = group(
  {
    kind: knob(z.enum(['scratch', 'model']), 'scratch', 'A small Transformer made for the world, or a language model (policy.model).'),
    model: LanguageModel,
    architecture: knob(
      z.enum(['transformer', 'lstm']),
      'transformer',
      'Layers of the small policy: attention over the context, or an LSTM that carries a memory from token to token (heads, feedForward and gate do not apply to it).',
    ),
    width: knob(whole(8, 2048), 128, 'Hidden size. A multiple of twice the number of heads.', 'numbers'),
    layers: knob(whole(1, 24), 3, 'Transformer or LSTM layers.', 'layers'),
    heads: knob(whole(1, 32), 4, 'Attention heads per layer.', 'heads'),
    feedForward: knob(whole(8, 8192), 256, 'Width of the inner layer of each feed-forward block.', 'numbers'),
    gate: knob(z.enum(['swiglu', 'relu', 'relu2', 'silu']), 'relu', 'Activation of the feed-forward block.'),
    contextLength: knob(whole(32, 4096), 256, 'Context length; when it is full, the task and the latest turns are kept.', 'tokens'),
    thoughts: knob(z.boolean(), false, 'Let the agent write a short chain of thought before each action.'),
    thoughtTokens: knob(whole(1, 2048), 24, 'Maximum length of a thought; longer ones are truncated.', 'tokens'),
    aids: group(
      {
        relabelIds: knob(
          z.boolean(),
          true,
          'Shuffle interchangeable names (ids) in every training episode, so that they carry no information beyond the page.',
        ),
        similarIds: knob(
          z.boolean(),
          false,
          'Language models: shuffle ids only among those that begin alike (415 with 421), because that is how they stand together on real pages; copying one among very different ids is easier than what comes up then.',
        ),
        relabelWords: knob(
          z.boolean(),
          false,
          'Permute words (each with its synonyms) in every training episode, so that the policy must read them instead of memorising them.',
        ),
        relabelPrices: knob(
          z.boolean(),
          false,
          'Also permute the prices on pages, so that they do not identify the item: with compareFlag all of them (the marks stay correct); with a language model those on the same side of the limit that the task names, and the sections.',
        ),
        phrases: knob(z.boolean(), false, 'Treat a name of several words (running shoes) as one token.'),
        matchFlag: knob(z.boolean(), true, 'Mark the words of a page that also occur in the task.'),
        compareFlag: knob(z.boolean(), true, 'Mark the prices of a page as above or below the price in the task.'),
        pointer: knob(z.boolean(), true, 'Pointer head that copies words from the context in one step.'),
        tokenShift: knob(
          whole(0, 8),
          6,
          'Number of preceding tokens that are mixed into each token’s input (a short window over names and prices); 0: none.',
          'tokens',
        ),
        letters: knob(
          whole(0, 32),
          0,
          'Words of at least this many letters are read and said by their letters: such a token is the sum of vectors for its letters at their places, not one vector for the word. 0: none.',
          'letters',
        ),
      },
      'Copying aids, each a switch so that its effect can be measured.',
    ),
  },
  'The policy: a small decoder-only Transformer, or a language model.',
);

const Reference = group(
  {
    seed: knob(
      whole(0, 4_294_967_295),
      1,
      'Seed of the demonstrations, the initial weights and the V* samples of the reference policy; runs that differ only in `seed` share one reference.',
    ),
    demonstrations: knob(
      whole(0, 1_000_000),
      6000,
      'Number of imperfect demonstrations that the reference policy is cloned from.',
      'episodes',
    ),
    from: knob(
      z
        .string()
        .max(4096)
        .regex(/^$|^\d+@\d+$|\.safetensors$/, 'expected RUN@UPDATE (such as 3@40), or a .safetensors file'),
      '',
      'A stored policy that is the reference instead of a cloned one: RUN@UPDATE for a checkpoint of an earlier run, or the .safetensors file of one. It must read and write as this run’s policy does. Empty: it is cloned.',
    ),
    imperfection: knob(
      z.record(z.string(), between(0, 1)),
      {},
      'Probability of each mistake that the demonstrator makes (the world declares them, see below); missing ones take the world’s default.',
    ),
    skipMistakes: knob(
      z.boolean(),
      false,
      'Have the demonstrator’s mistakes played but not imitated: what is cloned is how to continue from where they lead. For worlds whose demonstrators say which actions are mistakes; the games do.',
    ),
    group: knob(
      whole(1, 64),
      1,
      'Demonstrations of each task in a row, under the same names; they differ in their mistakes. Language models compute once what they share (the pages), so imperfect demonstrations cost less.',
      'episodes',
    ),
    tiers: knob(
      z
        .string()
        .max(400)
        .regex(/^$|^[\w-]+:\d{1,2}(, ?[\w-]+:\d{1,2})*$/, 'expected tiers with whole numbers up to 99, such as constrained:3, plain:0'),
      '',
      'How many times a task of a tier is demonstrated in each round of all tasks, such as constrained:3; tiers that are not named once, 0: never. For demonstrations of what is hard to learn.',
    ),
    batch: knob(whole(1, 4096), 48, 'Demonstrations per cloning step.', 'episodes'),
    steps: knob(whole(0, 1_000_000), 1100, 'Maximum number of cloning steps.', 'steps'),
    learningRate: knob(between(0, 1), 2e-3, 'Peak learning rate of cloning.'),
    warmup: knob(whole(0, 100_000), 30, 'Warm-up: cloning steps over which the learning rate rises from 0.', 'steps'),
    hold: knob(between(0, 1), 0.5, 'Fraction of cloning at the peak learning rate; then it falls to a tenth, linearly.', 'share'),
    checkEvery: knob(whole(1, 100_000), 100, 'Cloning steps between two validations.', 'steps'),
    checkTasks: knob(whole(1, 10_000), 100, 'Tasks per validation.', 'tasks'),
    targetSuccess: group(
      {
        low: knob(between(0, 1), 0.2, 'A warning is given when validation success stays below this.', 'share'),
        high: knob(between(0, 1), 0.5, 'Cloning stops once validation success exceeds this, so that there is room to improve.', 'share'),
      },
      'Target range of the reference’s validation success.',
    ),
  },
  'The frozen reference policy π_ref, cloned from imperfect demonstrations; trained once and cached.',
);

const Training = group(
  {
    updates: knob(whole(1, 1_000_000), 150, 'Optimizer updates (each on fresh episodes).', 'updates'),
    batch: knob(whole(1, 65_536), 128, 'Episodes per update.', 'episodes'),
    microBatch: knob(
      whole(64, 10_000_000),
      16_384,
      'Maximum number of tokens per micro-batch; gradients of a larger update are accumulated exactly.',
      'tokens',
    ),
    recompute: knob(
      z.boolean(),
      false,
      'Gradient checkpointing: the backward pass recomputes each layer instead of keeping its activations. Less memory, more time.',
    ),
    reward: knob(RewardKind, 'binary', 'Reward r of an episode in stage 2: success (0 or 1), or the return including partial rewards.'),
    tasks: knob(whole(1, 1_000_000), 600, 'Number of training tasks used (V* is computed for each).', 'tasks'),
    taskSampling: group(
      {
        mode: knob(
          z.enum(['uniform', 'prioritised', 'mixed']),
          'prioritised',
          'Sample tasks uniformly; in proportion to floor + (1 − p) of the running success p; or (mixed) to floor + 4 p (1 − p), which prefers tasks that sometimes succeed and sometimes fail, p of new tasks being that of their V* samples.',
        ),
        floor: knob(between(0.001, 10), 0.1, 'Minimum weight of a mastered task (modes prioritised and mixed).'),
        memory: knob(
          between(0, 1),
          0.7,
          'Decay of the running success rate: the share of the old value that is kept at each update.',
          'share',
        ),
      },
      'How the tasks of an update are sampled.',
    ),
    learningRate: knob(between(0, 1), 1.5e-3, 'Peak learning rate.'),
    warmup: knob(whole(0, 100_000), 5, 'Warm-up: updates over which the learning rate rises from 0.', 'updates'),
    schedule: group(
      {
        shape: knob(z.enum(['constant', 'linear', 'cosine']), 'linear', 'Shape of the decay after the hold.'),
        hold: knob(between(0, 1), 1 / 3, 'Fraction of the run at the peak learning rate.', 'share'),
        final: knob(between(0, 1), 0.1, 'Final learning rate as a fraction of the peak.', 'share'),
      },
      'Learning rate schedule.',
    ),
    adamBeta1: knob(between(0, 0.9999), 0.9, 'Adam β₁: decay of the mean gradient.'),
    adamBeta2: knob(between(0, 0.99999), 0.98, 'Adam β₂: decay of the mean squared gradient.'),
    weightDecay: knob(between(0, 1), 0, 'Decoupled weight decay (matrices only).'),
    clip: knob(between(1e-6, 1e6), 1, 'Maximum global norm of the gradient.'),
    temperature: knob(
      z.array(between(0.05, 10)).min(1).max(8),
      [1],
      'Sampling temperature of training episodes. Several values are a schedule: the run is divided into as many equal parts (1.5, 1, 0.8).',
    ),
    minP: knob(
      between(0, 1),
      0,
      'Min-p sampling of training episodes: tokens with less than this share of the likeliest one’s probability are never drawn; 0: all may be. Of a language model’s thousands of tokens each is improbable, but together they come up, and one such word ruins an episode. On the CPU only.',
      'share',
    ),
  },
  'Stage 2: the updates.',
);

const Evaluation = group(
  {
    every: knob(whole(0, 100_000), 25, 'Updates between two validations during training; 0: only at the end.', 'updates'),
    tasks: knob(whole(1, 100_000), 200, 'Tasks per validation.', 'tasks'),
    split: knob(z.enum(splits), 'validation', 'Split used during training. Keep the test split for the end.'),
    temperature: knob(between(0, 10), 0, 'Sampling temperature of evaluations; 0: greedy.'),
    finalTasks: knob(whole(0, 100_000), 500, 'Tasks of the test at the end of training; 0: none.', 'tasks'),
    beam: group(
      {
        width: knob(
          whole(1, 64),
          1,
          'Beam width: with more than 1, each answer is the most probable one that so many hypotheses lead to, and the temperature does not apply. Small policies on the CPU only.',
          'hypotheses',
        ),
        prune: knob(
          between(0, 1000),
          0,
          'Pruning: hypotheses whose log-probability is lower than the best one’s by more than this are dropped; 0: none.',
          'nats',
        ),
      },
      'Beam search over each answer.',
    ),
  },
  'Evaluation on fixed tasks: validation during training, test at the end.',
);

const Checkpoints = group(
  {
    every: knob(whole(0, 100_000), 25, 'Updates between two checkpoints; 0: only at the end.', 'updates'),
    keep: knob(whole(1, 10_000), 3, 'Number of latest checkpoints kept in addition to the best one.', 'checkpoints'),
  },
  'Checkpoints, from which a run can be resumed.',
);

const Retention = group(
  {
    keep: knob(
      z.enum(retentions),
      'all',
      'Which episodes are stored for replay: all, those of every nth update, the best and worst of each update, or those of evaluations only.',
    ),
    every: knob(whole(1, 100_000), 10, 'With nth: the interval n.', 'updates'),
    ends: knob(whole(1, 1000), 4, 'With best-worst: number of best and of worst episodes kept per update.', 'episodes'),
    vstar: knob(z.boolean(), true, 'Also keep the reference samples that V* was computed from.'),
  },
  'Which episodes are stored for replay. Metrics, evaluation results and checkpoints are always kept.',
);

/** Set by the lab when a run is created: the code that it uses. */
const Plugins = z
  .exactOptional(z.record(z.string(), z.string()))
  .meta({ description: 'Hash of the code of each plug-in that the run uses.' });

/** Never set by hand: `lab train --from RUN@UPDATE` and the window's Branch write it. */
export const BranchPoint = z.strictObject({
  run: z.uuid().meta({ description: 'uid of the run whose checkpoint this one starts from; the same in every database.' }),
  update: z.int().min(0).max(1_000_000).meta({ description: 'Update of that checkpoint.' }),
});
export type BranchPoint = z.infer<typeof BranchPoint>;

const Branch = z
  .exactOptional(BranchPoint)
  .meta({ description: 'The checkpoint of another run that this one starts from, instead of from the reference.' });

/** One member per algorithm: its id and its settings side by side. */
function algorithmSchema({ algorithms }: Algorithms) {
  const [first, ...others] = algorithms.map((algorithm) =>
    z
      .strictObject({ id: z.literal(algorithm.id), ...algorithm.settings.shape })
      .meta({ title: algorithm.title, description: algorithm.source }),
  );
  if (!first) throw new Error('The catalog has no algorithms');
  return z
    .discriminatedUnion('id', [first, ...others])
    .prefault({ id: 'astar-po' })
    .meta({ description: 'The algorithm and its settings.' });
}

const runSchema = (catalog: Catalog, algorithm: ReturnType<typeof algorithmSchema>) =>
  z
    .strictObject({
      name: knob(z.string().min(1).max(120), 'run', 'Name of the run.'),
      seed: knob(whole(0, 4_294_967_295), 1, 'Random seed of the run.'),
      device: knob(z.string().min(1).max(40), 'cpu', 'Device that the model runs on; `lab doctor` lists them.'),
      memory: knob(
        whole(200, 10_000_000),
        1000,
        'Memory limit of the training process (on the CPU; not applied to language models). To stay below it, fewer sessions are kept, which changes no number; a micro-batch that alone would take 45% of it gets fewer rows, which changes the rounding.',
        'MB',
      ),
      deviceMemory: knob(
        whole(0, 10_000_000),
        0,
        'Memory of the graphics card that the run may take; 0: what the system says the card has. Micro-batches and the episodes played at once follow from it.',
        'MB',
      ),
      threads: knob(whole(0, 256), 0, 'CPU threads of the engine; 0: one per logical processor.', 'threads'),
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
      branch: Branch,
    })
    .superRefine((config, context) => {
      const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: path.split('.'), message });
      const { architecture, width, heads, kind, model } = config.policy;
      if (architecture === 'transformer' && width % (2 * heads) !== 0)
        refuse('policy.width', `expected a multiple of ${2 * heads} (two times the ${heads} heads), found ${width}`);
      const mistakes = Object.keys(worldOf(catalog, config)?.mistakes ?? {}).join(', ');
      for (const name of unknownMistakes(catalog, config))
        refuse(`reference.imperfection.${name}`, `expected a mistake of the world ${config.world.name} (${mistakes}), found ${name}`);
      if (kind === 'model') {
        const { algorithm } = config;
        if (model.name === '') refuse('policy.model.name', 'expected the name of a model; `lab models` lists them');
        if (model.invalidPenalty > 0 && config.training.reward !== 'shaped')
          refuse(
            'policy.model.invalidPenalty',
            'expected 0 with training.reward=binary, where only success counts; set training.reward=shaped',
          );
        if ('klEstimator' in algorithm && 'klCoefficient' in algorithm && algorithm.klEstimator === 'full' && algorithm.klCoefficient !== 0)
          refuse('algorithm.klEstimator', 'expected k3 for a language model, whose vocabulary is too large for the full KL');
      }
      if (config.policy.aids.similarIds && config.policy.kind !== 'model')
        refuse('policy.aids.similarIds', 'expected false: an id is one token for a small policy, so none begin alike');
      if (config.algorithm.id === 'oapl' && config.device !== 'cpu')
        refuse('device', 'expected cpu: a reference that follows the policy is kept in memory');
      if (config.training.minP > 0 && config.device !== 'cpu')
        refuse('training.minP', 'expected 0: min-p sampling is for the CPU (device cpu)');
      if (config.evaluation.beam.width > 1 && (kind === 'model' || config.device !== 'cpu'))
        refuse('evaluation.beam.width', 'expected 1: beam search is for small policies on the CPU (policy.kind scratch, device cpu)');
      const { credit, group } = { credit: 'episode', group: 2, ...config.algorithm };
      if (credit !== 'episode' && credit !== 'branch' && group < 2)
        refuse(
          'algorithm.group',
          `expected 2 or more with algorithm.credit=${credit}, which compares the episodes of a task; found ${group}`,
        );
      const { low, high } = config.reference.targetSuccess;
      if (low > high) refuse('reference.targetSuccess.low', `expected at most targetSuccess.high (${high}), found ${low}`);
    });

interface Schemas {
  readonly algorithm: ReturnType<typeof algorithmSchema>;
  readonly run: ReturnType<typeof runSchema>;
}

/** Made once for a catalog. */
const schemas = new WeakMap<Catalog, Schemas>();

/** What a run of this catalog's worlds and algorithms is described by. */
export function configSchemas(catalog: Catalog): Schemas {
  let made = schemas.get(catalog);
  if (!made) {
    const algorithm = algorithmSchema(catalog);
    schemas.set(catalog, (made = { algorithm, run: runSchema(catalog, algorithm) }));
  }
  return made;
}

export type RunConfig = z.infer<ReturnType<typeof runSchema>>;

/** Undefined where this lab does not have the world. */
const worldOf = ({ worlds }: Worlds, { world }: { readonly world: { readonly name: string } }) =>
  worlds.find(({ name }) => name === world.name);

function unknownMistakes(catalog: Catalog, config: RunConfig): string[] {
  const world = worldOf(catalog, config);
  return world ? Object.keys(config.reference.imperfection).filter((name) => !(name in world.mistakes)) : [];
}

/** Fills every default in, the world's too. */
export function checkConfig(catalog: Catalog, input: unknown): z.ZodSafeParseResult<RunConfig> {
  const result = configSchemas(catalog).run.safeParse(input, { reportInput: true });
  const world = result.success ? worldOf(catalog, result.data) : undefined;
  if (!result.success || !world) return result;
  const { reference } = result.data;
  return {
    success: true,
    data: { ...result.data, reference: { ...reference, imperfection: { ...mistakesOf(world, reference.imperfection) } } },
  };
}

/** Fills every default in, or says for each wrong field what was expected and what was found. */
export function parseConfig(catalog: Catalog, input: unknown): RunConfig {
  const result = checkConfig(catalog, input);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => describeIssue(issue)).join('\n'));
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

// Every number the lab shows, with its formula, unit and which way is good. The recorder keeps a name that is not here, but
// warns of it, so nothing is plotted without explaining itself unnoticed; a test holds the lab's algorithms to it. KL metrics say which estimator they are. Names that start with
// `system/` are measurements of the machine: they alone may differ between two runs of one config.

import type { Catalog } from '../config/catalog.ts';
import { allFailures } from '../environment/registry.ts';
import type { Direction } from '../base/vocabulary.ts';

export interface Metric {
  readonly id: string;
  readonly name: string;
  /** What it is, how it is computed. */
  readonly formula: string;
  /** '' where it has none. */
  readonly unit: string;
  /** Which way is good. */
  readonly direction: Direction;
  readonly group: 'rollout' | 'learning' | 'advantage' | 'vstar' | 'evaluation' | 'reference' | 'time' | 'run';
}

type Row = readonly [id: string, name: string, formula: string, unit: string, direction: Direction];

const rows: Record<Metric['group'], readonly Row[]> = {
  rollout: [
    [
      'rollout.success',
      'Training success',
      'Successful episodes of the update ÷ episodes of the update (sampled, on training tasks)',
      'share',
      'up',
    ],
    ['rollout.return', 'Training return', 'Mean over the update’s episodes of the sum of rewards', 'reward', 'up'],
    ['rollout.return.std', 'Spread of returns', 'Sample standard deviation of the returns of the update’s episodes', 'reward', 'neither'],
    ['rollout.steps', 'Steps per episode', 'Mean number of turns of an episode', 'steps', 'down'],
    ['rollout.tokens', 'Response length', 'Mean number of the agent’s tokens in an episode', 'tokens', 'neither'],
    ['rollout.valid', 'Valid actions', 'Actions that the world accepted ÷ all actions', 'share', 'up'],
    ['rollout.effective', 'Effective actions', 'Actions after which the observation changed ÷ all actions', 'share', 'up'],
    [
      'rollout.entropy',
      'Sampling entropy',
      'Mean over the agent’s tokens of the entropy of the distribution they were drawn from (masked, at the sampling temperature, before min-p)',
      'nats',
      'neither',
    ],
    ['rollout.repeated', 'Repeated actions', 'Actions said before in the same episode ÷ all actions', 'share', 'down'],
    [
      'rollout.groupSpread',
      'Reward spread in groups',
      'Mean over the update’s tasks of the standard deviation of their returns: of the episodes of one group, or, where a task is played once an update, of its last four; a fall to 0 is a sign of the echo trap',
      'reward',
      'neither',
    ],
    [
      'rollout.passAtK',
      'pass@k in groups',
      'Mean over the update’s tasks of 1 − C(n − c, k)/C(n, k) with c successes among n episodes and k the size of the smallest group; where a task is played once an update, over its last four episodes (k = 4)',
      'share',
      'up',
    ],
    ['rollout.temperature', 'Temperature', 'Sampling temperature of the update’s episodes', '', 'neither'],
    [
      'rollout.samplingGap',
      'Sampling gap',
      'With int8 or int4 weights: mean |log π of the sampler − log π of the trainer| per token; the trainer’s is used',
      'nats',
      'down',
    ],
    [
      'branch.episodes',
      'Continuations',
      'Episodes played on from states of the update’s episodes, for credit by branches',
      'episodes',
      'neither',
    ],
    ['branch.steps', 'Steps of continuations', 'Environment steps of these continuations', 'steps', 'neither'],
    ['branch.tokens', 'Tokens of continuations', 'Agent tokens of these continuations', 'tokens', 'neither'],
    ['rollout.level', 'Curriculum level', 'Level of the world the update’s tasks came from; 0 is the easiest', 'level', 'up'],
  ],
  learning: [
    ['loss', 'Loss', 'What the optimizer minimises, all terms together; its formula is the variant’s', '', 'neither'],
    ['loss.policy', 'Policy loss', 'The variant’s main term without KL, entropy and value parts', '', 'neither'],
    ['loss.value', 'Value loss', '½ · mean over tokens of max((V − R)², (V clipped − R)²)', 'reward²', 'down'],
    ['entropy', 'Policy entropy', 'Mean over the agent’s tokens of the entropy of π (masked, temperature 1)', 'nats', 'neither'],
    [
      'logratio',
      'Log-ratio to the reference',
      'Mean over episodes of log π(y|x) − log π_ref(y|x), summed over tokens: the k1 estimate of the sequence KL(π‖π_ref)',
      'nats',
      'neither',
    ],
    [
      'kl.full',
      'KL to the reference (full)',
      'Mean over tokens of Σ_v π(v)·(log π(v) − log π_ref(v)) over the whole masked vocabulary',
      'nats',
      'down',
    ],
    [
      'kl.k3',
      'KL to the reference (k3)',
      'Mean over sampled tokens of e^d − d − 1 with d = log π_ref − log π: the k3 estimator of KL(π‖π_ref)',
      'nats',
      'down',
    ],
    ['kl.old', 'KL from the acting policy (k1)', 'Mean over tokens of log π_old − log π: the k1 estimator of KL(π_old‖π)', 'nats', 'down'],
    ['ratio.mean', 'Mean ratio', 'Mean over tokens of π/π_old', '', 'neither'],
    ['ratio.clipped', 'Clipped tokens', 'Tokens whose ratio π/π_old lies outside [1 − low, 1 + high] ÷ all tokens', 'share', 'down'],
    [
      'gradient.norm',
      'Gradient norm',
      'Global L2 norm of the gradient before clipping; a sudden rise is a sign of collapse',
      '',
      'neither',
    ],
    [
      'gradient.clipped',
      'Gradient clipped',
      '1 when the gradient norm was above the limit and was scaled down, else 0',
      'share',
      'neither',
    ],
    ['learningRate', 'Learning rate', 'Step size of the update after warm-up and schedule', '', 'neither'],
    ['update.episodes', 'Episodes in the update', 'Episodes that took part in the update, filters applied', 'episodes', 'neither'],
    ['update.tokens', 'Tokens in the update', 'Agent tokens that took part in the update', 'tokens', 'neither'],
  ],
  advantage: [
    [
      'advantage.mean',
      'Mean advantage',
      'Mean of the advantages the loss used, before normalisation where the variant normalises',
      'reward',
      'neither',
    ],
    ['advantage.std', 'Spread of advantages', 'Sample standard deviation of the same advantages', 'reward', 'neither'],
    ['advantage.positive', 'Positive advantages', 'Advantages above 0 ÷ all advantages', 'share', 'neither'],
    ['advantage.limit', 'Adaptive clip', 'Bound the advantages were clipped to in this update', 'reward', 'neither'],
    ['advantage', 'Advantages', 'Distribution of the advantages of the update', 'reward', 'neither'],
    ['weight', 'Imitation weights', 'Distribution of the weights w = clamp(a + 1, low, high)', '', 'neither'],
    ['weight.mean', 'Mean weight', 'Mean of the imitation weights', '', 'neither'],
    ['weight.min', 'Smallest weight', 'Least imitation weight of the update; always above 0', '', 'neither'],
    ['weight.max', 'Largest weight', 'Largest imitation weight of the update', '', 'neither'],
    [
      'group.spread',
      'Reward spread in GRPO groups',
      'Mean over the groups of the update of the standard deviation of the rewards they are compared by',
      'reward',
      'neither',
    ],
    ['group.flat', 'Groups without spread', 'Groups whose rewards are all equal ÷ all groups: they teach nothing', 'share', 'down'],
    ['group.kept', 'Groups kept', 'Groups that passed the variance filter ÷ all groups', 'share', 'neither'],
    ['value.mean', 'Mean value', 'Mean over tokens of the critic’s value', 'reward', 'neither'],
    [
      'value.explained',
      'Explained variance',
      '1 − Var(R − V)/Var(R) over tokens: 1 is a perfect critic, 0 one that knows only the mean',
      '',
      'up',
    ],
  ],
  vstar: [
    ['vstar', 'V* of the tasks', 'Distribution of V* over the training tasks', 'reward', 'neither'],
    ['vstar.mean', 'Mean V*', 'Mean of V* over all tasks that have one', 'reward', 'neither'],
    [
      'vstar.group',
      'V of the groups',
      'Mean over the update’s tasks of β·ln mean exp(r/β) over the group just drawn (OAPL)',
      'reward',
      'neither',
    ],
    ['vstar.unsolved', 'Unsolved tasks', 'Tasks that no reference sample solved (k = 0) ÷ tasks with a V*', 'share', 'down'],
    ['vstar.samples', 'Reference samples', 'Samples per task that V* of a new task is estimated from now', 'episodes', 'neither'],
    [
      'vstar.episodes',
      'Reference episodes so far',
      'Reference episodes that the V* of all tasks met so far was estimated from, sampled now or found in the cache',
      'episodes',
      'neither',
    ],
    [
      'system/vstar.cached',
      'V* from the cache',
      'Tasks whose V* was found in the cache ÷ tasks it was needed for, since the process started',
      'share',
      'up',
    ],
  ],
  evaluation: [
    [
      'evaluation.success',
      'Validation success',
      'Successful episodes ÷ episodes on fixed validation tasks, no learning; shown with the Wilson 95% interval',
      'share',
      'up',
    ],
    ['evaluation.return', 'Validation return', 'Mean return on the validation tasks', 'reward', 'up'],
    ['evaluation.steps', 'Validation steps', 'Mean number of turns on the validation tasks', 'steps', 'down'],
  ],
  reference: [
    ['reference.loss', 'Cloning loss', 'Mean over the demonstrations’ agent tokens of −log π_ref', 'nats', 'down'],
    [
      'reference.success',
      'Reference success',
      'Success of the reference on validation tasks, sampled at temperature 1',
      'share',
      'neither',
    ],
  ],
  time: [
    ['system/time.branch', 'Time: continuations', 'Seconds spent on playing on from the states of the update’s episodes', 's', 'down'],
    ['system/time.rollout', 'Time: rollouts', 'Seconds spent on playing the update’s episodes, the world’s steps included', 's', 'down'],
    ['system/time.environment', 'Time: world', 'Seconds spent in the world’s steps', 's', 'down'],
    ['system/time.scoring', 'Time: scoring', 'Seconds spent on log-probabilities of the reference and values of the critic', 's', 'down'],
    ['system/time.update', 'Time: update', 'Seconds spent on gradients and the optimizer', 's', 'down'],
    [
      'system/time.storage',
      'Time: storage',
      'Seconds the training process spent on handing over the update’s record and on writing its checkpoint',
      's',
      'down',
    ],
    ['system/time.evaluation', 'Time: evaluation', 'Seconds spent on evaluation', 's', 'down'],
    ['system/time.vstar', 'Time: V*', 'Seconds spent on sampling the reference for V*', 's', 'down'],
    ['system/time.total', 'Time of the update', 'Seconds from the start of the update to its end', 's', 'down'],
    ['system/device.calls', 'Calls of the device', 'Calls of the graphics card during the update, evaluation included', 'calls', 'down'],
    [
      'system/device.kernels',
      'Kernels of the device',
      'Nodes that compute something in the graphs that were called during the update, as they are written; the runtime does not say how many programs it launched',
      'kernels',
      'down',
    ],
    ['system/device.up', 'Sent to the device', 'Bytes sent to the graphics card during the update', 'MB', 'down'],
    ['system/device.down', 'Fetched from the device', 'Bytes brought back from the graphics card during the update', 'MB', 'down'],
    [
      'system/device.waiting',
      'Waiting for the device',
      'Seconds of the update spent inside calls of the graphics card; for the rest of the update’s time the card waits',
      's',
      'neither',
    ],
    [
      'system/device.perToken',
      'Exchanged per token',
      'Bytes that travelled to and from the graphics card while episodes were played ÷ tokens drawn',
      'bytes',
      'down',
    ],
    [
      'system/device.learning',
      'Exchanged for learning',
      'Bytes that travelled to and from the graphics card for scoring and optimizer steps, in percent of the size of the weights',
      '%',
      'down',
    ],
    ['system/speed.episodes', 'Episodes per second', 'Episodes of the update ÷ its seconds, evaluation left out', 'episodes/s', 'up'],
    ['system/speed.tokens', 'Tokens per second', 'Agent tokens of the update ÷ its seconds, evaluation left out', 'tokens/s', 'up'],
  ],
  run: [
    ['episodes', 'Episodes so far', 'Training episodes since the start of the run', 'episodes', 'neither'],
    ['tokens', 'Tokens so far', 'Agent tokens of training episodes since the start of the run', 'tokens', 'neither'],
    [
      'optimizerSteps',
      'Optimizer steps so far',
      'Steps of the optimizer since the start of the run: epochs × minibatches per update; 0 for an update without episodes',
      'steps',
      'neither',
    ],
    ['system/time.elapsed', 'Time so far', 'Seconds of training since the start of the run, pauses left out', 's', 'neither'],
    ['system/cpu', 'Processor', 'Processor time of the training process ÷ (elapsed time · processors)', 'share', 'neither'],
    ['system/memory.free', 'Free memory', 'Memory of the machine that nothing uses', 'MB', 'up'],
    [
      'system/memory',
      'Memory',
      'Memory of the training process; the weights of a language model count once, however many sessions map them',
      'MB',
      'down',
    ],
  ],
};

/** The failure classes of the worlds. */
const failureRows = (catalog: Catalog): Row[] =>
  allFailures(catalog).map(({ id, title, counted }) => [`evaluation.failure.${id}`, title, `${counted} ÷ all episodes`, 'share', 'down']);

const groups = Object.keys(rows) as Metric['group'][];

/** Made once for a catalog. */
const glossaries = new WeakMap<Catalog, ReadonlyMap<string, Metric>>();

/** Every metric by its id: those of the lab, with the failure classes of the catalog's worlds, and those of plug-ins. */
export function glossaryOf(catalog: Catalog): ReadonlyMap<string, Metric> {
  let made = glossaries.get(catalog);
  if (!made) {
    const builtIn = groups.flatMap((group) =>
      [...rows[group], ...(group === 'evaluation' ? failureRows(catalog) : [])].map(([id, name, formula, unit, direction]): Metric => ({
        id,
        name,
        formula,
        unit,
        direction,
        group,
      })),
    );
    const added = catalog.metrics.map((metric): Metric => ({ ...metric, group: 'learning' }));
    glossaries.set(catalog, (made = new Map([...builtIn, ...added].map((metric) => [metric.id, metric]))));
  }
  return made;
}

/** Names that a plug-in cannot give to a metric. */
export const builtInMetrics = (): readonly string[] => Object.values(rows).flatMap((group) => group.map(([id]) => id));

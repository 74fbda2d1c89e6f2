// The closed lists of words that name parts of a record: one source for schemas, SQL readers, forms and the window's contract.
// Imports nothing, so that the page may use it too.

/** Which tasks: for learning, for choosing settings during training, for the final judgement. */
export const splits = ['train', 'validation', 'test'] as const;
export type Split = (typeof splits)[number];

/** What an episode was played for. */
export const purposes = ['train', 'vstar', 'evaluation'] as const;
export type Purpose = (typeof purposes)[number];

/** During training (validation), at its end (test), or on request. */
export const evaluationKinds = ['periodic', 'final', 'manual'] as const;

/** Where a run is in its life. */
export const runStates = ['queued', 'running', 'paused', 'stopping', 'stopped', 'done', 'failed', 'interrupted'] as const;
export type RunState = (typeof runStates)[number];

/** What a training process writes into a run's log; the queue adds `state`, which outlives a return to a checkpoint. */
export const reportedEventKinds = ['log', 'alert', 'level', 'reference', 'system'] as const;
export const eventKinds = [...reportedEventKinds, 'state'] as const;
export type EventKind = (typeof eventKinds)[number];

export const severities = ['info', 'warning', 'error'] as const;
export type Severity = (typeof severities)[number];

/** Which training episodes are kept: all, those of every nth update, the best and worst, none but evaluations. */
export const retentions = ['all', 'nth', 'best-worst', 'evaluation'] as const;
export type Retention = (typeof retentions)[number];

/** The stages of a run, in order: cloning the reference, V* of its tasks, updates with validation, the evaluation on test tasks. */
export const stages = ['reference', 'vstar', 'training', 'test'] as const;
export type Stage = (typeof stages)[number];

/** What a list of episodes can be sorted by. */
export const episodeOrders = ['time', 'return', 'advantage', 'surprise', 'steps'] as const;
export type EpisodeOrder = (typeof episodeOrders)[number];

/** How a claim of a study came out. */
export const verdicts = ['supported', 'refuted', 'inconclusive', 'equivalent'] as const;
export type Verdict = (typeof verdicts)[number];

/** What kind of value a setting takes; forms draw one field per kind. */
export const knobKinds = ['whole number', 'number', 'switch', 'text', 'choice', 'list of numbers', 'settings'] as const;
export type KnobKind = (typeof knobKinds)[number];

/** Which way a metric gets better. */
export const directions = ['up', 'down', 'neither'] as const;
export type Direction = (typeof directions)[number];

/** Who acts in an interactive game. */
export const players = ['you', 'oracle', 'model'] as const;

/** What a report can be written as. */
export const reportFormats = ['html', 'pdf', 'markdown', 'latex', 'csv', 'slides', 'svg', 'png', 'audit'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** What takes a run's memory, each part at its largest. */
export const memoryParts = {
  /** The model, mapped from its file: shared with every other process that uses it. */
  weights: 'Weights',
  /** The adapter (or all weights) of the policy and of the reference. */
  trained: 'Trained parameters',
  /** Adam's two moments and the gradient. */
  optimizer: 'Optimizer',
  /** Keys and values of the episodes being played. */
  cache: 'Keys and values',
  /** What one call of the model works on: the largest micro-batch of training, and reading pages. */
  activations: 'Activations',
  /** The process without any of it: runtime, world, tokenizer. */
  process: 'Process',
} as const;
export type MemoryPart = keyof typeof memoryParts;

/** What the x axis of a chart of one run counts, and of a comparison of runs. */
export const chartAxes = ['update', 'episodes', 'time'] as const;
export type ChartAxis = (typeof chartAxes)[number];
export const curveAxes = ['update', 'episodes', 'steps', 'tokens', 'time'] as const;
export type CurveAxis = (typeof curveAxes)[number];

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** At most this many runs train at the same time. */
export const MOST_CONCURRENT = 16;

// The settings of a language model as a policy: which one, what of it is trained, how it reads and answers.

import { z } from 'zod';
import { between, group, knob, whole } from '../base/knob.ts';
import { PRECISIONS } from '../policy/model/files/quantise.ts';

export const LanguageModel = group(
  {
    name: knob(z.string().max(60), '', 'Name of the model; `lab models` lists them.'),
    adapter: knob(z.string().max(4096), '', 'Folder of a PEFT adapter to start from, with the rank and targets below; empty: none.'),
    train: knob(
      z.enum(['adapter', 'all']),
      'adapter',
      'Train a LoRA adapter, or every weight (small models only: it takes four times their size).',
    ),
    precision: knob(
      z.enum(PRECISIONS),
      'f32',
      'How the weights are kept: f32 as they are, f16 half the memory (slower on a CPU), int8 and int4 a quarter and an eighth (rounded; for adapters only).',
    ),
    rank: knob(whole(1, 1024), 16, 'Rank of the adapter.'),
    alpha: knob(between(0.01, 10_000), 32, 'The adapter’s product is scaled by alpha / rank.'),
    targets: knob(
      z.enum(['all', 'attention', 'qv']),
      'all',
      'Which matrices carry the adapter: all, those of attention, or queries and values.',
    ),
    system: knob(z.string().max(4000), '', 'System message of the chat; empty: the text of the world.'),
    lowerCase: knob(
      z.boolean(),
      false,
      'Show pages in lower case, as small policies read them: a word of the task and the same word on a page are then the same tokens.',
    ),
    emptyThought: knob(
      z.boolean(),
      true,
      'Without thoughts: begin each answer with the empty thought that some templates have for that (Qwen3, MiniMind2). Off: fewer tokens, for models that are cloned first.',
    ),
    answers: knob(
      z.enum(['grammar', 'free']),
      'grammar',
      'Constrain answers to the world’s grammar, or sample freely: an answer that cannot be parsed is an invalid action.',
    ),
    invalidPenalty: knob(
      between(0, 10),
      0,
      'Taken off the reward for every answer that cannot be parsed (an invalid action). Counts where algorithms learn from the whole return: training.reward=shaped.',
      'reward per answer',
    ),
    answerTokens: knob(whole(4, 512), 32, 'Maximum length of an answer, without the thought; longer ones are truncated.', 'tokens'),
  },
  'The language model and which of its weights are trained (with kind model).',
);

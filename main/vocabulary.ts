// The closed lists of words that name parts of a record: one source for schemas, SQL readers, forms and the window's contract.
// Imports nothing, so that the page may use it too.

/** Which tasks: for learning, for choosing settings during training, for the final judgement. */
export const splits = ['train', 'validation', 'test'] as const;
export type Split = (typeof splits)[number];

/** What an episode was played for. */
export const purposes = ['train', 'vstar', 'evaluation'] as const;
export type Purpose = (typeof purposes)[number];

/** During training (validation), at its end (test), or asked for by hand. */
export const evaluationKinds = ['periodic', 'final', 'manual'] as const;

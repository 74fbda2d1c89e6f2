// A reference that is not cloned but was trained before: the weights of a run's checkpoint, or of a file. Its tokens must mean the same, so
// the vocabulary is compared and not only the shapes.

import { existsSync } from 'node:fs';
import { canonicalJson } from '../../base/canonical.ts';
import { readCheckpoint } from '../../engine/runtime/checkpoint.ts';
import type { Flat } from '../../engine/graph/parameters.ts';
import type { TrainingHost } from '../host.ts';
import type { RunSetup } from '../run-setup.ts';
import { loadWeights } from '../weights.ts';

/** The weights that `reference.from` names. */
export function storedPolicy(setup: RunSetup, references: Pick<TrainingHost['references'], 'checkpoint'>): Flat {
  const { from } = setup.config.reference;
  const [run, update] = from.split('@').map(Number);
  const path = /^\d+@\d+$/.test(from) ? references.checkpoint(run ?? 0, update ?? 0) : from;
  if (!existsSync(path)) throw new Error(`The reference policy ${from} is not there (${path}): set reference.from to a checkpoint that is`);
  const advice = 'Take world.settings and policy.* from the run that made it';
  const { tokenizer } = readCheckpoint(path).notes;
  if (tokenizer !== undefined && canonicalJson(JSON.parse(tokenizer)) !== canonicalJson(setup.codec.tokenizer.json))
    throw new Error(`The reference policy ${from} reads and writes other words than this run. ${advice}`);
  try {
    return loadWeights(path, setup.referenceLayout);
  } catch (error) {
    throw new Error(
      `The reference policy ${from} does not fit this run: ${error instanceof Error ? error.message : String(error)}. ${advice}`,
      {
        cause: error,
      },
    );
  }
}

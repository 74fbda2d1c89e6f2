// A reference policy that is being cloned: weights, optimizer state and how far it is. Cloning that was stopped leaves it beside the
// finished references under its recipe, and the next run with that recipe continues it with the same result.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointError } from '../../engine/runtime/checkpoint.ts';
import { type TrainingState, freshState } from '../../engine/runtime/training-step.ts';
import { referenceKey } from '../../config/identity.ts';
import { folderInside } from '../../base/paths.ts';
import { Random } from '../../base/random.ts';
import { UNFINISHED } from '../host.ts';
import type { RunSetup } from '../run-setup.ts';
import { loadOptimizer, saveOptimizer } from '../weights.ts';

export interface CloneState {
  readonly state: TrainingState;
  /** Whether the success after the latest step was measured, where that is due. */
  checked: boolean;
}

export function freshClone({ config, referenceLayout: layout, start }: RunSetup): CloneState {
  const normal = Random.from('reference-weights', config.reference.seed);
  const state = freshState(
    layout,
    layout.initialise(() => normal.normal()),
  );
  start?.(state.values);
  return { state, checked: true };
}

/** Where a recipe's unfinished clone lies. */
export class UnfinishedClone {
  readonly #setup: RunSetup;
  readonly #dataFolder: string;
  readonly #file: string;

  constructor(dataFolder: string, setup: RunSetup, recipe: string) {
    this.#setup = setup;
    this.#dataFolder = dataFolder;
    this.#file = join(dataFolder, 'references', recipe + UNFINISHED);
  }

  /** What an earlier run left, or a fresh start. A damaged file costs only the time it would have saved. */
  open(): CloneState {
    if (!existsSync(this.#file)) return freshClone(this.#setup);
    try {
      const { state, notes } = loadOptimizer(this.#file, this.#setup.referenceLayout);
      return { state, checked: notes.checked === 'true' };
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      return freshClone(this.#setup);
    }
  }

  save({ state, checked }: CloneState): void {
    folderInside(this.#dataFolder, 'references');
    const { catalog, config, referenceLayout } = this.#setup;
    saveOptimizer(this.#file, referenceLayout, state, { checked: String(checked), key: referenceKey(catalog, config) });
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

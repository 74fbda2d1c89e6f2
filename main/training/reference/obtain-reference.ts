// The reference policy of a run: found where an earlier run with the same recipe has left it, or taken from a checkpoint or cloned now,
// and kept.

import type { Flat } from '../../engine/graph/parameters.ts';
import type { SessionOptions } from '../../engine/runtime/session.ts';
import { UnfinishedClone } from './clone-state.ts';
import type { CommandHandler } from '../commands.ts';
import type { TrainingHost } from '../host.ts';
import { checkPagesFit } from '../batching/page-length.ts';
import { PHASES, type ProgressReporter } from '../progress.ts';
import { cloneReference, keepReference, referenceRecipe } from './reference.ts';
import { reportReference } from '../reporter.ts';
import type { RunSetup } from '../run-setup.ts';
import { storedPolicy } from './stored-policy.ts';
import { loadWeights } from '../weights.ts';

export interface Reference {
  readonly weights: Flat;
  readonly sha256: string;
}

/** Cloned where `session` says. With `commands` a request is obeyed between the batches of cloning; what is cloned by then is kept. */
export async function obtainReference(
  setup: RunSetup,
  threads: number,
  host: Pick<TrainingHost, 'dataFolder' | 'references' | 'report'>,
  progress: ProgressReporter,
  commands?: CommandHandler,
  session: SessionOptions = {},
): Promise<Reference> {
  const recipe = referenceRecipe(setup);
  const found = host.references.find(recipe);
  if (found) return { weights: loadWeights(host.references.path(found), setup.referenceLayout), sha256: found.sha256 };
  if (setup.config.reference.from !== '') {
    const weights = storedPolicy(setup, host.references);
    const policy = keepReference(host.dataFolder, setup, weights, null);
    await host.report({ type: 'reference', policy });
    return { weights, sha256: policy.sha256 };
  }
  checkPagesFit(setup);
  const unfinished = new UnfinishedClone(host.dataFolder, setup, recipe);
  const clone = unfinished.open();
  const keep = async (): Promise<void> => {
    await clone.refresh?.();
    unfinished.save(clone);
  };
  await progress.report(0, `${PHASES.reference}, preparing demonstrations`, clone.state.step, setup.config.reference.steps);
  let last = '';
  const work = () =>
    cloneReference(setup, threads, {
      clone,
      session,
      poll: commands?.poll,
      report: async ({ step, steps, loss, success: measured }) => {
        if (measured !== undefined) last = `, ${(100 * measured).toFixed(0)}% success at step ${step}`;
        if (Number.isFinite(loss)) await progress.report(0, `${PHASES.reference} (loss ${loss.toFixed(3)}${last})`, step, steps);
      },
    });
  const { weights, success } = await (commands ? commands.during(0, keep, work) : work());
  const policy = keepReference(host.dataFolder, setup, weights, success);
  await reportReference(host, policy, success, setup.config.reference);
  unfinished.remove();
  return { weights, sha256: policy.sha256 };
}

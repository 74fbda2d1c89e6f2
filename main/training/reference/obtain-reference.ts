// The reference policy of a run: found where an earlier run with the same recipe has left it, or taken from a checkpoint or cloned now,
// and kept.

import type { Flat } from '../../engine/graph/parameters.ts';
import type { SessionOptions } from '../../engine/runtime/session.ts';
import { isAbort, neverAborted } from '../abort.ts';
import { UnfinishedClone } from './clone-state.ts';
import type { TrainingHost } from '../host.ts';
import { checkPagesFit } from '../batching/page-length.ts';
import { PHASES, type ProgressReporter } from '../progress.ts';
import { type CloningProgress, cloneReference, keepReference, referenceRecipe } from './reference.ts';
import { reportReference } from '../reporter.ts';
import type { RunSetup } from '../run-setup.ts';
import { storedPolicy } from './stored-policy.ts';
import { loadWeights } from '../weights.ts';

export interface Reference {
  readonly weights: Flat;
  readonly sha256: string;
}

interface Cloning {
  readonly threads: number;
  /** Where it is cloned. */
  readonly session?: SessionOptions;
  /** Aborted, cloning ends between two batches; what is cloned by then is kept for the next run that asks for it. */
  readonly signal?: AbortSignal;
}

export async function obtainReference(
  setup: RunSetup,
  { threads, session = {}, signal = neverAborted() }: Cloning,
  host: Pick<TrainingHost, 'dataFolder' | 'references' | 'report'>,
  progress: ProgressReporter,
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
  await progress.report(0, `${PHASES.reference}, preparing demonstrations`, clone.state.step, setup.config.reference.steps);
  let last = '';
  const report = async ({ step, steps, loss, success: measured }: CloningProgress): Promise<void> => {
    if (measured !== undefined) last = `, ${(100 * measured).toFixed(0)}% success at step ${step}`;
    if (Number.isFinite(loss)) await progress.report(0, `${PHASES.reference} (loss ${loss.toFixed(3)}${last})`, step, steps);
  };
  const { weights, success } = await cloneReference(setup, threads, { clone, session, signal, report }).catch((error: unknown) => {
    if (isAbort(error, signal)) unfinished.save(clone);
    throw error;
  });
  const policy = keepReference(host.dataFolder, setup, weights, success);
  await reportReference(host, policy, success, setup.config.reference);
  unfinished.remove();
  return { weights, sha256: policy.sha256 };
}

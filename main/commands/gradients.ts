// `lab gradients`: how noisy the gradient of a run is at one of its checkpoints, over batches of fresh episodes, and after how many
// episodes its validation success first reached a share (50% unless --reach says otherwise).

import type { Command } from 'commander';
import { percent } from '../base/format.ts';
import { originOf } from '../queue/branch.ts';
import { CheckpointFiles } from '../store/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { measureGradients } from '../training/gradient-noise.ts';
import { answer, CallError, note } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

interface Options {
  readonly checkpoint?: string;
  readonly batches: string;
  readonly reach: string;
}

export function register(program: Command): void {
  program
    .command('gradients <run>')
    .description('the noise of a run’s gradient at a checkpoint, and the episodes it took to reach a validation success')
    .option('--checkpoint <update>', 'the update of a checkpoint, or `best` (default: the newest)')
    .option('--batches <n>', 'batches of fresh episodes that are played', '8')
    .option('--reach <share>', 'validation success that counts as reached', '0.5')
    .action((reference: string, options: Options) => withStore((store) => measure(store, findRun(store, reference), options)));
}

async function measure(store: Store, id: number, { checkpoint, batches, reach }: Options): Promise<void> {
  const run = store.runs.get(id);
  const count = Number(batches);
  const share = Number(reach);
  if (!Number.isInteger(count) || count < 2) throw new CallError(`--batches takes a whole number from 2 up, found "${batches}"`);
  if (!(share > 0 && share <= 1)) throw new CallError(`--reach takes a share above 0 and up to 1, found "${reach}"`);
  const wanted =
    checkpoint === 'best' ? run.best?.update : checkpoint === undefined ? store.checkpoints.newestSound(id)?.update : Number(checkpoint);
  if (wanted === undefined || !Number.isInteger(wanted))
    throw new CallError(`Run ${id} has no such checkpoint`, `\`lab show ${id}\` lists them`);
  const { checkpoint: saved } = originOf(store, { run: run.uid, update: wanted });
  note(`Playing ${count} batches with the weights of update ${wanted}`);
  const noise = await measureGradients(
    run.config,
    {
      catalog: store.catalog,
      dataFolder: store.dataFolder,
      files: new CheckpointFiles(store.dataFolder, run.uid),
      references: store.references,
      vstar: store.vstar,
      report: async () => {},
      resumeFrom: store.checkpoints.path(saved),
      until: null,
    },
    count,
  );
  const reached = episodesTo(store, id, share);
  const lines = [
    `Run ${id} at update ${noise.update}: ${noise.batches} batches of ${noise.episodes} episodes, ${percent(noise.success)} successful`,
    `|mean gradient| ${noise.meanNorm.toPrecision(3)}, mean |gradient| ${noise.norm.toPrecision(3)}, ${noise.silent} batches without a gradient`,
    noise.ratio === null
      ? 'Noise ÷ signal²: no signal found in this many batches'
      : `Noise ÷ signal²: ${noise.ratio.toPrecision(3)} (batches that one step would need)`,
    noise.cosine === null ? '' : `Mean cosine between batches: ${noise.cosine.toFixed(3)}`,
    reached === null
      ? `Validation success never reached ${percent(share)}`
      : `${percent(share)} validation success after ${reached} episodes`,
  ];
  answer({ run: id, ...noise, reach: share, episodesToReach: reached }, lines.filter((line) => line !== '').join('\n'));
}

/** Training episodes until validation success first reached a share; null when it never did. */
function episodesTo(store: Store, run: number, share: number): number | null {
  const first = store.evaluations
    .list(run)
    .filter(({ kind, success: { k, n } }) => kind === 'periodic' && k / n >= share)
    .toSorted((a, b) => a.update - b.update)[0];
  if (!first) return null;
  const { updates, values } = store.metrics.series(run, 'episodes');
  return first.update === 0 ? 0 : (values[[...updates].indexOf(first.update)] ?? null);
}

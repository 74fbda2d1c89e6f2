// `lab show`: one run: its state, where it came from and what was branched from it, its checkpoints, and how it differs from its preset.

import type { Command } from 'commander';
import { changesFromPreset, type PresetChange } from '../config/presets.ts';
import { duration, percent } from '../base/format.ts';
import type { Run, RunSummary } from '../store/runs.ts';
import { answer } from './shared/output.ts';
import { findRun, withStore } from './shared/store.ts';

export function register(program: Command): void {
  program
    .command('show <run>')
    .description('one run: its state, its lineage, its checkpoints, what differs from its preset')
    .action((reference: string) =>
      withStore((store) => {
        const run = store.runs.get(findRun(store, reference));
        const branches = store.runs.branches(run.uid);
        const checkpoints = store.checkpoints.list(run.id).map(({ update, bytes, kept }) => ({ update, bytes, kept }));
        const changes = changesFromPreset(store.catalog, run.preset, run.config) ?? [];
        const { id, uid, name, state, reason, updates, planned, seconds, preset, seed, origin, best } = run;
        answer(
          {
            run: id,
            uid,
            name,
            state,
            reason,
            updates,
            planned,
            seconds,
            preset,
            seed,
            branchedFrom: origin,
            branches: branches.map((child) => ({ run: child.id, update: child.origin?.update ?? 0, name: child.name })),
            checkpoints,
            best,
            changes,
          },
          lines(run, branches, checkpoints, changes).join('\n'),
        );
      }),
    );
}

function lines(
  run: Run,
  branches: readonly RunSummary[],
  checkpoints: readonly { update: number; kept: boolean }[],
  changes: readonly PresetChange[],
): string[] {
  const { id, name, state, reason, updates, planned, seconds, variant, world, seed, origin, best, test } = run;
  return [
    `Run ${id} “${name}”: ${variant} in ${world}, seed ${seed}`,
    `${state} after ${updates} of ${planned} updates, ${duration(seconds)}${reason === null ? '' : `: ${reason}`}`,
    ...(origin ? [`Branched from run ${origin.run ?? origin.uid} at update ${origin.update}`] : []),
    ...branches.map((child) => `Branch from update ${child.origin?.update ?? 0}: run ${child.id} “${child.name}”`),
    ...(best ? [`Best validation ${percent(best.k / best.n)} (${best.k} of ${best.n}) at update ${best.update}`] : []),
    ...(test ? [`Test ${percent(test.k / test.n)} (${test.k} of ${test.n})`] : []),
    `Checkpoints: ${checkpoints.map(({ update, kept }) => `${update}${kept ? ' (kept)' : ''}`).join(', ') || 'none'}`,
    ...changes.map(({ key, before, after }) => `${key}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`),
  ];
}

// The list of runs, which every page reads (state/fresh.ts keeps it in step with the lab), and what can be done to runs from anywhere.

import { useEffect, useRef } from 'react';
import { z } from 'zod';
import type { Input } from '../../preload/contract.ts';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { call, CallError, useCall } from '../bridge.ts';
import { useActions } from './actions.ts';
import { toast, toastError, toastWithUndo } from './toasts.ts';
import { readView, writeView } from './view.ts';

const IN_PALETTE = 50;

/** Offers the newest runs in the palette, and interrupted ones for resuming. Shown once, around all pages. */
export function RunWatch({ onOpen }: { onOpen: (address: string) => void }): null {
  const { data } = useRuns();
  useResumeOffer(data?.runs);
  const newest = data?.runs.slice(0, IN_PALETTE) ?? [];
  useActions(
    newest.map((run) => ({
      id: `run.${run.id}`,
      title: runName(run),
      group: 'Runs',
      words: [run.variant, ...run.tags],
      run: () => onOpen(`/runs/${run.id}`),
    })),
  );
  return null;
}

const offeredSchema = z.array(z.number());

/** After a start: runs that the last end of the application interrupted are offered once. */
function useResumeOffer(runs: readonly RunRow[] | undefined): void {
  const asked = useRef(false);
  useEffect(() => {
    if (!runs || asked.current) return;
    asked.current = true;
    const known = readView('resume.offered', offeredSchema, []);
    const cut = runs.filter(({ id, state }) => state === 'interrupted' && !known.includes(id)).map(({ id }) => id);
    if (cut.length === 0) return;
    writeView('resume.offered', [...known, ...cut]);
    toast({
      title: cut.length === 1 ? `Run ${cut[0]} was interrupted` : `${cut.length} runs were interrupted`,
      body: 'Resume continues from the last checkpoint.',
      milliseconds: 120_000,
      action: { label: 'Resume', run: () => cut.forEach((id) => steer(id, 'resume')) },
    });
  }, [runs]);
}

export function useRuns() {
  return useCall('runs.list', {});
}

/** Waiting runs in the order they will start. */
export function queued(runs: readonly RunRow[]): RunRow[] {
  return runs.filter(({ state }) => state === 'queued').sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
}

/** Runs that train now, oldest first. */
export function active(runs: readonly RunRow[]): RunRow[] {
  return runs.filter(({ state }) => state === 'running' || state === 'stopping').sort((a, b) => a.id - b.id);
}

/** A name that distinguishes runs with the same name. */
export const runName = ({ id, name, seed }: RunRow): string => `#${id} ${isolated(name)}, seed ${seed}`;

/** A name written from right to left keeps its place between number and seed. */
const isolated = (name: string): string => (/[\u0590-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name);

const howMany = (count: number): string => (count === 1 ? 'Run' : `${count} runs`);

/** Deletes at once and offers it back. */
export async function deleteRuns(runs: readonly number[]): Promise<void> {
  const input = { runs: [...runs] };
  try {
    await call('runs.delete', input);
    toastWithUndo(`${howMany(runs.length)} deleted`, () => {
      call('runs.restore', input).then(
        () => toast({ title: `${howMany(runs.length)} restored`, tone: 'success' }),
        (error: unknown) => toastError('The runs were not restored', error),
      );
    });
  } catch (error) {
    toastError('Nothing was deleted', error);
  }
}

export type Steering = Input<'queue.steer'>['action'];

export function steer(run: number, action: Steering): void {
  call('queue.steer', { run, action }).catch((error: unknown) => {
    if (!(error instanceof CallError) || error.code !== 'no-checkpoint') return toastError('The run was not changed', error);
    // Its record would be dropped, so that is asked for and not done at once.
    toast({
      title: 'No checkpoint can be read',
      body: `${error.message} Starting again drops what it recorded.`,
      tone: 'failure',
      action: { label: 'Restart from the beginning', run: () => steer(run, 'restart') },
      milliseconds: 60_000,
    });
  });
}

// Runs once whenever the lab opens: runs that a crash or a loss of power left "running" become "interrupted", with nothing lost up to their
// last checkpoint. Every command that lists runs asks for it, so it loads nothing of what training needs.

import { checkIntegrity } from '../store/database.ts';
import type { Run, RunSummary } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** Marks what a crash left behind. Returns the runs that can be resumed. */
export function recover(store: Store): Run[] {
  const left = (): RunSummary[] =>
    store.runs.list({ states: ['running', 'stopping'] }).filter((run) => store.locks.holder(run.id) === undefined);
  if (left().length === 0) return [];
  const reason =
    'The app or the machine stopped while this run was training. Resume continues from its last checkpoint with identical results.';
  // Looked at again inside: another lab may just have ended such a run in an orderly way.
  // A crash may be a failing disk, so the database is looked at before anything is built on it.
  const [problem] = checkIntegrity(store.db);
  const text = problem === undefined ? reason : `${reason} The database is damaged (${problem}): \`lab check\` says what can be saved.`;
  return store.write(() =>
    left().map((run) => {
      store.runs.change(run.id, { state: run.state === 'stopping' ? 'stopped' : 'interrupted', reason: text });
      store.events.add(run.id, {
        update: run.updates,
        kind: 'state',
        severity: problem === undefined ? 'warning' : 'error',
        text,
        data: {},
      });
      return store.runs.get(run.id);
    }),
  );
}

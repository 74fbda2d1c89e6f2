// Which changes of a run are worth a notification, and what it says. The desktop shows it.

import type { RunSummary } from '../store/runs.ts';
import { percent } from '../base/format.ts';

type Noted = Pick<RunSummary, 'id' | 'name' | 'state' | 'reason' | 'test'>;

export interface Notices {
  changed(run: Noted): void;
  alert(run: Noted, text: string): void;
}

/** A run is announced once per end: only one that was seen training here counts. */
export function createNotices(show: (run: number, title: string, body: string) => void): Notices {
  const training = new Set<number>();
  return {
    changed({ id, name, state, reason, test }) {
      if (state === 'running') training.add(id);
      if ((state !== 'done' && state !== 'failed') || !training.delete(id)) return;
      const result = test && test.n > 0 ? ` Test success ${percent(test.k / test.n)}.` : '';
      if (state === 'done') show(id, `Run ${id} is done`, `${name}.${result}`);
      else show(id, `Run ${id} failed`, `${name}. ${reason ?? ''}`.trim());
    },
    alert({ id, name }, text) {
      show(id, `Alert in run ${id}`, `${name}: ${text}`);
    },
  };
}

// How episodes went, as rows of a table: the same for one evaluation in the terminal and for the means of several.

import type { Conduct } from '../evaluation/conduct.ts';
import { interval, percent } from '../base/format.ts';
import type { Proportion } from '../base/statistics.ts';

const counted = (share: Proportion): string => `${percent(share.rate)} (${interval(share)}; ${share.k} of ${share.n})`;

/** Name and value, row by row; what does not apply is left out. */
export function conductRows({ achievable, efficiency, stepShare, traits, coverage }: Conduct): [string, string][] {
  return [
    ['success on achievable tasks', counted(achievable)],
    ['step efficiency (oracle ÷ taken, successes)', efficiency === null ? '–' : percent(efficiency)],
    ['steps used of the most allowed', percent(stepShare)],
    ...traits.flatMap(({ title, successes, failures }): [string, string][] => [
      [`${title}: among successes`, counted(successes)],
      [`${title}: among failures`, counted(failures)],
    ]),
    ...(coverage?.bands ?? []).map(({ words, success }): [string, string] => [
      `success with ${words} of the words sayable`,
      counted(success),
    ]),
    ...(coverage
      ? ([
          ['failures with a word missing', counted(coverage.missing)],
          ['rank correlation of coverage and success', coverage.correlation === null ? '–' : coverage.correlation.toFixed(2)],
        ] as [string, string][])
      : []),
  ];
}

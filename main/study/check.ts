// What `lab plugin check` asks of studies from a folder: that their definitions fit the schema and that every arm is a run.

import { attempt, type CheckResult } from '../plugin/check-world.ts';
import { loadDefinition, studyIds } from './definition.ts';
import { planRuns } from './plan.ts';

/** Checks the studies that are there now and were not before. */
export async function checkStudies(before: readonly string[]): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const id of studyIds().filter((study) => !before.includes(study))) {
    results.push(
      await attempt(`study ${id}: fits the schema, and each of its arms is a run`, () => {
        const definition = loadDefinition(id);
        planRuns(definition, { updates: definition.updates, seeds: definition.seeds, only: null, set: [] }, {});
      }),
    );
  }
  return results;
}

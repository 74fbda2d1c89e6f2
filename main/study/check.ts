// What `lab plugin check` asks of studies from a folder: that their definitions fit the schema and that every arm is a run.

import { BUILT_IN, type Catalog } from '../config/catalog.ts';
import { attempt, type CheckResult } from '../plugin/check-world.ts';
import { loadDefinition, studyIds } from './definition.ts';
import { planRuns } from './plan.ts';

/** Checks the studies that plug-ins add. */
export async function checkStudies(catalog: Catalog): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const builtIn = studyIds(BUILT_IN);
  for (const id of studyIds(catalog).filter((study) => !builtIn.includes(study))) {
    results.push(
      await attempt(`study ${id}: fits the schema, and each of its arms is a run`, () => {
        const definition = loadDefinition(catalog, id);
        planRuns(catalog, definition, { updates: definition.updates, seeds: definition.seeds, only: null, set: [] }, {});
      }),
    );
  }
  return results;
}

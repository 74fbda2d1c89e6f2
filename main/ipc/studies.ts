// Calls about studies: named selections of runs, what they set out to decide, the sample, and the planner.

import { existsSync } from 'node:fs';
import type { Study as StudyRow, studyCalls } from '../../preload/contract/compare.ts';
import { armDifferences } from '../evaluation/arms.ts';
import { sampleStudyFile } from '../base/paths.ts';
import { armsOf } from '../report/side-by-side.ts';
import type { Study } from '../store/studies.ts';
import { bringingUpToDate } from '../study/findings.ts';
import { ASSUMED, planStudy, powerAt, spreadOf, worldComponents } from '../study/planner.ts';
import { readRecord } from '../study/record.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { groupsOfKnown, knownRuns } from './known.ts';
import { importSample } from './sample.ts';
import { inSlices } from '../base/slices.ts';

export function studyHandlers(context: Context): Handlers<typeof studyCalls> {
  let opening: Promise<number> | null = null;
  /** Deleted since the start, for Undo. */
  const deleted = new Map<number, Study>();
  return {
    'study.plan': ({ arms, world, size, difference, power, tests }) => {
      const { store } = context.lab;
      const tables = arms ? armDifferences(armsOf(store, groupsOfKnown(context, arms.groups)), arms.baseline) : [];
      const measured = spreadOf(tables) ?? (world === null ? undefined : worldComponents(store, world));
      const { clusterSize, ...components } = measured ?? { ...ASSUMED, clusterSize: 1 };
      const question = { difference, power, clusterSize, tests };
      const { rows, needed } = planStudy(components, question);
      const spread = { seeds: Math.sqrt(components.seed), clusters: Math.sqrt(components.cluster), clusterSize };
      return {
        measured: measured !== undefined,
        size: size && powerAt(components, question, size),
        spread,
        rows: [...rows],
        needed: [...needed],
      };
    },

    'studies.list': () => ({ studies: context.lab.store.studies.list().map(rowOf), sample: existsSync(sampleStudyFile()) }),

    'studies.openSample': async () => {
      opening ??= importSample(context).finally(() => {
        opening = null;
      });
      return { study: rowOf(context.lab.store.studies.get(await opening)) };
    },

    'studies.claims': async ({ id }) => {
      const { studies } = context.lab.store;
      const stored = readRecord(studies.get(id).plan);
      const record = stored && (await inSlices(bringingUpToDate(context.lab.store, stored)));
      // Decided by today's rule once, and kept, so that reports say the same.
      if (record && record !== stored) studies.change(id, { plan: record });
      const claims = record?.claims.map((one) => ({
        ...one,
        tests: one.tests.map(({ verdict, corrected, words }) => ({ verdict, corrected, words })),
      }));
      return { question: record?.question ?? '', claims: claims ?? [] };
    },

    'studies.save': ({ id, name, runs }) => {
      const { studies } = context.lab.store;
      const other = studies.find(name);
      if (other && other.id !== id) throw new CallFailure('name-taken', `A study named “${name}” already exists.`, 'Choose another name.');
      if (id === null) return { study: rowOf(studies.create(name, knownRuns(context, runs))) };
      context.lab.store.write(() => {
        studies.change(id, { name });
        studies.removeRuns(id, studies.get(id).runs);
        studies.addRuns(id, knownRuns(context, runs));
      });
      return { study: rowOf(studies.get(id)) };
    },

    'studies.delete': ({ id }) => {
      const { studies } = context.lab.store;
      deleted.set(id, studies.get(id));
      studies.delete(id);
      return {};
    },

    'studies.restore': ({ id }) => {
      const gone = deleted.get(id);
      if (!gone) throw new CallFailure('not-found', `There is no deleted study ${id}.`, 'Save its runs as a new study.');
      const { store } = context.lab;
      const study = store.write(() => {
        const { id: restored } = store.studies.create(gone.name, gone.runs, gone.plan, gone.uid);
        store.studies.change(restored, { notes: gone.notes });
        return store.studies.get(restored);
      });
      deleted.delete(id);
      return { study: rowOf(study) };
    },
  };
}

const rowOf = ({ id, name, notes, runs, createdAt }: Study): StudyRow => ({ id, name, notes, runs: [...runs], createdAt });

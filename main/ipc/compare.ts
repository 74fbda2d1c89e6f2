// Calls that put runs side by side: the comparison, curves, studies, the report.

import { existsSync } from 'node:fs';
import type { compareCalls, Study as StudyRow } from '../../preload/contract/compare.ts';
import { sideBySide } from '../report/side-by-side.ts';
import { sampleStudyFile } from '../paths.ts';
import type { Study } from '../store/studies.ts';
import { readRecord } from '../study/record.ts';
import type { Context } from './context.ts';
import { CallFailure } from './dispatch.ts';
import type { Handlers } from './dispatch.ts';
import { createReports } from './report.ts';
import { plain } from './runs.ts';
import { importSample } from './sample.ts';

export function compareHandlers(context: Context): Handlers<typeof compareCalls> {
  const known = (runs: readonly number[]): number[] => {
    const missing = runs.filter((run) => !context.lab.store.runs.find(run));
    if (missing.length > 0) {
      throw new CallFailure(
        'not-found',
        `There is no run ${missing.join(', ')}.`,
        'It may have been deleted: remove it from the comparison or restore it.',
      );
    }
    return [...new Set(runs)];
  };
  let opening: Promise<number> | null = null;
  const reports = createReports(context);
  return {
    'compare.open': ({ runs, baseline }) => {
      const { diff, ...rest } = sideBySide(context.lab.store, known(runs), baseline);
      return {
        ...rest,
        diff: diff.map(({ key, values }) => ({ key, values: values.map((value) => (value === undefined ? undefined : plain(value))) })),
      };
    },

    'compare.curves': ({ runs, name, points }) => ({
      curves: known(runs).map((run) => {
        const { updates, values } = context.lab.store.metrics.series(run, name, { points });
        return { run, x: Float64Array.from(updates), y: Float64Array.from(values) };
      }),
    }),

    'studies.list': () => ({ studies: context.lab.store.studies.list().map(rowOf), sample: existsSync(sampleStudyFile()) }),

    'studies.openSample': async () => {
      opening ??= importSample(context).finally(() => {
        opening = null;
      });
      return { study: rowOf(context.lab.store.studies.get(await opening)) };
    },

    'studies.claims': ({ id }) => {
      const record = readRecord(context.lab.store.studies.get(id).plan);
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
      if (id === null) return { study: rowOf(studies.create(name, known(runs))) };
      context.lab.store.write(() => {
        studies.change(id, { name });
        studies.removeRuns(id, studies.get(id).runs);
        studies.addRuns(id, known(runs));
      });
      return { study: rowOf(studies.get(id)) };
    },

    'report.export': async (wanted) => ({ written: await reports.export({ ...wanted, runs: known(wanted.runs) }) }),

    'report.cancel': () => {
      reports.cancel();
      return {};
    },

    'report.open': async () => {
      await reports.open();
      return {};
    },

    'studies.delete': ({ id }) => {
      context.lab.store.studies.delete(id);
      return {};
    },
  };
}

const rowOf = ({ id, name, notes, runs, createdAt }: Study): StudyRow => ({ id, name, notes, runs: [...runs], createdAt });

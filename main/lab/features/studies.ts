// Calls about studies: named selections of runs, what they set out to decide, the sample, and the planner.

import { z } from 'zod';
import { sampleStudyFile } from '../../base/paths.ts';
import { verdicts } from '../../base/vocabulary.ts';
import { armDifferences } from '../../evaluation/arms.ts';
import { armsOf } from '../../report/side-by-side.ts';
import type { Study as StoredStudy } from '../../store/studies.ts';
import { redecide } from '../../study/findings.ts';
import type { Store } from '../../store/store.ts';
import { ASSUMED, planStudy, powerAt, spreadOf, worldComponents } from '../../study/planner.ts';
import { readRecord } from '../../study/record.ts';
import { CallFailure, type Handlers, nothing, type Reads } from '../definition.ts';
import { existingGroups, existingRuns } from '../existing.ts';
import type { Lab } from '../lab.ts';
import { listStudies, studyList, studyRow, studyRowOf } from '../rows.ts';
import { groups } from './compare.ts';
import { importRuns } from './transfer.ts';

export type { StudyRow } from '../rows.ts';

const runs = z.array(z.int().min(1)).min(1).max(400);

/** What a study set out to decide, and how it came out; only studies made by `lab study run` have claims. */
const claim = z.object({
  id: z.string(),
  claim: z.string(),
  source: z.string(),
  experiment: z.string(),
  discussion: z.string(),
  verdict: z.enum(verdicts),
  /** With Holm's correction; null where the study was decided without. */
  corrected: z.enum(verdicts).nullable(),
  tests: z.array(z.object({ verdict: z.enum(verdicts), corrected: z.enum(verdicts).nullable(), words: z.string() })),
});
export type Claim = z.infer<typeof claim>;

export const calls = {
  'studies.list': { input: nothing, answer: studyList },
  /** Imports the sample study (once; a second time finds it there) and answers when it is in. */
  'studies.openSample': { input: nothing, answer: z.object({ study: studyRow }) },
  'studies.claims': { input: z.strictObject({ id: z.int() }), answer: z.object({ question: z.string(), claims: z.array(claim) }) },
  /** A new study, or the runs and name of one that is there. */
  'studies.save': {
    input: z.strictObject({ id: z.int().nullable(), name: z.string().trim().min(1).max(120), runs }),
    answer: z.object({ study: studyRow }),
  },
  'studies.delete': { input: z.strictObject({ id: z.int() }), answer: nothing },
  /** A study that was deleted since the start, with its claims and notes. */
  'studies.restore': { input: z.strictObject({ id: z.int() }), answer: z.object({ study: studyRow }) },
  /** Seeds and tasks that find a difference: from the spread of the arms given, else of what was trained in the world before. */
  'studies.plan': {
    input: z.strictObject({
      arms: z.strictObject({ groups, baseline: z.string().max(400) }).nullable(),
      world: z.string().max(400).nullable(),
      /** A size whose power is to be computed as well. */
      size: z.strictObject({ seeds: z.int().min(1).max(10_000), tasks: z.int().min(0).max(1_000_000) }).nullable(),
      difference: z.number().gt(0).lt(1),
      power: z.number().gt(0).lt(1),
      tests: z.int().min(1).max(1000),
    }),
    answer: z.object({
      /** Whether the spread was measured (on the arms, or in the world) or assumed. */
      measured: z.boolean(),
      size: z.object({ alone: z.number(), corrected: z.number() }).nullable(),
      /** Standard deviations between seeds and between clusters of tasks, and how many tasks a cluster has. */
      spread: z.object({ seeds: z.number(), clusters: z.number(), clusterSize: z.number() }),
      rows: z.array(z.object({ seeds: z.number(), tasks: z.number(), alone: z.number(), corrected: z.number() })),
      needed: z.array(z.object({ tasks: z.number(), alone: z.number().nullable(), corrected: z.number().nullable() })),
    }),
  },
};

export const events = {
  /** The list as it is now: a study was saved, deleted or came in, also from another process. */
  'studies.changed': studyList,
  /** How far the sample study is: so many runs of so many. */
  'studies.sampleProgress': z.object({ done: z.number(), total: z.number() }),
};

export const reads = {
  'studies.plan': (store, { arms, world, size, difference, power, tests }) => {
    const tables = arms ? armDifferences(armsOf(store, existingGroups(store, arms.groups)), arms.baseline) : [];
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

  /** A study's record with its claims decided by today's rule, and whether that changed them. */
  decided: (store: Store, { id }: { readonly id: number }) => {
    const stored = readRecord(store.studies.get(id).plan);
    const record = stored && redecide(store, stored);
    return { record, changed: record !== stored };
  },
} satisfies Reads<typeof calls> & Record<string, unknown>;

export function handlers(lab: Lab): Handlers<Omit<typeof calls, keyof typeof reads>> {
  let opening: Promise<number> | null = null;
  /** Deleted since the start, for Undo. */
  const deleted = new Map<number, StoredStudy>();
  return {
    'studies.list': () => listStudies(lab.store),

    'studies.openSample': async () => {
      opening ??= importSample(lab).finally(() => {
        opening = null;
      });
      return { study: studyRowOf(lab.store.studies.get(await opening)) };
    },

    'studies.claims': async ({ id }) => {
      const { record, changed } = await lab.read('studies', 'decided', { id });
      // Decided by today's rule once, and kept, so that reports say the same.
      if (record && changed) lab.store.studies.change(id, { plan: record });
      const claims = record?.claims.map((one) => ({
        ...one,
        tests: one.tests.map(({ verdict, corrected, words }) => ({ verdict, corrected, words })),
      }));
      return { question: record?.question ?? '', claims: claims ?? [] };
    },

    'studies.save': ({ id, name, runs }) => {
      const { studies } = lab.store;
      const other = studies.find(name);
      if (other && other.id !== id) throw new CallFailure('name-taken', `A study named “${name}” already exists.`, 'Choose another name.');
      const members = existingRuns(lab.store, runs);
      const saved = lab.store.write(() => {
        if (id === null) return studies.create(name, members);
        studies.change(id, { name });
        studies.removeRuns(id, studies.get(id).runs);
        studies.addRuns(id, members);
        return studies.get(id);
      });
      lab.studiesChanged();
      return { study: studyRowOf(saved) };
    },

    'studies.delete': ({ id }) => {
      const { studies } = lab.store;
      deleted.set(id, studies.get(id));
      studies.delete(id);
      lab.studiesChanged();
      return {};
    },

    'studies.restore': ({ id }) => {
      const gone = deleted.get(id);
      if (!gone) throw new CallFailure('not-found', `There is no deleted study ${id}.`, 'Save its runs as a new study.');
      const { store } = lab;
      const study = store.write(() => {
        const { id: restored } = store.studies.create(gone.name, gone.runs, gone.plan, gone.uid);
        store.studies.change(restored, { notes: gone.notes });
        return store.studies.get(restored);
      });
      deleted.delete(id);
      lab.studiesChanged();
      return { study: studyRowOf(study) };
    },
  };
}

/** Answers with the study's id. */
async function importSample(lab: Lab): Promise<number> {
  const { study } = await importRuns(lab, sampleStudyFile(), (done, total) => lab.emit('studies.sampleProgress', { done, total }));
  if (study === null)
    throw new CallFailure('no-study', 'The sample file holds runs but no study.', 'The runs are in Runs; please report this.');
  return study;
}

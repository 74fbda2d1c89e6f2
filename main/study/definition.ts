// A study as data: which runs to make (a base, arms that change it, seeds) and which claims they are to decide. One JSON
// file each in resources/studies/. Only the claims, their sources and their discussion are written by the author; everything
// else in a study's report comes from the database. docs/TUNING.md explains the fields.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { allFailures, type Worlds } from '../environment/registry.ts';
import type { Catalog } from '../config/catalog.ts';
import { ConfigError } from '../config/config.ts';

const Id = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'expected small letters, digits and hyphens');
const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.number()).min(1)]);

/** Settings by dotted path of a run's config, applied in the order they are written. */
export const Settings = z.record(z.string(), Value);
export type Settings = z.infer<typeof Settings>;

/** Settings that follow the budget: a part of the number of updates. */
const Parts = z.record(z.string(), z.number().gt(0).max(1));

const Arm = z.strictObject({
  id: Id,
  title: z.string().min(3).max(80),
  /** Starts from another arm (and its tuned settings) instead of the base. */
  like: Id.optional(),
  set: Settings.default({}),
  parts: Parts.default({}),
  /** Tune it before it is run: the knobs of its algorithm's search space. */
  tune: z.boolean().default(false),
  /** The first so many seeds only. */
  seeds: z.int().min(1).optional(),
});
export type Arm = z.infer<typeof Arm>;

/** What the runs of two arms are compared by, task by task: success, or a failure class of a world. */
export type Measure = string;

const measuresOf = (catalog: Worlds): string[] => ['success', ...allFailures(catalog).map(({ id }) => id)];

export function measureWords(catalog: Worlds, measure: Measure): string {
  if (measure === 'success') return 'success on the test tasks';
  const failure = allFailures(catalog).find(({ id }) => id === measure);
  return `share of test episodes in the failure class ${failure?.title.toLowerCase() ?? measure}`;
}

/** Who stands beside the arms without being trained. */
export const BASELINES = ['reference', 'heuristic', 'random'] as const;

/** What is claimed of a against b; `equivalent` and `not-higher` (lower, or higher by less than it) need a margin. */
export const EXPECTATIONS = ['higher', 'lower', 'equivalent', 'not-higher'] as const;

const Margin = z.number().gt(0).lt(1);
const Test = z.strictObject({
  a: Id,
  b: Id,
  measure: z.string().default('success'),
  expect: z.enum(EXPECTATIONS),
  /** Another margin than the study's. */
  margin: Margin.optional(),
});
export type Test = z.infer<typeof Test>;

const Claim = z.strictObject({
  id: Id,
  /** The claim in one sentence, and who made it. */
  claim: z.string().min(10),
  source: z.string().min(3),
  /** What is done to decide it. */
  experiment: z.string().min(10),
  /** Each: arm a against arm b. The claim holds when all of them come out as expected. */
  tests: z.array(Test).min(1),
  discussion: z.string().default(''),
});
export type Claim = z.infer<typeof Claim>;

/** What all arms spend the same of. */
export const EQUALISABLE = ['episodes', 'optimizerSteps', 'tokens'] as const;

export const StudyDefinition = z
  .strictObject({
    title: z.string().min(3).max(120),
    question: z.string().min(10),
    base: z.strictObject({ preset: z.string(), set: Settings.default({}), parts: Parts.default({}) }),
    /** The budget: updates of every run. All else that depends on it is given in parts. */
    updates: z.int().min(1),
    /**
     * episodes: `updates` of the same batch, as each algorithm was tuned. optimizerSteps: also one optimizer step an update for every
     * algorithm. tokens: each arm gets the updates that make its agent tokens equal, counted in a pilot run with the tuner's seed.
     */
    equalise: z.enum(EQUALISABLE).default('episodes'),
    /** The smallest difference that would matter, as a share: with it, a test may come out equivalent. */
    margin: Margin.optional(),
    seeds: z.array(z.int().min(0)).min(1),
    /** How arms with `tune` find their settings; `tasks` are validation tasks, `seed` is not one of the study's seeds. */
    tuning: z.strictObject({ trials: z.int().min(1), seed: z.int().min(0), tasks: z.int().min(1) }),
    arms: z.array(Arm).min(1),
    claims: z.array(Claim),
    discussion: z.string().default(''),
  })
  .superRefine((study, context) => {
    const fault = (message: string, ...path: (string | number)[]): void => void context.addIssue({ code: 'custom', path, message });
    const known = new Set<string>();
    study.arms.forEach((arm, index) => {
      if (known.has(arm.id)) fault(`arm ${arm.id} is there twice`, 'arms', index, 'id');
      if (arm.like !== undefined && !known.has(arm.like)) fault(`expected an arm above this one, found ${arm.like}`, 'arms', index, 'like');
      if (arm.tune && arm.like !== undefined) fault('an arm that is like another has that one’s tuned settings', 'arms', index, 'tune');
      known.add(arm.id);
    });
    for (const name of BASELINES) known.add(name);
    study.claims.forEach(({ tests }, index) => {
      for (const { a, b } of tests)
        for (const id of [a, b]) if (!known.has(id)) fault(`expected an arm or ${BASELINES.join(', ')}; found ${id}`, 'claims', index);
    });
    study.claims.forEach(({ tests }, index) => {
      const bounded = tests.filter(({ expect }) => expect === 'equivalent' || expect === 'not-higher');
      if (bounded.some(({ margin }) => margin === undefined) && study.margin === undefined)
        fault('expected a margin: a claim of no difference says how small a difference would not matter', 'claims', index);
    });
    if (study.seeds.includes(study.tuning.seed)) fault('expected a seed that the study does not use itself', 'tuning', 'seed');
  });
export type StudyDefinition = z.infer<typeof StudyDefinition>;

/** The built-in definitions, then those of plug-ins. */
export function studyIds({ studies }: Catalog): string[] {
  const names = studies.flatMap((folder) => readdirSync(folder).sort());
  return [...new Set(names.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length)))];
}

const fileOf = ({ studies }: Catalog, name: string): string | undefined =>
  /^[\w-]+$/.test(name) ? studies.map((folder) => join(folder, `${name}.json`)).find((file) => existsSync(file)) : undefined;

export const hasDefinition = (catalog: Catalog, name: string): boolean => fileOf(catalog, name) !== undefined;

export function loadDefinition(catalog: Catalog, name: string): StudyDefinition {
  const file = fileOf(catalog, name);
  if (file === undefined) throw new ConfigError(`There is no study definition "${name}". There are ${studyIds(catalog).join(', ')}`);
  return parseDefinition(catalog, JSON.parse(readFileSync(file, 'utf8')), name);
}

export function parseDefinition(catalog: Catalog, input: unknown, name: string): StudyDefinition {
  const measures = measuresOf(catalog);
  const parsed = StudyDefinition.superRefine(({ claims }, context) => {
    for (const [index, { tests }] of claims.entries())
      for (const { measure } of tests)
        if (!measures.includes(measure))
          context.addIssue({
            code: 'custom',
            path: ['claims', index],
            message: `expected one of ${measures.join(', ')}; found ${measure}`,
          });
  }).safeParse(input);
  if (!parsed.success) throw new ConfigError(`The study definition ${name} is wrong:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

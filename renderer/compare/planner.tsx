// The planner: how many seeds and tasks find a difference, before anything is run, from the spread of the arms on screen or an
// assumed one. The same arithmetic as `lab study plan`.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { percent, points } from '../../main/base/format.ts';
import type { Answer } from '../../preload/contract.ts';
import { callOptions } from '../bridge.ts';
import { Field, NumberInput } from '../components/field.tsx';
import { Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import type { Group } from './groups.ts';
import util from '../theme/utilities.module.css';
import styles from './planner.module.css';

type Power = NonNullable<Answer<'studies.plan'>['size']>;

interface PlannerProps {
  /** Arms whose spread counts; without two of them that of earlier runs in the world, if it is given. */
  groups: readonly Group[];
  baseline: string;
  world?: string;
  /** What is about to be run. */
  size?: { readonly seeds: number; readonly tasks: number };
}

export function Planner(props: PlannerProps) {
  const [open, setOpen] = useState(false);
  return (
    <Section title="Plan a study" hint="Seeds and tasks needed to find a difference, before running anything.">
      <details className={styles.planner} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Seeds × tasks for a difference</summary>
        {open && <PlanForm {...props} />}
      </details>
    </Section>
  );
}

/** A number in percent between 0 and 100, as a share; undefined when it is none. */
function asShare(text: string): number | undefined {
  const value = Number(text) / 100;
  return text.trim() !== '' && value > 0 && value < 1 ? value : undefined;
}

function PlanForm({ groups, baseline, world, size }: PlannerProps) {
  const [difference, setDifference] = useState('5');
  const [power, setPower] = useState('80');
  const [tests, setTests] = useState(String(Math.max(1, groups.length - 1)));
  const [found, wanted, count] = [asShare(difference), asShare(power), Math.round(Number(tests))];
  const valid = found !== undefined && wanted !== undefined && count >= 1 && count <= 1000;
  const input = {
    arms: groups.length > 1 ? { groups: groups.map(({ key, runs }) => ({ key, runs: [...runs] })), baseline } : null,
    world: world ?? null,
    size: size ?? null,
    difference: found ?? 0.05,
    power: wanted ?? 0.8,
    tests: valid ? count : 1,
  };
  const plan = useQuery({ ...callOptions('studies.plan', input), enabled: valid, placeholderData: keepPreviousData });
  const fields = [
    ['Difference', 'points', difference, setDifference, found !== undefined],
    ['Power', '%', power, setPower, wanted !== undefined],
    ['Comparisons', '', tests, setTests, count >= 1 && count <= 1000],
  ] as const;
  return (
    <>
      <div className={styles.fields}>
        {fields.map(([label, unit, value, set, right]) => (
          <Field key={label} label={label} error={right ? undefined : 'Enter a number above 0'}>
            {(ids) => <NumberInput {...ids} {...(unit && { unit })} value={value} onChange={(event) => set(event.target.value)} />}
          </Field>
        ))}
      </div>
      {plan.isError && <ErrorState title="Could not plan" error={plan.error} />}
      {!plan.data && !plan.isError && valid && <Loading label="Planning" rows={3} />}
      {plan.data && <PlanTable plan={plan.data} basis={basisOf(plan.data.measured, world)} {...input} />}
    </>
  );
}

function basisOf(measured: boolean, world: string | undefined): string {
  if (world === undefined) return measured ? 'Spread of the arms on screen' : 'Assumed spread (no two arms here share two seeds)';
  return measured
    ? `Spread of finished runs in the world ${world}`
    : `Assumed spread (no two settings with two seeds were tested in the world ${world} yet)`;
}

/** What an order of this size can find. */
function reachedBy({ seeds, tasks }: NonNullable<PlannerProps['size']>, { alone, corrected }: Power, tests: number): string {
  if (tasks === 0) return 'These runs play no test tasks at their end (evaluation.finalTasks is 0), so nothing can be compared.';
  if (seeds < 2) return 'One seed says nothing about other seeds: with it no difference counts as found.';
  const among = tests > 1 ? ` (${percent(corrected)})` : '';
  return `These ${seeds} seeds × ${tasks.toLocaleString('en')} test tasks, against as many of another setting: ${percent(alone)}${among}.`;
}

interface PlanTableProps {
  plan: Answer<'studies.plan'>;
  basis: string;
  size: { readonly seeds: number; readonly tasks: number } | null;
  difference: number;
  power: number;
  tests: number;
}

const enough = (seeds: number | null): string => (seeds === null ? '> 200' : String(seeds));

function PlanTable({ plan: { size: reached, spread, rows, needed }, basis, size, difference, power, tests }: PlanTableProps) {
  const seeds = [...new Set(rows.map((row) => row.seeds))];
  const corrected = tests > 1 ? ` (in brackets: after Holm’s correction for ${tests} comparisons)` : '';
  const cell = (count: number, tasks: number): string => {
    const row = rows.find((one) => one.seeds === count && one.tasks === tasks);
    return row ? `${percent(row.alone)}${tests > 1 ? ` (${percent(row.corrected)})` : ''}` : '–';
  };
  return (
    <>
      <p className={util.muted}>
        {basis}: {points(spread.seeds)} points between seeds, {points(spread.clusters)} between clusters of {spread.clusterSize.toFixed(1)}{' '}
        {spread.clusterSize === 1 ? 'task' : 'tasks'}.
      </p>
      {size && reached && <p role="status">{reachedBy(size, reached, tests)}</p>}
      <p className={styles.question}>
        A true difference of {points(difference)} points is found with this probability{corrected}:
      </p>
      <div className={styles.table}>
        <Table label="Power by seeds and tasks">
          <thead>
            <tr>
              <Head>Seeds per arm</Head>
              {needed.map(({ tasks }) => (
                <Head key={tasks} numeric>
                  {tasks.toLocaleString('en')} tasks
                </Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {seeds.map((count) => (
              <Row key={count}>
                <Cell>{count}</Cell>
                {needed.map(({ tasks }) => (
                  <Cell key={tasks} numeric>
                    {cell(count, tasks)}
                  </Cell>
                ))}
              </Row>
            ))}
            <Row>
              <Cell>
                <strong>Needed for {percent(power)}</strong>
              </Cell>
              {needed.map(({ tasks, alone, corrected: strict }) => (
                <Cell key={tasks} numeric>
                  <strong>
                    {enough(alone)}
                    {tests > 1 && ` (${enough(strict)})`}
                  </strong>
                </Cell>
              ))}
            </Row>
          </tbody>
        </Table>
      </div>
    </>
  );
}

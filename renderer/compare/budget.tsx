// What the compared runs spent: episodes, optimizer steps, tokens and V* samples. Equal updates are not equal budgets.

import type { Answer } from '../../preload/contract.ts';
import { Section } from '../components/page.tsx';
import { Grid } from './breakdown.tsx';
import type { Group } from './groups.ts';

const NAMES = { episodes: 'Episodes', optimizerSteps: 'Optimizer steps', tokens: 'Tokens', vstarSamples: 'V* samples' } as const;
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function BudgetTable({ data: { budgets, unequal }, groups }: { data: Answer<'compare.open'>; groups: readonly Group[] }) {
  if (budgets.length === 0) return null;
  const meanOf = (runs: readonly number[], key: keyof typeof NAMES): string => {
    const own = budgets.filter(({ run }) => runs.includes(run));
    return own.length === 0 ? '–' : whole.format(own.reduce((sum, budget) => sum + budget[key], 0) / own.length);
  };
  const keys = ['episodes', 'optimizerSteps', 'tokens', 'vstarSamples'] as const;
  return (
    <Section title="Budget" hint={unequal.length > 0 ? `Per run. Unequal: ${unequal.join('; ')}.` : 'Per run; equal within 10%.'}>
      <Grid
        label="Budget"
        corner="Spent"
        columns={groups.map(({ key }) => key)}
        rows={keys.map((key) => ({ key, head: NAMES[key], cells: groups.map(({ runs }) => meanOf(runs, key)) }))}
      />
    </Section>
  );
}

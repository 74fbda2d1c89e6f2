// What the arms spent: episodes, optimizer steps, tokens and V* samples. Equal updates are not equal budgets.

import { useMemo } from 'react';
import { useCall } from '../bridge.ts';
import { Section } from '../components/page.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import type { Group } from './groups.ts';
import { Scrolled } from './scrolled.tsx';

const NAMES = {
  episodes: 'Episodes',
  optimizerSteps: 'Optimizer steps',
  tokens: 'Tokens',
  vstarSamples: 'V* samples',
  branchEpisodes: 'Continuations',
} as const;
const KEYS = ['episodes', 'optimizerSteps', 'tokens', 'vstarSamples', 'branchEpisodes'] as const;
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function BudgetTable({ groups }: { groups: readonly Group[] }) {
  const asked = useMemo(() => groups.map(({ key, runs }) => ({ key, runs: [...runs] })), [groups]);
  const { data } = useCall('compare.budgets', { groups: asked });
  if (!data || data.budgets.length === 0) return null;
  const { budgets, unequal } = data;
  return (
    <Section title="Budget" hint={unequal.length > 0 ? `Per run. Unequal: ${unequal.join('; ')}.` : 'Per run; equal within 10%.'}>
      <Scrolled label="Budget">
        <Table label="Budget">
          <thead>
            <tr>
              <Head>Arm</Head>
              {KEYS.map((key) => (
                <Head key={key} numeric>
                  {NAMES[key]}
                </Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {budgets.map(({ key: arm, ...spent }) => (
              <Row key={arm}>
                <Cell>{arm}</Cell>
                {KEYS.map((key) => (
                  <Cell key={key} numeric>
                    {whole.format(spent[key])}
                  </Cell>
                ))}
              </Row>
            ))}
          </tbody>
        </Table>
      </Scrolled>
    </Section>
  );
}

// The head of New run for a branch: which checkpoint it starts from, and what of the config has to stay.

import { useLocation } from 'wouter';
import { Field, Select } from '../components/field.tsx';
import type { Base } from './use-order.ts';

export function BranchFrom({ branch: { run, update, updates, best } }: { branch: NonNullable<Base['branch']> }) {
  const [, navigate] = useLocation();
  return (
    <Field
      label={`Branch from run ${run}`}
      hint="World, policy and reference stay as they are; everything else may change. Updates count from 0."
    >
      {(ids) => (
        <Select
          {...ids}
          value={String(update)}
          options={updates.map((one) => ({ value: String(one), label: `update ${one}${one === best ? ' (best validation)' : ''}` }))}
          onValue={(value) => navigate(`/new/branch-${run}-${value}`)}
        />
      )}
    </Field>
  );
}

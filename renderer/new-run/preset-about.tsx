// What the chosen preset is: its size, and where it departs from the system it is named after.

import { useLocation } from 'wouter';
import type { Preset } from '../../main/lab/features/setup.ts';
import { Field, Select } from '../components/field.tsx';
import type { Base } from './use-order.ts';
import styles from './preset-list.module.css';

const SIZES = [
  { value: 'quick', label: 'Quick: shows that it works' },
  { value: 'small', label: 'Small: shows where a small policy goes' },
  { value: 'medium', label: 'Medium: shows where it goes' },
  { value: 'full', label: 'Full' },
];

export function PresetAbout({ base, presets }: { base: Base; presets: readonly Preset[] }) {
  const [, navigate] = useLocation();
  const preset = base.id.startsWith('preset-') ? presets.find(({ id }) => id === base.preset) : undefined;
  if (!preset) return null;
  const size = /~(quick|small|medium)$/.exec(base.id)?.[1] ?? 'full';
  return (
    <div className={styles.about}>
      <Field label="Size" hint="Fewer updates, less cloning, fewer evaluation tasks">
        {(ids) => (
          <Select
            {...ids}
            value={size}
            options={SIZES}
            onValue={(value) => navigate(`/new/preset-${preset.id}${value === 'full' ? '' : `~${value}`}`)}
          />
        )}
      </Field>
      {preset.adapted.length > 0 && (
        <details>
          <summary>
            {preset.adapted.length === 1 ? 'One difference from its source' : `${preset.adapted.length} differences from its source`}
          </summary>
          <ul aria-label="Differences from its source">
            {preset.adapted.map((departure) => (
              <li key={departure}>{departure}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

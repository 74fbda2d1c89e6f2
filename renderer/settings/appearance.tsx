// How the window looks.

import { call, useCall } from '../bridge.ts';
import { Section } from '../components/page.tsx';
import { Segmented } from '../components/tabs.tsx';
import { toastError } from '../state/toasts.ts';

const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function Appearance() {
  const { data } = useCall('system.theme', {});
  return (
    <Section title="Appearance" hint="Follows the system unless you choose a theme.">
      <Segmented
        label="Theme"
        value={data?.theme ?? 'system'}
        options={THEMES}
        onValue={(theme) => {
          call('system.setTheme', { theme }).catch((error: unknown) => toastError('The theme was not changed', error));
        }}
      />
    </Section>
  );
}

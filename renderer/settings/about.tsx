// What this is, with every version that matters for a report.

import { useCall } from '../bridge.ts';
import { Card, Section } from '../components/page.tsx';
import { CopyButton, ErrorState, Loading } from '../components/states.tsx';
import styles from './settings.module.css';

export function About() {
  const { data, error, refetch } = useCall('system.about', {});
  if (error) return <ErrorState title="The versions could not be read" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Reading versions" />;
  const rows = [
    ['Astrolab', data.version],
    ['Electron', data.electron],
    ['Chromium', data.chrome],
    ['Node', data.node],
    ['Platform', data.platform],
    ['Data folder', data.dataFolder],
  ] as const;
  return (
    <Section
      title="This installation"
      hint="All data stays on this machine. Nothing is sent anywhere, by the lab or by the libraries it uses."
      actions={<CopyButton text={rows.map(([name, value]) => `${name}: ${value}`).join('\n')} />}
    >
      <Card>
        <dl className={styles.facts}>
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </Card>
    </Section>
  );
}

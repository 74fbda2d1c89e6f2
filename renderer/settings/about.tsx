// What this is, with every version that matters for a report.

import { call, useCall } from '../bridge.ts';
import { Card, Section } from '../components/page.tsx';
import { CopyButton, ErrorState, Loading } from '../components/states.tsx';
import styles from './settings.module.css';

export function About() {
  const { data, error, refetch } = useCall('system.about', {});
  if (error) return <ErrorState title="Could not read the versions" error={error} retry={() => void refetch()} />;
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
      title="About"
      hint="All data stays on this machine. Neither Astrolab nor its libraries send anything; crash reports are kept in the data folder."
      actions={<CopyButton text={async () => (await call('system.diagnostics', {})).text} label="Copy diagnostics" />}
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

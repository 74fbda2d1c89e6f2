// What this is, and where its data is.

import { call, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Card, Section } from '../components/page.tsx';
import { CopyButton, ErrorState, Loading } from '../components/states.tsx';
import { toastError } from '../state/toasts.ts';
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
      hint="All data stays in this folder on this machine. Nothing is sent anywhere, by the lab or by the libraries it uses."
      actions={
        <>
          <CopyButton text={rows.map(([name, value]) => `${name}: ${value}`).join('\n')} />
          <Button
            icon="folder"
            onClick={() => {
              call('system.showDataFolder', {}).catch((problem: unknown) => toastError('The folder could not be shown', problem));
            }}
          >
            Show data folder
          </Button>
        </>
      }
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

// Settings: one section per concern, each in its file.

import { Page } from '../components/page.tsx';
import { About } from './about.tsx';
import { Appearance } from './appearance.tsx';
import { Clusters } from './clusters.tsx';
import { Devices } from './devices.tsx';
import { Models } from './models.tsx';
import { Plugins } from './plugins.tsx';
import { RunPreferences } from './run-preferences.tsx';
import { Storage } from './storage.tsx';
import { WorkerProcess } from './worker-process.tsx';
import { WorldDataSections } from './world-data.tsx';
import styles from './settings.module.css';

export default function SettingsPage() {
  return (
    <Page title="Settings">
      <div className={styles.sections}>
        <Appearance />
        <Storage />
        <Devices />
        <RunPreferences />
        <Models />
        <Clusters />
        <Plugins />
        <WorldDataSections />
        <WorkerProcess />
        <About />
      </div>
    </Page>
  );
}

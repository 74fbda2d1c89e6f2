// Settings: one section per concern, each in its own file.

import { Page } from '../components/page.tsx';
import { About } from './about.tsx';
import { Appearance } from './appearance.tsx';
import { TrainingProcess } from './training-process.tsx';

export default function SettingsPage() {
  return (
    <Page title="Settings">
      <Appearance />
      <TrainingProcess />
      <About />
    </Page>
  );
}

// Runs: the list of everything that was ever trained here. Until there is a first run, an invitation.

import { useCall } from '../bridge.ts';
import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { FirstRun } from './first-run.tsx';

export default function RunsPage() {
  const about = useCall('system.about', {});
  return (
    <Page
      title="Runs"
      actions={
        <LinkButton href="/new" icon="plus">
          New run
        </LinkButton>
      }
    >
      <FirstRun dataFolder={about.data?.dataFolder ?? ''} />
    </Page>
  );
}

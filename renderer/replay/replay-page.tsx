// Replay: not built yet; says so and leads back.

import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState } from '../components/states.tsx';

export default function ReplayPage() {
  return (
    <Page title="Replay">
      <EmptyState title="No episode to replay yet" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>Episodes are recorded by runs and evaluations. The replay is not part of this version yet.</p>
      </EmptyState>
    </Page>
  );
}

// Run: not built yet; says so and leads back.

import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState } from '../components/states.tsx';

export default function LivePage() {
  return (
    <Page title="Run">
      <EmptyState title="Nothing to watch yet" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>The live view of a run is not part of this version yet.</p>
      </EmptyState>
    </Page>
  );
}

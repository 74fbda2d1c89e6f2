// Compare: not built yet; says so and leads back.

import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState } from '../components/states.tsx';

export default function ComparePage() {
  return (
    <Page title="Compare">
      <EmptyState title="Nothing to compare yet" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>Comparing needs at least two runs. The comparison is not part of this version yet.</p>
      </EmptyState>
    </Page>
  );
}

// New run: not built yet; says so and leads back.

import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState } from '../components/states.tsx';

export default function NewRunPage() {
  return (
    <Page title="New run">
      <EmptyState title="Runs are set up here" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>
          The form for world, algorithm, model, device and seeds is not part of this version yet. Runs can be started from the command line:{' '}
          <code>npm run lab -- train --preset …</code>
        </p>
      </EmptyState>
    </Page>
  );
}

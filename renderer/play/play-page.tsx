// Play: not built yet; says so and leads back.

import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState } from '../components/states.tsx';

export default function PlayPage() {
  return (
    <Page title="Play">
      <EmptyState title="No world to play yet" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
        <p>
          Playing by hand works on the command line: <code>npm run lab -- play shop</code>. The page is not part of this version yet.
        </p>
      </EmptyState>
    </Page>
  );
}

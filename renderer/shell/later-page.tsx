// A page whose code comes later. Not React's lazy: its Suspense holds content back for 300 ms after a placeholder was shown, and shows one
// even where the code is there already. This draws the page as soon as there is something to draw.

import { createElement, useEffect, useState } from 'react';
import type { ComponentType } from 'react';
import { Loading } from '../components/states.tsx';

export interface LaterPage {
  readonly component: ComponentType;
  /** Fetches the code; a second call finds it there. */
  readonly load: () => Promise<void>;
}

export function laterPage(fetchCode: () => Promise<{ default: ComponentType }>): LaterPage {
  let code: ComponentType | undefined;
  const load = async (): Promise<void> => {
    code ??= (await fetchCode()).default;
  };
  return { component: () => <WhenLoaded load={load} code={() => code} />, load };
}

function WhenLoaded({ load, code }: { load: LaterPage['load']; code: () => ComponentType | undefined }) {
  const [failure, setFailure] = useState<unknown>();
  const [, setLoaded] = useState(false);
  const page = code();
  useEffect(() => {
    let gone = false;
    if (!code()) {
      load().then(
        () => gone || setLoaded(true),
        (error: unknown) => gone || setFailure(error ?? new Error('The page could not be loaded')),
      );
    }
    return () => {
      gone = true;
    };
  }, [load, code]);
  if (failure !== undefined) throw failure;
  return page ? createElement(page) : <Loading label="Loading page" />;
}

// Where the page begins.

import './no-eval.ts';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Tooltip } from 'radix-ui';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { z } from 'zod';
import { App } from './app.tsx';
import { CallError, callOptions } from './bridge.ts';
import { loadPagesWhenIdle } from './pages.ts';
import { ErrorBoundary } from './shell/error-boundary.tsx';
import { keepFresh } from './state/fresh.ts';
import { readView } from './state/view.ts';
import './theme/tokens.css';
import './theme/base.css';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The data is on this machine: an answer stays good until an event says otherwise, and asking twice helps no one.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      networkMode: 'always',
      // The lab's process ended while it was asked: the next one answers.
      retry: (count, error) => count < 3 && error instanceof CallError && error.code === 'lab-stopped',
    },
    mutations: { networkMode: 'always' },
  },
});

// Thousands of rows, of which five change four times a second: those that stay are the same objects already (state/fresh.ts).
client.setQueryDefaults(['runs.list'], { structuralSharing: false });

// Back to the page that was open last time.
if (window.location.hash === '') window.location.hash = readView('location', z.string().startsWith('/'), '/');

keepFresh(client);

// Every page needs the list of runs: it is asked for before the first component exists, and read while the page loads.
// What the next pages need is loaded once that is there and nothing else is to be done.
void client.prefetchQuery(callOptions('runs.list', {})).then(loadPagesWhenIdle);

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element with the id "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Tooltip.Provider delayDuration={400} skipDelayDuration={200}>
        <Router hook={useHashLocation}>
          <ErrorBoundary where="the window">
            <App />
          </ErrorBoundary>
        </Router>
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
);

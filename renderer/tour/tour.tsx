// The guided tour: a bar under the page that says what there is to see, while the page itself shows it with a frame around
// it. Six steps, by button or key; it can be left at any time and continues where it was left, also after a restart.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { call, useEvent } from '../bridge.ts';
import { markParting } from '../compare/parting.ts';
import { Button } from '../components/button.tsx';
import { Keys } from '../components/keys.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { useActions } from '../state/actions.ts';
import { toastError } from '../state/toasts.ts';
import { useOpenSample } from './sample-button.tsx';
import { STEPS, type TourState, useTour } from './state.ts';
import { loadSteps, type TourStep } from './steps.ts';
import styles from './tour.module.css';

export function Tour() {
  const [tour, setTour] = useTour();
  const sample = useOpenSample();
  /** Continues with the study that is there, or fetches the sample first. */
  const begin = (): void => {
    const again = async (): Promise<void> => {
      const { studies } = await call('studies.list', {});
      if (!studies.some(({ id }) => id === tour.study)) return sample.open();
      setTour({ ...tour, step: tour.step === STEPS ? 0 : tour.step, open: true });
    };
    again().catch((error: unknown) => toastError('Could not start the tour', error));
  };
  useEvent('system.menuCommand', ({ command }) => {
    if (command === 'tour') begin();
  });
  useActions([
    {
      id: 'tour.begin',
      title: tour.step > 0 && tour.step < STEPS ? 'Continue the guided tour' : 'Guided tour of the sample study',
      group: 'Help',
      words: ['tutorial'],
      run: begin,
    },
  ]);
  if (!tour.open || tour.study === null) return null;
  return <TourBar study={tour.study} tour={tour} onTour={setTour} />;
}

function TourBar({ study, tour, onTour }: { study: number; tour: TourState; onTour: (state: TourState) => void }) {
  const [location, navigate] = useLocation();
  const client = useQueryClient();
  const heading = useRef<HTMLHeadingElement>(null);
  const steps = useQuery({
    queryKey: ['tour', study],
    queryFn: () => loadSteps(study, client),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const shown = steps.data?.[tour.step - 1];
  const show = (step: TourStep | undefined): void => {
    if (!step) return;
    step.prepare?.();
    navigate(step.address);
  };
  const go = (step: number): void => {
    markParting(null);
    if (step > STEPS) return onTour({ ...tour, step: STEPS, open: false });
    onTour({ ...tour, step });
    show(steps.data?.[step - 1]);
    return undefined;
  };
  const leave = (): void => {
    markParting(null);
    onTour({ ...tour, open: false });
  };
  const ready = steps.data !== undefined;
  useActions([
    { id: 'tour.next', title: 'Next step of the tour', group: 'Guided tour', keys: '.', run: () => ready && go(tour.step + 1) },
    {
      id: 'tour.back',
      title: 'Previous step of the tour',
      group: 'Guided tour',
      keys: ',',
      run: () => ready && tour.step > 0 && go(tour.step - 1),
    },
    { id: 'tour.leave', title: 'Leave the tour', group: 'Guided tour', keys: 'Escape', run: leave },
  ]);
  // Screen readers follow the focus: each stop begins at its heading.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [tour.step]);
  const arrived = shown !== undefined && sameplace(location, shown.address);
  useSpotlight(arrived ? shown : undefined);

  return (
    <section className={styles.bar} aria-labelledby="tour-heading">
      <div className={styles.words}>
        <h2 id="tour-heading" ref={heading} tabIndex={-1} className={styles.heading}>
          {shown ? `${tour.step} of ${STEPS}: ${shown.title}` : 'Guided tour in six steps'}
        </h2>
        {tour.step === 0 && (
          <p>
            Learning curves, where two arms diverge, the episodes behind that point, a failure step by step, two policies side by side, and
            the verdict: all from the study you just opened. About three minutes; leave at any time.
          </p>
        )}
        {shown && <p>{shown.text}</p>}
        {steps.isPending && <Loading label="Preparing the tour" rows={1} />}
        {steps.isError && <ErrorState title="Could not prepare the tour" error={steps.error} retry={() => void steps.refetch()} />}
      </div>
      <div className={styles.buttons}>
        <Button kind="quiet" onClick={leave}>
          {tour.step === 0 ? 'Not now' : 'Leave the tour'} <Keys keys="Escape" />
        </Button>
        {shown && !arrived && <Button onClick={() => show(shown)}>Show again</Button>}
        {tour.step > 0 && (
          <Button disabled={!ready} onClick={() => go(tour.step - 1)}>
            Back <Keys keys="," />
          </Button>
        )}
        <Button kind="primary" disabled={!ready} onClick={() => go(tour.step + 1)}>
          {tour.step === 0 ? 'Start' : tour.step === STEPS ? 'Done' : 'Next'} <Keys keys="." />
        </Button>
      </div>
    </section>
  );
}

/** A replay without an episode continues to its first one. */
function sameplace(location: string, address: string): boolean {
  return location === address || location.startsWith(`${address}/`);
}

/** Frames what the step points at, once it is on the page, and brings it into view. */
function useSpotlight(step: TourStep | undefined): void {
  useEffect(() => {
    if (!step) return undefined;
    let framed: Element | null = null;
    const look = (): void => {
      const found = document.querySelector(`[data-tour-id="${step.target}"]`);
      if (!found || found === framed) return;
      framed?.removeAttribute('data-tour');
      framed = found;
      found.setAttribute('data-tour', 'here');
      found.scrollIntoView({ block: 'start' });
    };
    look();
    const observer = new MutationObserver(look);
    const main = document.querySelector('main');
    if (main) observer.observe(main, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      framed?.removeAttribute('data-tour');
    };
  }, [step]);
}

// The worker process: whether it is well, why it last died, and a self-test that goes the whole way (native runtime,
// process border) in a moment.

import { useMutation } from '@tanstack/react-query';
import { call, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge, Stat, Stats } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import styles from './settings.module.css';

const STEPS = 50;
const TONES = { stopped: 'neutral', starting: 'neutral', ready: 'success', restarting: 'warning', failed: 'failure' } as const;
const WORDS = {
  stopped: 'not started',
  starting: 'starting',
  ready: 'ready',
  restarting: 'restarting',
  failed: 'failed',
} as const;

export function WorkerProcess() {
  const status = useCall('worker.status', {});
  const test = useMutation({ mutationFn: () => call('worker.selfTest', { steps: STEPS }) });
  const restart = useMutation({ mutationFn: () => call('worker.restart', {}) });

  return (
    <Section
      title="Worker process"
      hint="Computes “What if…” rollouts, so that the window never waits and survives a crash in native code. Each run trains in its process."
    >
      <Card>
        {status.data ? (
          <div className={styles.process}>
            <Stats>
              <Stat label="State" value={<Badge tone={TONES[status.data.state]}>{WORDS[status.data.state]}</Badge>} />
              <Stat label="Process id" value={status.data.pid ?? '–'} />
              <Stat label="Restarts" value={status.data.restarts} note={status.data.reason || 'no crashes'} />
              {test.data && (
                <Stat
                  label="Self-test"
                  value={
                    test.data.value === test.data.expected ? <Badge tone="success">passed</Badge> : <Badge tone="failure">failed</Badge>
                  }
                  note={`${test.data.backends.join(', ')}; ${STEPS} steps in ${test.data.milliseconds.toFixed(0)} ms`}
                />
              )}
            </Stats>
            <div className={styles.buttons}>
              {status.data.state === 'failed' && <Button onClick={() => restart.mutate()}>Restart</Button>}
              <Button onClick={() => test.mutate()} disabled={test.isPending}>
                Run self-test
              </Button>
            </div>
          </div>
        ) : (
          <Loading label="Loading status" />
        )}
        {test.isPending && <Loading label="Computing" />}
        {test.error && <ErrorState title="The self-test failed" error={test.error} retry={() => test.mutate()} />}
      </Card>
    </Section>
  );
}

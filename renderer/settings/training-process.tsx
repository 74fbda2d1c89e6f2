// The training process: whether it is well, why it last died, and a self-test that goes the whole way (native runtime,
// process border, live stream) in a moment.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Card, Section } from '../components/page.tsx';
import { Badge, Progress, Stat, Stats } from '../components/stat.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { openStream, useStream } from '../stream.ts';
import styles from './settings.module.css';

const STEPS = 50;
const TONES = { stopped: 'neutral', starting: 'neutral', ready: 'success', restarting: 'warning', failed: 'failure' } as const;
const WORDS = {
  stopped: 'not started',
  starting: 'starting',
  ready: 'ready',
  restarting: 'restarting',
  failed: 'stopped working',
} as const;

export function TrainingProcess() {
  const status = useCall('training.status', {});
  const [seen, setSeen] = useState(0);
  useStream((message) => {
    if (message.kind === 'self-test') setSeen(message.step);
  });
  const test = useMutation({
    mutationFn: async () => {
      setSeen(0);
      await openStream();
      return call('training.selfTest', { steps: STEPS });
    },
  });
  const restart = useMutation({ mutationFn: () => call('training.restart', {}) });

  return (
    <Section
      title="Training process"
      hint="Training runs in a process of its own: the window never waits for it, and a crash in native code costs a run its current step at most."
    >
      <Card>
        {status.data ? (
          <div className={styles.process}>
            <Stats>
              <Stat label="State" value={<Badge tone={TONES[status.data.state]}>{WORDS[status.data.state]}</Badge>} />
              <Stat label="Process id" value={status.data.pid ?? '–'} />
              <Stat label="Restarts" value={status.data.restarts} note={status.data.reason || 'never ended unexpectedly'} />
              {test.data && (
                <Stat
                  label="Self-test"
                  value={
                    test.data.value === test.data.expected ? <Badge tone="success">passed</Badge> : <Badge tone="failure">failed</Badge>
                  }
                  note={`${test.data.backends.join(', ')}; ${seen} of ${STEPS} steps seen, ${test.data.milliseconds.toFixed(0)} ms`}
                />
              )}
            </Stats>
            <div className={styles.buttons}>
              {status.data.state === 'failed' && <Button onClick={() => restart.mutate()}>Start again</Button>}
              <Button onClick={() => test.mutate()} disabled={test.isPending}>
                Run the self-test
              </Button>
            </div>
          </div>
        ) : (
          <Loading label="Asking the training process" />
        )}
        {test.isPending && <Progress label="Self-test" value={seen / STEPS} />}
        {test.error && <ErrorState title="The self-test did not finish" error={test.error} retry={() => test.mutate()} />}
      </Card>
    </Section>
  );
}

// A run's state as a badge: always a word, and an icon where it matters.

import type { RunState } from '../../main/base/vocabulary.ts';
import type { IconName } from './icons.tsx';
import { Badge } from './stat.tsx';
import type { Tone } from './stat.tsx';

const LOOKS: Readonly<Record<RunState, { tone: Tone; icon?: IconName; word: string }>> = {
  queued: { tone: 'neutral', icon: 'clock', word: 'queued' },
  running: { tone: 'accent', icon: 'start', word: 'running' },
  paused: { tone: 'neutral', icon: 'pause', word: 'paused' },
  stopping: { tone: 'accent', icon: 'stop', word: 'stopping' },
  stopped: { tone: 'neutral', icon: 'stop', word: 'stopped' },
  done: { tone: 'neutral', icon: 'check', word: 'done' },
  failed: { tone: 'failure', word: 'failed' },
  interrupted: { tone: 'warning', word: 'interrupted' },
};

export function RunStateBadge({ state }: { state: RunState }) {
  const { tone, icon, word } = LOOKS[state];
  return (
    <Badge tone={tone} {...(icon && { icon })}>
      {word}
    </Badge>
  );
}

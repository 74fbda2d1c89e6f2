// An episode as plain text, for a note, an issue or a paper.

import type { Replay } from '../../main/lab/features/episodes.ts';
import { formatValue } from '../format.ts';

export const episodeLink = (run: number, episode: number): string => `/replay/${run}/${episode}`;

export function episodeText(replay: Replay): string {
  const { run, id, task, tier, category, update, purpose, vstar } = replay;
  const outcome = replay.success ? 'success' : `failure (${replay.diagnosis?.failure ?? 'unknown'})`;
  const lines = [
    `${replay.instruction}`,
    `Run ${run.id} ${run.name} (${run.variant}, seed ${run.seed}), update ${update}, ${purpose}${id === null ? ', re-sampled' : `, episode ${id}`}`,
    `Task ${task} (${category}, ${tier}): ${outcome}, return ${formatValue(replay.return)}${vstar ? `, V* ${formatValue(vstar.value)}` : ''}`,
    '',
  ];
  replay.steps.forEach((step, index) => {
    lines.push(`${index + 1}. ${step.observation}`);
    if (step.thought) lines.push(`   thought: ${step.thought}`);
    lines.push(`   > ${step.action}`);
    lines.push(`   reward ${formatValue(step.reward)} (${step.reason})${step.valid ? '' : ', invalid'}`);
  });
  lines.push(`End: ${replay.finalObservation}`);
  if (replay.diagnosis) lines.push('', `Why it failed: ${replay.diagnosis.meaning}. ${replay.diagnosis.evidence}`);
  return `${lines.join('\n')}\n`;
}

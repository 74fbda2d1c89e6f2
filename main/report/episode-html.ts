// One episode as a single HTML file that opens anywhere and needs nothing else: task, outcome, and every step with what the agent
// saw, did (each token shaded by its probability, with its numbers in the tooltip), got, and what the oracle would have done.

import { html as escape, percent } from '../base/format.ts';
import type { readReplay } from '../replay/replay.ts';

type Replay = ReturnType<typeof readReplay>;
type Step = Replay['steps'][number];

const STYLE = `
  body { font: 15px/1.5 system-ui, 'Segoe UI', 'Liberation Sans', sans-serif; color: #1c1d1f; background: #fbfbfa; margin: 0; }
  main { max-width: 860px; margin: 32px auto; padding: 0 20px; overflow-wrap: anywhere; }
  h1 { font-size: 22px; margin: 0 0 6px; } .muted { color: #57595e; } .good { color: #18744a; } .bad { color: #b3261e; }
  section { margin: 14px 0; padding: 12px 16px; border: 1px solid #e5e4e1; border-radius: 10px; background: #fff; }
  h2 { font-size: 14px; margin: 0 0 6px; color: #57595e; } pre { margin: 0 0 10px; font: 13px/1.5 ui-monospace, Menlo, monospace; white-space: pre-wrap; }
  .token { padding: 1px 3px; border-radius: 3px; font: 14px ui-monospace, Menlo, monospace; } p { margin: 6px 0; } .comment { white-space: pre-wrap; } footer { color: #57595e; font-size: 13px; }`;

/** `comment`: what a person noted about it; empty for none. */
export function episodeHtml(replay: Replay, comment = ''): string {
  const { run, instruction, success, diagnosis, steps } = replay;
  const outcome = success
    ? '<strong class="good">Success</strong>'
    : `<strong class="bad">Failure: ${escape(diagnosis?.failure ?? 'unknown')}</strong>`;
  const facts = [
    `run ${run.id} ${run.name}`,
    `${run.variant}, seed ${run.seed}`,
    `update ${replay.update}`,
    `task ${replay.task}`,
    replay.category,
  ];
  const body = [
    `<h1>${escape(instruction)}</h1>`,
    `<p>${outcome} · return ${number(replay.return)}${replay.vstar ? ` · V* ${number(replay.vstar.value)}` : ''} · ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}</p>`,
    `<p class="muted">${escape(facts.filter(Boolean).join(' · '))}</p>`,
    diagnosis ? `<p>${escape(diagnosis.evidence)}</p>` : '',
    comment ? `<section><h2>Comment</h2><p class="comment">${escape(comment)}</p></section>` : '',
    ...steps.map(stepHtml),
    `<section><h2>Final observation</h2><pre>${escape(replay.finalObservation)}</pre></section>`,
    '<footer>Tokens: the darker, the less probable under the policy. Point at one for its numbers. Exported from Astrolab.</footer>',
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(instruction)}</title><style>${STYLE}</style></head>
<body><main>${body.join('\n')}</main></body></html>
`;
}

const number = (value: number): string => String(Number(value.toFixed(4))).replace('-', '−');

function stepHtml(step: Step, index: number): string {
  const tokens = step.words.map(({ text, probability, logRatio, advantage, entropy }) => {
    const facts = [
      probability === null ? '' : `probability ${percent(probability)}`,
      logRatio === null ? '' : `log-ratio ${number(logRatio)}`,
      advantage === null ? '' : `advantage ${number(advantage)}`,
      entropy === null ? '' : `entropy ${number(entropy)}`,
    ];
    const depth = probability === null ? 0 : Math.round((1 - probability) * 46);
    const colour = `background: rgb(0 114 178 / ${depth}%)`;
    return `<span class="token" style="${colour}" title="${escape(facts.filter(Boolean).join(', '))}">${escape(text)}</span>`;
  });
  const oracle = step.oracle === null || step.oracle === step.action ? '' : ` · oracle: <code>${escape(step.oracle)}</code>`;
  return [
    `<section><h2>Step ${index + 1}</h2><pre>${escape(step.observation)}</pre>`,
    step.thought ? `<p class="muted">${escape(step.thought)}</p>` : '',
    `<p>${tokens.length > 0 ? tokens.join(' ') : `<code>${escape(step.action)}</code>`}</p>`,
    `<p class="muted">reward ${number(step.reward)} (${escape(step.reason)})${step.valid ? '' : ' · invalid'}${oracle}</p></section>`,
  ].join('\n');
}

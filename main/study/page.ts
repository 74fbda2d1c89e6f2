// The report of a study as one Markdown page with figures beside it, written from the database: what was run, every arm,
// the learning curves, the tuning, and every claim with its experiment, figure, paired statistics and verdict. Of its
// text only claims and discussion are typed by a person, in the study's definition.

import { aggregate, mean } from '../base/statistics.ts';
import { type EvaluationTable, tabulate } from '../evaluation/evaluate.ts';
import { barFigure, type FigureBar, type FigureLine, lineFigure } from '../report/figures.ts';
import { duration, markdown, percent, points } from '../base/format.ts';
import { BUDGET_NAMES, BUDGETS, unequalBudgets } from '../report/budget.ts';
import { markdownTable } from '../report/report.ts';
import type { ReportFile } from '../report/study-report.ts';
import type { Run } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { BASELINES, measureWords } from './definition.ts';
import { resultsOf } from './findings.ts';
import type { ClaimRecord, StudyRecord } from './record.ts';
import type { Verdict } from '../base/vocabulary.ts';
import type { ResultsBySeed } from '../evaluation/pairing.ts';
import { RULE, valueOf } from './verdict.ts';

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  supported: '**supported**',
  refuted: '**refuted**',
  equivalent: '**equivalent**',
  inconclusive: 'inconclusive',
};

interface Material {
  readonly store: Store;
  readonly record: StudyRecord;
  readonly sides: ReadonlyMap<string, ResultsBySeed>;
  readonly runs: readonly Run[];
  readonly titles: (id: string) => string;
  /** Folder of the figures, as the page links to it. */
  readonly folder: string;
}

/** The page and its figures; names are relative to the page's folder. */
export function studyPage(store: Store, record: StudyRecord, name: string, folder: string): ReportFile[] {
  const runs = record.arms.flatMap((arm) => arm.runs.flatMap(({ uid }) => store.runs.findByUid(uid) ?? []));
  if (runs.length === 0)
    throw new Error(`The study ${record.definition} has no finished runs yet: "lab study run ${record.definition}" makes them`);
  const titles = (id: string): string => record.arms.find((arm) => arm.id === id)?.title ?? BASELINE_TITLES[id] ?? id;
  const material: Material = {
    store,
    record,
    sides: resultsOf(store, record),
    runs: [...new Map(runs.map((run) => [run.id, run])).values()],
    titles,
    folder,
  };
  const learning = learningFigures(material);
  const claims = record.claims.map((claim, index) => ({ claim, figures: claimFigures(material, claim, index + 1) }));
  const text = [
    `# ${markdown(record.title)}`,
    markdown(record.question),
    about(material, name),
    '## Verdicts',
    verdictTable(record.claims),
    `How a verdict is reached: ${RULE}`,
    frozenText(record),
    '## All arms',
    `Success is on the test tasks, whose targets occur neither in training nor in demonstrations, ${howPlayed(material)}. Mean and inter-quartile mean (IQM) are over seeds, with 95% bootstrap intervals over seeds; with few seeds these say little about seeds that were not run.`,
    armTable(material),
    ...(record.arms.some(({ budget }) => budget) ? ['### What a run of each arm spent', budgetTable(record)] : []),
    ...learning.map(({ name: file, title }) => image(title, file)),
    ...tuningSection(record),
    '## Claim by claim',
    ...claims.flatMap(({ claim, figures }, index) => claimSection(claim, index + 1, figures)),
    ...(record.discussion === '' ? [] : ['## Discussion', markdown(record.discussion)]),
  ].join('\n\n');
  return [
    { name, text: [`${text}\n`] },
    ...[...learning, ...claims.flatMap(({ figures }) => figures)].map(({ name: file, svg }) => ({ name: file, text: [svg] })),
  ];
}

const BASELINE_TITLES: Readonly<Record<string, string>> = {
  reference: 'Reference policy, untrained',
  heuristic: 'Heuristic',
  random: 'Random agent',
};

interface Figure {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

const image = (title: string, file: string): string => `![${markdown(title)}](${file})`;

/** Greedy, or at which temperature; taken from the final evaluation itself. */
function howPlayed({ store, runs }: Material): string {
  const [first] = runs;
  const temperature = (first && store.evaluations.finalOrLatest(first.id)?.temperature) ?? 0;
  return temperature === 0 ? 'played greedily' : `with actions sampled at temperature ${temperature}, as in training`;
}

function about({ record, runs }: Material, name: string): string {
  const [first] = runs;
  const config = first?.config;
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const whole = runs.reduce((sum, run) => sum + ((run.finishedAt ?? 0) - (run.startedAt ?? 0)) / 1000, 0);
  const batch = config?.training.batch ?? 0;
  const versions = Object.entries(first?.versions ?? {}).map(([part, version]) => `${part} ${version}`);
  const command = `npm run lab -- study run ${record.definition}${record.set.map((change) => ` --set ${change}`).join('')} --updates ${record.updates}`;
  return [
    `- ${runs.length} runs: ${record.arms.length} arms, seeds ${record.seeds.join(', ')} (arms with fewer runs use the first of them)`,
    budgetLine(record, batch),
    `- World ${first?.world ?? '–'}, preset ${first?.preset ?? '–'}, policy ${config?.policy.width} wide with ${config?.policy.layers} layers; ${config?.evaluation.finalTasks} test tasks a run`,
    `- Time of all runs together, one thread each: ${duration(seconds)} for their updates, ${duration(whole)} from start to end (with references, V\\* and pauses); tuning not counted; made with ${versions.join(', ')}`,
    `- Written by the lab from its database: \`${command}\`, then \`npm run lab -- study report ${record.definition} --out docs/${name}\``,
  ].join('\n');
}

/** What the arms have in common and what they do not. */
function budgetLine({ updates, equalise, arms }: StudyRecord, batch: number): string {
  const equal = {
    episodes: `${updates} updates of ${batch} episodes, ${updates * batch} episodes a run`,
    optimizerSteps: `${updates} updates of ${batch} episodes with one optimizer step each`,
    tokens: `the tokens of ${updates} updates of ${batch} episodes`,
  }[equalise];
  const unequal = unequalBudgets(arms.map(({ title, budget }) => ({ name: title, budget })));
  return `- Equal for all arms: ${equal}.${unequal.length > 0 ? ` **Not equal:** ${markdown(unequal.join('; '))}.` : ''}`;
}

function budgetTable({ arms }: StudyRecord): string {
  const rows = arms.flatMap(({ title, budget }) =>
    budget ? [[title, ...BUDGETS.map((key) => Math.round(budget[key]).toLocaleString('en'))]] : [],
  );
  return markdownTable(['arm', ...BUDGETS.map((key) => BUDGET_NAMES[key])], rows);
}

/** When the definition was frozen, and what was changed since. */
function frozenText({ frozen, changes }: StudyRecord): string {
  if (!frozen) return 'This study was made before definitions were frozen, so what was changed along the way is not recorded.';
  const begin = `The definition was frozen on ${frozen.date.slice(0, 10)}, when the first run started (hash ${frozen.hash.slice(0, 12)})`;
  if (changes.length === 0) return `${begin}, and was not changed since.`;
  const cell = (value: unknown): string => (value === null ? '–' : JSON.stringify(value));
  const rows = changes.map(({ key, before, after }) => [key, cell(before), cell(after)]);
  return `${begin}. **Changed since:**\n\n${markdownTable(['field', 'frozen', 'now'], rows)}`;
}

function verdictTable(claims: readonly ClaimRecord[]): string {
  return markdownTable(
    ['claim', 'by itself', 'corrected (Holm)'],
    claims.map(({ claim, verdict, corrected }, index) => [
      `${index + 1}. ${claim}`,
      { markup: VERDICT_WORDS[verdict] },
      { markup: corrected ? VERDICT_WORDS[corrected] : '–' },
    ]),
  );
}

const range = ({ value, low, high }: { value: number; low: number; high: number }): string =>
  `${points(value)} (${points(low)}–${points(high)})`;

/** One seed says nothing of the spread between seeds. */
const overSeeds = (estimate: { value: number; low: number; high: number }, seeds: number): string =>
  seeds > 1 ? range(estimate) : `${points(estimate.value)} (one seed)`;

function armTable({ record, sides, titles, store }: Material): string {
  const failures = (table: EvaluationTable): string =>
    Object.entries(table.failures)
      .filter(([, { count }]) => count > 0)
      .map(([name, { share }]) => `${name} ${points(share)}`)
      .join(', ') || 'none';
  const rows = record.arms.map((arm) => {
    const all = [...(sides.get(arm.id)?.values() ?? [])].flat();
    const table = tabulate(all);
    const trained = arm.runs.flatMap(({ uid }) => store.runs.findByUid(uid)?.seconds ?? []);
    return [
      arm.title,
      arm.mean ? overSeeds(arm.mean, arm.runs.length) : '–',
      arm.iqm ? overSeeds(arm.iqm, arm.runs.length) : '–',
      arm.runs.map(({ success }) => (success === null ? '–' : points(success))).join(', '),
      table.steps.toFixed(2),
      failures(table),
      mean(trained).toFixed(0),
    ];
  });
  const baselines = BASELINES.flatMap((name) => {
    const [results] = [...(sides.get(name)?.values() ?? [])];
    if (!results) return [];
    const table = tabulate(results);
    return [
      [
        titles(name),
        `${range({ value: table.success.rate, ...table.success })} Wilson`,
        '–',
        '–',
        table.steps.toFixed(2),
        failures(table),
        '–',
      ],
    ];
  });
  return markdownTable(
    ['arm', 'success, % (95%)', 'IQM', 'by seed', 'steps', 'failures, % of episodes', 's a run'],
    [...rows, ...baselines],
  );
}

const LINES = 8;

/** Validation success during training: the tuned arms in one figure, the others in further ones that can still be read. */
function learningFigures(material: Material): Figure[] {
  const { record, folder } = material;
  const tuned = record.arms.filter(({ id }) => id in record.tuned);
  const others = record.arms.filter((arm) => !tuned.includes(arm));
  const groups = tuned.length > 0 ? [tuned] : [];
  for (let start = 0; start < others.length; start += LINES) groups.push(others.slice(start, start + LINES));
  return groups.map((arms, index) => {
    const title = `Validation success during training, mean over seeds${groups.length > 1 ? ` (${index + 1} of ${groups.length})` : ''}`;
    const lines = arms.map((arm) => learningLine(material, arm));
    return { name: `${folder}/learning${index === 0 ? '' : `-${index + 1}`}.svg`, title, svg: lineFigure(title, lines) };
  });
}

function learningLine({ store }: Material, arm: StudyRecord['arms'][number]): FigureLine {
  const rates = new Map<number, number[]>();
  for (const { uid } of arm.runs) {
    const run = store.runs.findByUid(uid);
    for (const { update, kind, agent, success } of run ? store.evaluations.list(run.id) : []) {
      if (kind === 'periodic' && agent === 'policy') rates.set(update, [...(rates.get(update) ?? []), success.k / Math.max(1, success.n)]);
    }
  }
  const line = [...rates].sort(([a], [b]) => a - b);
  return {
    label: arm.title,
    points: line.map(([update, own]) => {
      const { value, low, high } = aggregate([own]).mean;
      return { x: update, y: value, low, high };
    }),
  };
}

function tuningSection({ tuning, tuned }: StudyRecord): string[] {
  if (tuning.length === 0) return [];
  const settings = (own: Readonly<Record<string, unknown>>): string =>
    Object.entries(own)
      .map(([key, value]) => `${key.replace(/^.*\./, '')} ${String(value)}`)
      .join(', ') || 'default';
  const counts = [...new Set(tuning.map(({ trials }) => trials.length))];
  const rows = tuning.flatMap(({ subject, best, trials }) =>
    trials.map((trial) => [
      subject,
      `${trial.trial}${trial.trial === best ? ' ← taken' : ''}`,
      settings(trial.settings),
      trial.success ? `${percent(trial.success.rate)} (${points(trial.success.low)}–${points(trial.success.high)})` : 'failed',
      trial.return === null ? '–' : trial.return.toFixed(3),
    ]),
  );
  return [
    '## Tuning',
    `Each of the ${Object.keys(tuned).length} tuned arms had ${counts.join(' or ')} trials on the same validation tasks, its default setting first; the one that solves the most is taken. Test tasks were not used.`,
    markdownTable(['arm', 'trial', 'setting', 'validation success', 'return'], rows),
    tuning.map(({ words }) => `- ${markdown(words)}`).join('\n'),
  ];
}

/** One bar chart per measure, the arms of the claim's tests side by side; none while they have no runs. */
function claimFigures({ store, sides, titles, folder }: Material, { id, tests }: ClaimRecord, number: number): Figure[] {
  const measures = [...new Set(tests.map(({ measure }) => measure))];
  return measures.flatMap((measure) => {
    const arms = [...new Set(tests.filter((test) => test.measure === measure).flatMap(({ a, b }) => [a, b]))];
    const title = `Claim ${number}: ${measureWords(store.catalog, measure)} (mean over seeds, 95%)`;
    const bars = arms.flatMap((arm): FigureBar[] => {
      const rates = [...(sides.get(arm)?.values() ?? [])].map((results) => mean(results.map((result) => valueOf(result, measure))));
      return rates.length > 0 ? [{ label: titles(arm), ...aggregate([rates]).mean }] : [];
    });
    const name = `${folder}/${id}${measures.length > 1 ? `-${measure}` : ''}.svg`;
    return bars.length > 0 ? [{ name, title, svg: barFigure(title, bars) }] : [];
  });
}

function claimSection(
  { claim, source, experiment, verdict, corrected, tests, discussion }: ClaimRecord,
  number: number,
  figures: readonly Figure[],
): string[] {
  return [
    `### ${number}. ${markdown(claim)}`,
    `*Source:* ${markdown(source)}`,
    `*Experiment:* ${markdown(experiment)}`,
    ...figures.map(({ title, name }) => image(title, name)),
    tests
      .map(({ words, verdict: own, corrected: holm, expect }) => {
        const claimed = expect === 'equivalent' ? 'they are equivalent' : `the first is ${expect.replace('-', ' ')}`;
        return `- ${markdown(words)} Claimed: ${claimed}. Result: ${VERDICT_WORDS[own]}${holm ? `, corrected: ${VERDICT_WORDS[holm]}` : ''}.`;
      })
      .join('\n'),
    `**Verdict: ${verdict}${corrected ? `; corrected for the number of tests: ${corrected}` : ''}.**`,
    ...(discussion === '' ? [] : [markdown(discussion)]),
  ];
}

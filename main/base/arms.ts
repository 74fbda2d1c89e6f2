// Runs into arms. The seeds of one configuration are an arm; what its runs are called never decides where they belong, it only labels the
// arm. Pure, so that the window, reports and comparisons group alike.

/** What is needed of a run. */
export interface ArmRun {
  readonly run: number;
  readonly name: string;
  readonly variant: string;
  readonly seed: number;
  /** Equal for runs that differ in their seed only. */
  readonly group: string;
}

/** A setting with one value for each of the runs, in their order. */
export interface DifferingSetting {
  readonly key: string;
  readonly values: readonly unknown[];
}

export interface ArmOf<T> {
  readonly key: string;
  readonly members: readonly T[];
}

/** The seeds of each configuration, in the order of the first. */
export const byConfiguration = <T extends Pick<ArmRun, 'group'>>(runs: readonly T[]): T[][] => [
  ...Map.groupBy(runs, ({ group }) => group).values(),
];

/** Configurations of several worlds have nothing in common but the algorithm. */
export const usualGrouping = (runs: readonly { readonly world: string }[]): 'config' | 'variant' =>
  new Set(runs.map(({ world }) => world)).size > 1 ? 'variant' : 'config';

/** `by`: `config`, `variant`, `run`, or the key of a setting that differs. In the order of the first run of each arm. */
export function groupIntoArms<T extends ArmRun>(runs: readonly T[], by: string, differing: readonly DifferingSetting[]): ArmOf<T>[] {
  if (by === 'config') {
    const arms = byConfiguration(runs);
    const labels = labelsOf(arms, runs, differing);
    return arms.map((members, index) => ({ key: labels[index] ?? '', members }));
  }
  const values = differing.find(({ key }) => key === by)?.values;
  const places = new Map(runs.map((run, index) => [run, index]));
  const keyOf = (run: T): string => {
    if (by === 'run') return `#${run.run} ${run.name}, seed ${run.seed}`;
    return by === 'variant' ? run.variant : `${by} = ${shownValue(values?.[places.get(run) ?? -1])}`;
  };
  return [...Map.groupBy(runs, keyOf)].map(([key, members]) => ({ key, members }));
}

export function shownValue(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The algorithm where that tells the arms apart, else the name of most runs; what else differs is added where names are shared. */
function labelsOf<T extends ArmRun>(arms: readonly (readonly T[])[], runs: readonly T[], differing: readonly DifferingSetting[]): string[] {
  const variants = arms.map(([first]) => first?.variant ?? '');
  if (new Set(variants).size === arms.length) return variants;
  const ways: ((arm: readonly T[], alike: readonly (readonly T[])[]) => string)[] = [
    ([first]) => ` (${first?.variant})`,
    (arm, alike) => settingsText(arm, alike, runs, differing),
    (arm) => ` (${arm.map(({ run }) => `#${run}`).join(', ')})`,
  ];
  let labels = arms.map(commonName);
  for (const way of ways) {
    const before = labels;
    const alike = (label: string): (readonly T[])[] => arms.filter((_, index) => before[index] === label);
    labels = before.map((label, index) => (alike(label).length > 1 ? label + way(arms[index] ?? [], alike(label)) : label));
  }
  return labels;
}

/** Of several names the most frequent, then the first: a run that was renamed does not rename its arm. */
function commonName<T extends ArmRun>(arm: readonly T[]): string {
  const counts = [...Map.groupBy(arm, ({ name }) => name)].map(([name, members]) => ({ name, count: members.length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.name ?? '';
}

/** Settings beyond these would make a label unreadable. */
const MOST_SETTINGS = 3;

/** `, learningRate = 0.001`: the settings in which arms of one label differ. */
function settingsText<T extends ArmRun>(
  arm: readonly T[],
  alike: readonly (readonly T[])[],
  runs: readonly T[],
  differing: readonly DifferingSetting[],
): string {
  const valueOf = ([first]: readonly T[], { values }: DifferingSetting): string => shownValue(values[first ? runs.indexOf(first) : -1]);
  const own = differing.filter(
    (setting) => setting.key !== 'seed' && setting.key !== 'name' && new Set(alike.map((other) => valueOf(other, setting))).size > 1,
  );
  const text = own.slice(0, MOST_SETTINGS).map((setting) => `, ${setting.key.replace(/^.*\./, '')} = ${valueOf(arm, setting)}`);
  return text.join('');
}

// The lab as it serves windows: features are loaded when they are first asked for, and what their schemas say holds for every answer and event.

import { answer, type Source } from './answer.ts';
import type { Feature, Outcome } from './definition.ts';
import type { Desktop } from './desktop.ts';
import { type EventName, FEATURES, type Payload } from './features.ts';
import { createLab } from './lab.ts';

export interface LabServer {
  answer(name: unknown, input: unknown): Promise<Outcome<unknown>>;
  /** Adds the runs of a file that the system asks to open, and shows them. */
  openFile(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Features that neither list nor use what plug-ins can add: a start does not wait for those. */
const WITHOUT_PLUGINS = ['system', 'runs'];

export interface LabOptions {
  readonly desktop: Desktop;
  /** A lab before this one has ended unexpectedly: what it trained is trained again. */
  readonly continues: boolean;
  /** Sends an event to every window. */
  readonly send: (name: string, payload: unknown) => void;
  /** So many runs train now. */
  readonly onTraining: (runs: number) => void;
}

export function openLab(dataFolder: string, { desktop, continues, send, onTraining }: LabOptions): LabServer {
  const features: Readonly<Record<string, () => Promise<Feature>>> = FEATURES;
  const loaded = new Map<string, ReturnType<Source>>();
  const lab = createLab(dataFolder, { desktop, emit, continues, onTraining });

  function emit<N extends EventName>(name: N, payload: Payload<N>): void {
    const feature = features[name.split('.')[0] ?? ''];
    if (!feature) throw new Error(`No feature has the event ${name}`);
    feature()
      .then(({ events }) => send(name, events?.[name]?.parse(payload)))
      .catch(console.error);
  }

  const loadPlugins = async (): Promise<void> => lab.useCatalog(await (await import('../plugin/load.ts')).loadCatalog(dataFolder));
  let plugins: Promise<void> | undefined;
  const load = async (name: string): ReturnType<Source> => {
    const feature = Object.hasOwn(features, name) ? features[name] : undefined;
    if (!feature) return undefined;
    if (!WITHOUT_PLUGINS.includes(name)) await (plugins ??= loadPlugins());
    const { calls, handlers, reads = {} } = await feature();
    const threaded = Object.keys(reads).map((call) => [call, (input: unknown) => lab.readers.read(name, call, input)] as const);
    return { calls, handlers: { ...Object.fromEntries(threaded), ...handlers(lab) } };
  };
  const source: Source = (name) => {
    let feature = loaded.get(name);
    if (!feature) loaded.set(name, (feature = load(name)));
    return feature;
  };

  return {
    answer: (name, input) => answer(source, name, input),
    openFile: async (file) => {
      const { importRuns } = await import('./features/transfer.ts');
      const { runs, study } = await importRuns(lab, file, () => {});
      lab.emit('system.navigate', { address: study === null ? `/runs/${runs[0] ?? ''}` : `/compare/study-${study}` });
    },
    close: () => lab.close(),
  };
}

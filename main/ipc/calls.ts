// Everything behind the border, loaded beside the window and not before it. One line per feature: its calls in the
// contract, and its handlers, whose code is loaded when one of them is first asked for, so that a start pays for the
// list of runs and for nothing else.

import { setTimeout } from 'node:timers/promises';
import type { CallName, calls } from '../../preload/contract.ts';
import { chartCalls } from '../../preload/contract/charts.ts';
import { clusterCalls } from '../../preload/contract/clusters.ts';
import { compareCalls, studyCalls } from '../../preload/contract/compare.ts';
import type { CallDefinition } from '../../preload/contract/definition.ts';
import { metricCalls } from '../../preload/contract/metrics.ts';
import { modelCalls } from '../../preload/contract/models.ts';
import { playCalls } from '../../preload/contract/play.ts';
import { pluginCalls } from '../../preload/contract/plugins.ts';
import { queueCalls } from '../../preload/contract/queue.ts';
import { replayCalls } from '../../preload/contract/replay.ts';
import { runCalls } from '../../preload/contract/runs.ts';
import { settingsCalls } from '../../preload/contract/settings.ts';
import { studyRunCalls } from '../../preload/contract/study-runs.ts';
import { systemCalls } from '../../preload/contract/system.ts';
import { workerCalls } from '../../preload/contract/worker.ts';
import { transferCalls } from '../../preload/contract/transfer.ts';
import { worldDataCalls } from '../../preload/contract/world-data.ts';
import type { SettingsFile } from '../base/settings.ts';
import { createContext } from './context.ts';
import type { Context } from './context.ts';
import { dispatch } from './dispatch.ts';
import type { Caller, Handlers } from './dispatch.ts';

interface Feature {
  readonly calls: Readonly<Record<string, CallDefinition>>;
  /** Loaded before it is asked for, once the list of runs is out: the pages that are opened next need it. */
  readonly early?: true;
  load(context: Context): Promise<Partial<Handlers<typeof calls>>>;
}

/** Milliseconds. */
const PAUSE = 20;

const FEATURES: readonly Feature[] = [
  { calls: systemCalls, load: async (context) => (await import('./system.ts')).systemHandlers(context) },
  { calls: transferCalls, load: async (context) => (await import('./transfer.ts')).transferHandlers(context) },
  { calls: runCalls, load: async (context) => (await import('./runs.ts')).runHandlers(context) },
  { calls: workerCalls, load: async (context) => (await import('./worker.ts')).workerHandlers(context) },
  { calls: queueCalls, load: async (context) => (await import('./queue.ts')).queueHandlers(context) },
  { calls: metricCalls, early: true, load: async (context) => (await import('./metrics.ts')).metricHandlers(context) },
  { calls: chartCalls, load: async () => (await import('./charts.ts')).chartHandlers() },
  { calls: replayCalls, early: true, load: async (context) => (await import('./replay.ts')).replayHandlers(context) },
  { calls: compareCalls, early: true, load: async (context) => (await import('./compare.ts')).compareHandlers(context) },
  { calls: modelCalls, load: async (context) => (await import('./models.ts')).modelHandlers(context) },
  { calls: studyCalls, early: true, load: async (context) => (await import('./studies.ts')).studyHandlers(context) },
  { calls: playCalls, load: async (context) => (await import('./play.ts')).playHandlers(context) },
  { calls: pluginCalls, load: async (context) => (await import('./plugins.ts')).pluginHandlers(context) },
  { calls: worldDataCalls, load: async (context) => (await import('./world-data.ts')).worldDataHandlers(context) },
  { calls: clusterCalls, load: async (context) => (await import('./clusters.ts')).clusterHandlers(context) },
  { calls: studyRunCalls, load: async (context) => (await import('./study-runs.ts')).studyRunHandlers(context) },
  { calls: settingsCalls, load: async (context) => (await import('./settings.ts')).settingsHandlers(context) },
];

export interface Calls {
  answer(caller: Caller | null, name: unknown, input: unknown): ReturnType<typeof dispatch>;
  /** How many runs train now. */
  active(): number;
  /** Adds the runs of a file that the system asks to open, and shows them. */
  openFile(file: string): Promise<void>;
  close(): Promise<void>;
}

export function openCalls(dataFolder: string, settings: SettingsFile, openWindow: (address: string) => void): Calls {
  const context = createContext(dataFolder, settings, openWindow);
  const loaded = new Map<Feature, ReturnType<Feature['load']>>();
  // Worlds and algorithms of plug-ins are there before the first feature that lists or opens them; the start itself does not wait.
  let plugins: Promise<unknown> | undefined;
  const withPlugins = async (): Promise<void> => {
    plugins ??= import('../plugin/load.ts').then(({ loadPlugins }) => loadPlugins(dataFolder));
    await plugins;
  };
  const handlersOf = async (feature: Feature): Promise<Partial<Handlers<typeof calls>>> => {
    if (feature.calls !== systemCalls && feature.calls !== runCalls) await withPlugins();
    let handlers = loaded.get(feature);
    if (!handlers) loaded.set(feature, (handlers = feature.load(context)));
    return handlers;
  };
  const source = async (name: CallName): Promise<Partial<Handlers<typeof calls>>> => {
    const feature = FEATURES.find((candidate) => Object.hasOwn(candidate.calls, name));
    return feature ? handlersOf(feature) : {};
  };
  let early: Promise<void> | undefined;
  const loadEarly = async (): Promise<void> => {
    for (const feature of FEATURES.filter((one) => one.early)) {
      // Between two features whatever was asked meanwhile is answered.
      await setTimeout(PAUSE, undefined, { ref: false });
      await handlersOf(feature);
    }
    await (await import('./compare.ts')).rehearseComparison(context);
  };
  return {
    answer: async (caller, name, input) => {
      const outcome = await dispatch(source, caller, name, input);
      // What fails here is shown when a page asks.
      if (name === 'runs.list') early ??= loadEarly().catch(() => {});
      return outcome;
    },
    active: () => context.active(),
    openFile: async (file) => {
      const { importRuns } = await import('./transfer.ts');
      const { runs, study } = await importRuns(context, file, () => {});
      context.emit('window.navigate', { address: study === null ? `/runs/${runs[0] ?? ''}` : `/compare/study-${study}` });
    },
    close: () => context.close(),
  };
}

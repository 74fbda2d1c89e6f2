// New run: choose a preset or another run to start from, change what matters in forms made from the schema, see what
// differs and what it will cost, then start it or add it to the queue.

import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { Preset } from '../../preload/contract/queue.ts';
import { callOptions, useCall } from '../bridge.ts';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { getKey } from './draft.ts';
import { Setup } from './setup.tsx';
import type { Base } from './use-order.ts';

const FIRST_PRESET = 'shop-tiny';

export default function NewRunPage() {
  const { base: address } = useParams<{ base?: string }>();
  const presets = useCall('setup.presets', {});
  const schema = useCall('setup.schema', {});
  const runNumber = Number(/^run-(\d+)$/.exec(address ?? '')?.[1] ?? 0);
  const run = useQuery({ ...callOptions('runs.get', { run: Math.max(1, runNumber) }), enabled: runNumber > 0 });
  const preferences = useCall('preferences.read', {});
  const failed = [presets, schema, run, preferences].find(({ isError }) => isError);
  if (failed) {
    return (
      <Page title="New run">
        <ErrorState title="Could not load presets and settings" error={failed.error} retry={() => void failed.refetch()} />
      </Page>
    );
  }
  const base = presets.data && baseOf(address, presets.data.presets, run.data);
  if (!base || !schema.data || !presets.data || !preferences.data) {
    return (
      <Page title="New run">
        <Loading label="Loading presets and settings" rows={8} />
      </Page>
    );
  }
  // What Settings says for new runs counts for presets; a duplicate keeps what its model had.
  const { retention } = preferences.data;
  const preferred =
    runNumber > 0 || retention === null || retention === getKey(base.config, 'retention.keep') ? {} : { 'retention.keep': retention };
  return <Setup key={base.id} base={base} preferred={preferred} presets={presets.data.presets} schema={schema.data} />;
}

function baseOf(address: string | undefined, presets: readonly Preset[], run: Answer<'runs.get'> | undefined): Base | null {
  if (address?.startsWith('run-')) {
    if (!run) return null;
    const config = z.record(z.string(), z.json()).parse(run.config);
    return { id: address, name: `run ${run.run.id} “${run.run.name}”`, preset: run.run.preset, config };
  }
  const wanted = address?.replace(/^preset-/, '') ?? FIRST_PRESET;
  const preset = presets.find(({ id }) => id === wanted) ?? presets[0];
  return preset ? { id: `preset-${preset.id}`, name: `preset ${preset.id}`, preset: preset.id, config: preset.config } : null;
}

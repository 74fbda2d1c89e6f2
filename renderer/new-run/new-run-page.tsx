// New run: choose a preset or another run to start from, change what matters in forms made from the schema, see what
// differs and what it will cost, then start it or add it to the queue.

import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { z } from 'zod';
import type { Answer } from '../../preload/contract.ts';
import type { Preset } from '../../main/lab/features/setup.ts';
import { callOptions, useCall } from '../bridge.ts';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { getKey } from './draft.ts';
import { Setup } from './setup.tsx';
import type { Base } from './use-order.ts';

const FIRST_PRESET = 'shop-minute';

export default function NewRunPage() {
  const { base: address } = useParams<{ base?: string }>();
  // What was trained since may have made their times better known.
  const presets = useQuery({ ...callOptions('setup.presets', {}), refetchOnMount: 'always' });
  const schema = useCall('setup.schema', {});
  const runNumber = Number(/^run-(\d+)$/.exec(address ?? '')?.[1] ?? 0);
  const run = useQuery({ ...callOptions('runs.get', { run: Math.max(1, runNumber) }), enabled: runNumber > 0 });
  const [, branchRun = '0', branchUpdate = '0'] = /^branch-(\d+)-(\d+)$/.exec(address ?? '') ?? [];
  const branch = useQuery({
    ...callOptions('setup.branch', { run: Math.max(1, Number(branchRun)), update: Number(branchUpdate) }),
    enabled: Number(branchRun) > 0,
  });
  const [, sizedPreset = '', size = 'full'] = /^preset-(.+)~(quick|small|medium)$/.exec(address ?? '') ?? [];
  const smaller = useQuery({
    ...callOptions('setup.sized', { preset: sizedPreset, size: size === 'quick' || size === 'small' ? size : 'medium' }),
    enabled: sizedPreset !== '',
  });
  const preferences = useCall('preferences.read', {});
  const failed = [presets, schema, run, branch, smaller, preferences].find(({ isError }) => isError);
  if (failed) {
    return (
      <Page title="New run">
        <ErrorState title="Could not load presets and settings" error={failed.error} retry={() => void failed.refetch()} />
      </Page>
    );
  }
  const branched = Number(branchRun) > 0 ? { run: Number(branchRun), update: Number(branchUpdate), data: branch.data } : null;
  const base =
    presets.data &&
    (branched
      ? branchBase(branched)
      : sizedPreset !== ''
        ? sizedBase(sizedPreset, size, smaller.data)
        : baseOf(address, presets.data.presets, run.data));
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
    runNumber > 0 || branched || retention === null || retention === getKey(base.config, 'retention.keep')
      ? {}
      : { 'retention.keep': retention };
  return <Setup key={base.id} base={base} preferred={preferred} presets={presets.data.presets} schema={schema.data} />;
}

/** A smaller version of a preset. */
function sizedBase(preset: string, size: string, data: Answer<'setup.sized'> | undefined): Base | null {
  return data ? { id: `preset-${preset}~${size}`, name: `preset ${preset}, ${size}`, preset, config: data.config } : null;
}

/** A checkpoint of another run as the base: its config, with where it starts. */
function branchBase({ run, update, data }: { run: number; update: number; data: Answer<'setup.branch'> | undefined }): Base | null {
  if (!data) return null;
  const { config, updates, best } = data;
  return {
    id: `branch-${run}-${update}`,
    name: `run ${run} at update ${update}`,
    preset: null,
    config,
    branch: { run, update, updates, best },
  };
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

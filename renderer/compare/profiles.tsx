// Performance profiles over worlds: for every level of success τ, the share of an arm's runs that lie above it. Only where the arms
// ran in more than one world, because there a mean of successes says little.

import { useMemo } from 'react';
import { useCall } from '../bridge.ts';
import { LineChart } from '../charts/line-chart.tsx';
import { Section } from '../components/page.tsx';
import { formatTick } from '../format.ts';
import { runStyle, type RunStyle } from '../theme/runs.ts';
import type { Group } from './groups.ts';

const share = (x: number): string => formatTick(x, 'share');

export function Profiles({ groups, looks }: { groups: readonly Group[]; looks: ReadonlyMap<string, RunStyle> }) {
  const asked = useMemo(() => groups.map(({ key, runs }) => ({ key, runs: [...runs] })), [groups]);
  const { data } = useCall('compare.profiles', { groups: asked });
  const series = useMemo(
    () =>
      (data?.profiles ?? []).map(({ key, n, value, low, high }) => ({
        id: key,
        label: `${key} (${n} runs)`,
        look: looks.get(key) ?? runStyle(0),
        x: data?.taus ?? [],
        y: value,
        low,
        high,
      })),
    [data, looks],
  );
  if (series.length === 0) return null;
  return (
    <Section
      title="Performance profiles"
      hint={`Share of an arm’s runs in ${data?.worlds.length} worlds (${data?.worlds.join(', ')}) whose success is above τ; every world counts the same. The band is a 95% bootstrap interval over runs within their world.`}
    >
      <LineChart title="Runs above τ" unit="share" series={series} xLabel="τ (success)" formatX={share} legend="beside" height={280} />
    </Section>
  );
}

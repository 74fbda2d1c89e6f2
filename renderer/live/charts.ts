// Which charts the Live page shows, in which order, and which metrics each one draws.

export interface ChartPlan {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** The first one names and explains the chart. */
  readonly metrics: readonly string[];
  /** The number of episodes behind a point is recorded for these. */
  readonly perUpdate?: boolean;
  /** Only where there is something to draw: runs on the CPU have none of it. */
  readonly onDevice?: boolean;
}

export const CHARTS: readonly ChartPlan[] = [
  { id: 'success', title: 'Success', unit: 'share', metrics: ['rollout.success'], perUpdate: true },
  { id: 'return', title: 'Return', unit: 'reward', metrics: ['rollout.return', 'rollout.return.std'], perUpdate: true },
  { id: 'loss', title: 'Loss', unit: '', metrics: ['loss', 'loss.policy', 'loss.value'] },
  { id: 'advantage', title: 'Advantages', unit: 'reward', metrics: ['advantage.mean', 'advantage.std'] },
  { id: 'kl', title: 'KL and log-ratio', unit: 'nats', metrics: ['logratio', 'kl.full', 'kl.k3', 'kl.old'] },
  { id: 'entropy', title: 'Entropy', unit: 'nats', metrics: ['rollout.entropy', 'entropy'] },
  { id: 'gradient', title: 'Gradient norm', unit: '', metrics: ['gradient.norm'] },
  { id: 'lengths', title: 'Steps per episode', unit: 'steps', metrics: ['rollout.steps'], perUpdate: true },
  { id: 'tokens', title: 'Response length', unit: 'tokens', metrics: ['rollout.tokens'], perUpdate: true },
  { id: 'actions', title: 'Actions', unit: 'share', metrics: ['rollout.valid', 'rollout.effective', 'rollout.repeated'], perUpdate: true },
  { id: 'groups', title: 'Signal in groups and V*', unit: 'share', metrics: ['advantage.positive', 'group.flat', 'vstar.unsolved'] },
  { id: 'speed', title: 'Throughput', unit: 'tokens/s', metrics: ['system/speed.tokens'] },
  {
    id: 'phases',
    title: 'Time per phase of an update',
    unit: 's',
    metrics: [
      'system/time.rollout',
      'system/time.scoring',
      'system/time.update',
      'system/time.environment',
      'system/time.vstar',
      'system/time.evaluation',
      'system/time.storage',
    ],
  },
  {
    id: 'device',
    title: 'Waiting for the device',
    unit: 's',
    metrics: ['system/device.waiting', 'system/time.total'],
    onDevice: true,
  },
  { id: 'device-calls', title: 'Device calls', unit: 'calls', metrics: ['system/device.calls'], onDevice: true },
  { id: 'device-kernels', title: 'Device kernels', unit: 'kernels', metrics: ['system/device.kernels'], onDevice: true },
  {
    id: 'device-bytes',
    title: 'Device traffic',
    unit: 'MB',
    metrics: ['system/device.up', 'system/device.down'],
    onDevice: true,
  },
  { id: 'memory', title: 'Memory', unit: 'MB', metrics: ['system/memory'] },
];

export const CHART_METRICS: readonly string[] = [...new Set(CHARTS.flatMap(({ metrics }) => metrics))];

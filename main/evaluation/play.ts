// A policy on fixed tasks, without learning: each task once, with the seed that every policy and agent gets for it, and the
// true names. What comes out is the report that the store keeps and the table that people read.

import type { Task } from '../environment/environment.ts';
import type { Split } from '../base/vocabulary.ts';
import type { BeamSettings } from '../policy/sampling/beam.ts';
import { type Actor, drawAt, rollout } from '../rollout/rollout.ts';
import type { EvaluationReport } from './evaluation-report.ts';
import { diagnoseTrajectory, evaluationSeed, resultOf } from './evaluate.ts';

export interface EvaluationRequest {
  readonly split: Split;
  /** The first so many tasks of the split, in the world's fixed order. */
  readonly tasks: number;
  /** 0 takes the most probable token. */
  readonly temperature: number;
  /** Beam search instead, where its width is above 1. */
  readonly beam?: BeamSettings | undefined;
  readonly seed: number;
  readonly update: number;
  readonly kind: EvaluationReport['kind'];
  /** Who plays: `policy`, or `reference`. */
  readonly agent: string;
  readonly worldHash: string;
}

export async function evaluatePolicy(
  actor: Actor,
  request: EvaluationRequest,
  progress?: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<EvaluationReport> {
  const start = performance.now();
  const { environment } = actor;
  const { split, temperature, update, kind, agent, worldHash } = request;
  const tasks: readonly Task[] = environment.tasks(split).slice(0, request.tasks);
  const requests = tasks.map((task) => {
    const seed = evaluationSeed(task, request.seed);
    return { task, seed, purpose: 'evaluation' as const, update, relabel: false, level: undefined };
  });
  const beam = request.beam && request.beam.width > 1 ? request.beam : undefined;
  const report = (done: number): void => progress?.(done, tasks.length);
  const episodes = await rollout(actor, requests, drawAt(temperature), { progress: report, signal, beam });
  const trajectories = episodes.map(({ trajectory }, index) => {
    const task = tasks[index];
    if (task) diagnoseTrajectory(trajectory, environment, task);
    return trajectory;
  });
  return {
    update,
    kind,
    agent,
    world: environment.name,
    worldHash,
    split,
    temperature,
    seconds: (performance.now() - start) / 1000,
    results: trajectories.map(resultOf),
    episodes: trajectories,
  };
}

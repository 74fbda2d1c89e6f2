// The documented interface of plug-ins (resources/plugin/astrolab.d.ts) against the lab's types, checked by the compiler: what the lab
// gives must have all that is documented, and what a plug-in returns must be all that the lab needs. At run time only names are compared.

import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as documented from '../../resources/plugin/astrolab.d.ts';
import type { Algorithm, Needs, Prepared, Progress } from '../../main/algorithm/algorithm.ts';
import type { Tensor } from '../../main/engine/graph/graph.ts';
import type { Environment, Grammar, Task, Turn, World } from '../../main/environment/environment.ts';
import { toolbox } from '../../main/plugin/toolbox.ts';
import { resourceFile } from '../../main/base/paths.ts';
import type { LossInput, PolicyTensors } from '../../main/policy/transformer/batch.ts';
import type { Trajectory } from '../../main/rollout/trajectory.ts';

type Functions<T> = { readonly [K in keyof T]: (...values: never[]) => unknown };
/** The members that a type requires. */
type Required<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];

test('what the lab gives has everything that is documented', () => {
  expectTypeOf<Tensor>().toExtend<documented.Tensor>();
  expectTypeOf<Trajectory>().toExtend<documented.Trajectory>();
  expectTypeOf<Progress>().toEqualTypeOf<documented.Progress>();
  expectTypeOf<PolicyTensors>().toExtend<documented.PolicyTensors>();
  expectTypeOf<Parameters<Parameters<Algorithm['loss']>[2]>>().toEqualTypeOf<Parameters<Parameters<documented.Algorithm['loss']>[2]>>();
  expectTypeOf<LossInput>().toExtend<(name: string, per: 'episode' | 'token') => documented.Tensor>();
  expectTypeOf<Omit<typeof toolbox, 'version' | 'z' | 'knob' | 'between' | 'whole' | 'trajectories'>>().toExtend<
    Omit<documented.Lab, 'version' | 'z' | 'knob' | 'between' | 'whole' | 'trajectories'>
  >();
  expectTypeOf<keyof typeof toolbox>().toEqualTypeOf<keyof documented.Lab>();
  expectTypeOf<keyof documented.Lab['trajectories']>().toExtend<keyof (typeof toolbox)['trajectories']>();
  expectTypeOf<Parameters<(typeof toolbox)['trajectories']['rewardOf']>[1]>().toEqualTypeOf<documented.Progress['reward']>();
  expectTypeOf<typeof z>().toExtend<Functions<documented.Zod>>();
  expectTypeOf<z.ZodNumber>().toExtend<Functions<documented.Schema>>();
  expectTypeOf<z.ZodString>().toExtend<Functions<documented.Schema>>();
  expect(toolbox.version).toBe(1);
});

test('what a plug-in returns is all that the lab needs', () => {
  expectTypeOf<documented.Needs>().toEqualTypeOf<Needs>();
  expectTypeOf<documented.Prepared>().toEqualTypeOf<Prepared>();
  expectTypeOf<documented.Task>().toEqualTypeOf<Task>();
  expectTypeOf<documented.Grammar>().toEqualTypeOf<Grammar>();
  expectTypeOf<documented.Turn>().toEqualTypeOf<Turn>();
  expectTypeOf<documented.Environment>().toExtend<Environment>();
  expectTypeOf<Environment>().toExtend<documented.Environment>();
  expectTypeOf<ReturnType<documented.World['demonstrate']>>().toExtend<ReturnType<World['demonstrate']>>();
  // Schemas and tensors are opaque to a plug-in: there the names must agree.
  expectTypeOf<Exclude<Required<World>, 'mistakes'>>().toExtend<keyof documented.World>();
  expectTypeOf<keyof documented.World>().toExtend<keyof World>();
  expectTypeOf<keyof documented.Algorithm>().toEqualTypeOf<keyof Algorithm>();
  const source = readFileSync(resourceFile('plugin', 'astrolab.d.ts'), 'utf8');
  expect(source).not.toMatch(/\bany\b(?! time)/);
});

// The kernels of *.as.ts as WebAssembly modules, each made once in a thread. The set-up compiles every kernel twice: with relaxed SIMD, whose multiply-add rounds once, and
// without, for runtimes that lack it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../../base/paths.ts';

const modules = new Map<string, WebAssembly.Module>();

export function kernelModule(name: string, relaxed = true): WebAssembly.Module {
  const key = relaxed ? name : `${name}.plain`;
  const cached = modules.get(key);
  if (cached) return cached;
  const file = join(projectFolder(), 'out', 'kernels', `${key}.wasm`);
  if (!existsSync(file)) throw new Error(`${file} is missing; \`npm run setup\` compiles it`);
  const bytes = readFileSync(file);
  const made = relaxed && !WebAssembly.validate(bytes) ? kernelModule(name, false) : new WebAssembly.Module(bytes);
  modules.set(key, made);
  return made;
}

export type Kernel = (...parameters: number[]) => unknown;

const isKernel = (exported: unknown): exported is Kernel => typeof exported === 'function';

/** The functions of a module over this memory, by name. */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): (name: string) => Kernel {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return (name) => {
    const found = exports[name];
    if (!isKernel(found)) throw new TypeError(`There is no kernel "${name}"; there are ${Object.keys(exports).join(', ')}`);
    return found;
  };
}

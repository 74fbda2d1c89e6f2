// The devices a model can run on. One is offered only after a self-test in a separate process has trained a tiny network on
// it with the same losses and gradient norms as on the CPU; otherwise the list says why not. Through WebGPU (any graphics card,
// bundled with the runtime) the training state stays on the device between steps. Through CUDA, DirectML and CoreML the
// runtime's Node binding can only hand tensors over through the CPU: correct, but the state travels at every step.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { projectFolder } from '../../base/paths.ts';
import { DeviceLostError, means } from '../runtime/errors.ts';
import { supportedBackends } from '../runtime/session.ts';
import type { SessionOptions } from '../runtime/session.ts';

export interface Device {
  /** What `--device` takes. */
  readonly id: string;
  readonly name: string;
  /** Bytes, where the system reports them. */
  readonly memory: number | null;
  readonly ok: boolean;
  readonly reason: string;
  /** What the self-test computed on the CPU and on the device; absent when it did not get so far. */
  readonly check?: DeviceCheck;
}

const numbers = z.array(z.number());
const trace = z.object({ losses: numbers, norms: numbers });
const check = z.object({ cpu: trace, device: trace, seconds: z.number() });
export type Trace = z.infer<typeof trace>;
export type DeviceCheck = z.infer<typeof check>;

interface Kind {
  readonly title: string;
  /** The runtime's name for it, where it differs from ours. */
  readonly backend?: string;
  readonly options: SessionOptions;
  /** Not listed; selectable by id. */
  readonly hidden?: boolean;
}

/** In the order in which they are offered. */
const KINDS: Readonly<Record<string, Kind>> = {
  cpu: { title: 'CPU', options: {} },
  'cpu-half': {
    title: 'half precision worked out by the CPU, to compare its numbers without a card (slow)',
    backend: 'cpu',
    options: { target: 'gpu', half: 'float16' },
    hidden: true,
  },
  webgpu: { title: 'graphics card through WebGPU', options: { providers: ['webgpu'], target: 'gpu' } },
  'webgpu-half': {
    title: 'graphics card through WebGPU, matrix products in half precision',
    backend: 'webgpu',
    options: { providers: ['webgpu'], target: 'gpu', half: 'float16' },
  },
  cuda: { title: 'NVIDIA card through CUDA', options: { providers: ['cuda'], target: 'gpu', stateOnDevice: false } },
  'cuda-bf16': {
    title: 'NVIDIA card through CUDA, matrix products in bfloat16',
    backend: 'cuda',
    options: { providers: ['cuda'], target: 'gpu', stateOnDevice: false, half: 'bfloat16' },
  },
  dml: { title: 'graphics card through DirectML', options: { providers: ['dml'], target: 'gpu', stateOnDevice: false } },
  coreml: { title: 'Apple device through CoreML', options: { providers: ['coreml'], target: 'gpu', stateOnDevice: false } },
};

/** Relative difference to the CPU that rounding explains, in single and in half precision; wrong kernels are off by more. */
const TOLERANCE = 1e-3;
const HALF_TOLERANCE = 2e-2;
/** How long a self-test may take; more where a card is made of software on a busy machine. */
const PATIENCE_MS = 1000 * Number(process.env.ASTROLAB_DEVICE_PATIENCE ?? 120);

/** Providers whose cards are numbered: `cuda:1` is the second one. */
const NUMBERED = ['cuda', 'dml'] as const;

/** How a session is made for a device; an error for one that does not exist. */
export function deviceOptions(id: string): SessionOptions {
  const [, name = id, number = '0'] = /^([a-z][a-z0-9-]*):(\d{1,2})$/.exec(id) ?? [];
  const kind = KINDS[name];
  if (name.endsWith('-bf16') && !Object.hasOwn(KINDS, name))
    throw new RangeError(`There is no device "${id}": only CUDA computes in bfloat16 (cuda-bf16); webgpu-half computes in half precision`);
  if (!kind || !Object.hasOwn(KINDS, name)) throw new RangeError(`There is no device "${id}"; there are ${Object.keys(KINDS).join(', ')}`);
  if (number === '0') return kind.options;
  const provider = NUMBERED.find((name) => kind.options.providers?.includes(name));
  if (!provider)
    throw new RangeError(
      `There is no device "${id}": only the cards of ${NUMBERED.join(' and ')} have numbers. The runtime gives no choice among several cards through ${name}`,
    );
  return { ...kind.options, providers: [{ name: provider, deviceId: Number(number) }] };
}

/** The files that CUDA needs beside the runtime, on the only system that the runtime has them for. */
const CUDA_FILES = ['libonnxruntime_providers_cuda.so', 'libonnxruntime_providers_shared.so'];

/** Where CUDA could be, but is not installed: what is missing and how to get it. */
export function missingCuda(
  folder = join(dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')), 'bin/napi-v6/linux/x64'),
): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const missing = CUDA_FILES.filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return undefined;
  return `not installed: ${missing.join(' and ')} are missing in ${folder}; npm run setup -- --cuda fetches them, or says where they come from`;
}

/** Every device the runtime knows on this system, each tried now, all at the same time. Takes a second or two. */
export async function listDevices(environment: NodeJS.ProcessEnv = {}): Promise<Device[]> {
  const present = new Set(supportedBackends());
  const kinds = Object.keys(KINDS).filter((id) => KINDS[id]?.hidden !== true && present.has(KINDS[id]?.backend ?? id));
  const further = kinds.some(isNumbered) ? Array.from({ length: cardCount() - 1 }, (_, index) => index + 1) : [];
  const ids = kinds.flatMap((id) => [id, ...(isNumbered(id) ? further.map((number) => `${id}:${number}`) : [])]);
  const cuda = missingCuda();
  const absent: Device[] =
    cuda === undefined || present.has('cuda')
      ? []
      : [{ id: 'cuda', name: KINDS.cuda?.title ?? 'cuda', memory: null, ok: false, reason: cuda }];
  return [...(await Promise.all(ids.map((id) => tryDevice(id, environment)))), ...absent];
}

/** The options for a device that has just passed its self-test; an error with the reason for one that has not. */
export async function requireDevice(id: string): Promise<SessionOptions> {
  const options = deviceOptions(id);
  if (id === 'cpu') return options;
  const { ok, reason } = await tryDevice(id);
  if (!ok) throw new DeviceLostError(`The device "${id}" cannot be used: ${reason}`);
  return options;
}

/** The self-test of one device. `environment` is added to that of the child process. */
export async function tryDevice(id: string, environment: NodeJS.ProcessEnv = {}): Promise<Device> {
  const { half } = deviceOptions(id);
  const title = KINDS[id.split(':')[0] ?? id]?.title ?? id;
  const { name, memory } = await describe(id, title);
  try {
    const env = { ...process.env, ...environment, ELECTRON_RUN_AS_NODE: '1', NODE_NO_WARNINGS: '1', ORT_DISABLE_TELEMETRY: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, [checkFile(), id], { env, timeout: PATIENCE_MS, killSignal: 'SIGKILL' });
    const result = check.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    return {
      id,
      name,
      memory,
      ...judge(result, half ? HALF_TOLERANCE : TOLERANCE, id === 'cpu' ? 'the recorded ones' : undefined),
      check: result,
    };
  } catch (error) {
    return { id, name, memory, ok: false, reason: whyFailed(error, id) };
  }
}

/** Whether the device computed what was expected: what the CPU did, or for the CPU itself what comes with the lab. */
export function judge(
  { cpu, device, seconds }: DeviceCheck,
  tolerance = TOLERANCE,
  expectation = "the CPU's",
): Pick<Device, 'ok' | 'reason'> {
  for (const [what, expected, found] of [
    ['loss', cpu.losses, device.losses],
    ['gradient norm', cpu.norms, device.norms],
  ] as const) {
    for (const [i, number] of expected.entries()) {
      const other = found[i] ?? Number.NaN;
      if (Math.abs(other - number) <= tolerance * Math.abs(number)) continue;
      return { ok: false, reason: `it computes wrongly: at step ${i + 1} the ${what} is ${other}, on the CPU ${number}` };
    }
  }
  return { ok: true, reason: `self-test passed in ${seconds.toFixed(1)} s: losses and gradient norms equal ${expectation}` };
}

/** The check beside this code: the source when this is the source, the bundle when this is the bundle. */
function checkFile(): string {
  return import.meta.url.endsWith('.ts')
    ? join(projectFolder(), 'main/engine/gpu/device-check.ts')
    : join(projectFolder(), 'out/main/device-check.js');
}

const failure = z.object({
  killed: z.boolean().optional(),
  signal: z.string().nullish(),
  stderr: z.string().optional(),
  message: z.string(),
});

/** Why a self-test did not end with an answer, from what its process left behind. */
export function whyFailed(error: unknown, id: string): string {
  const parsed = failure.safeParse(error);
  if (!parsed.success) return String(error);
  const { killed, signal, stderr = '', message } = parsed.data;
  if (killed) return `its self-test did not end within ${PATIENCE_MS / 1000} s`;
  if (means(stderr, 'noAdapter')) return 'no graphics card that WebGPU can use was found';
  if (means(stderr, 'noLibrary')) return (id.startsWith('cuda') ? missingCuda() : undefined) ?? librariesMissing(stderr);
  if (means(stderr, 'noHalf')) return 'the graphics card has no half precision';
  if (signal) return `its driver crashed (${signal}) during the self-test; another driver version may help`;
  // Node prints the line of source first, which may name errors too.
  const lines = stderr.split('\n');
  const said = lines.find((line) => /^\w*Error\b.*: /.test(line)) ?? lines.find((line) => /error/i.test(line)) ?? message;
  return `its self-test failed: ${said.replace(/^\w*Error: |[\s.]+$/g, '').slice(0, 300)}`;
}

/** The files of the runtime are there; what they need themselves is not. */
function librariesMissing(stderr: string): string {
  const [library] = /lib[\w.+-]+\.so[.\d]*(?=: cannot open)/.exec(stderr) ?? [];
  return `${library ?? 'a library that it needs'} was not found: an NVIDIA card needs the driver, CUDA 12 and cuDNN 9, which come from NVIDIA`;
}

async function describe(id: string, title: string): Promise<{ name: string; memory: number | null }> {
  if (id.startsWith('cpu')) return { name: `${cpus()[0]?.model.trim() ?? 'CPU'} (${cpus().length} threads)`, memory: totalmem() };
  const card = (await nvidiaCard(numberOf(id))) ?? amdCard();
  return card && id !== 'coreml'
    ? { name: `${card.name} through ${title.split(' through ')[1] ?? title}`, memory: card.memory }
    : { name: title, memory: null };
}

const NVIDIA_TOOL = 'nvidia-smi';
const NVIDIA = ['--query-gpu=name,memory.total', '--format=csv,noheader,nounits'];

/** One of the cards that nvidia-smi lists. */
export function readNvidia(stdout: string, number: number): { name: string; memory: number } | undefined {
  const [name = '', megabytes = ''] = stdout.split('\n')[number]?.split(', ') ?? [];
  return name ? { name, memory: Number(megabytes) * 2 ** 20 } : undefined;
}

async function nvidiaCard(number: number): Promise<{ name: string; memory: number } | undefined> {
  try {
    return readNvidia((await promisify(execFile)(NVIDIA_TOOL, NVIDIA, { timeout: 5000 })).stdout, number);
  } catch {
    return undefined; // no NVIDIA driver here
  }
}

/** Whether cards of this kind have numbers. */
export const isNumbered = (id: string): boolean => {
  const { providers = [] } = KINDS[id.split(':')[0] ?? id]?.options ?? {};
  return NUMBERED.some((name) => providers.includes(name));
};

/** How many cards the system lists; one where it does not say. */
export function cardCount(): number {
  try {
    const listed = execFileSync(NVIDIA_TOOL, NVIDIA, { encoding: 'utf8', timeout: 5000, stdio: 'pipe' });
    return Math.max(1, listed.split('\n').filter((line) => line.includes(',')).length);
  } catch {
    return 1; // no NVIDIA driver here
  }
}

const numberOf = (id: string): number => Number(/:(\d+)$/.exec(id)?.[1] ?? 0);
const memories = new Map<string, number | null>();

/** Bytes of memory that the system says a card has; null where it does not say. Asked once. */
export function cardMemory(id: string): number | null {
  const cached = memories.get(id);
  if (cached !== undefined) return cached;
  let found = amdCard()?.memory ?? null;
  try {
    found =
      readNvidia(execFileSync(NVIDIA_TOOL, NVIDIA, { encoding: 'utf8', timeout: 5000, stdio: 'pipe' }), numberOf(id))?.memory ?? found;
  } catch {
    // no NVIDIA driver here
  }
  memories.set(id, found);
  return found;
}

/** The Linux driver of AMD cards gives the memory as a file. */
function amdCard(): { name: string; memory: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    for (const card of readdirSync('/sys/class/drm').filter((entry) => /^card\d+$/.test(entry))) {
      const memory = Number(readFileSync(`/sys/class/drm/${card}/device/mem_info_vram_total`, 'utf8'));
      if (memory > 0) return { name: 'AMD graphics card', memory };
    }
  } catch {
    return undefined; // another driver, or none
  }
  return undefined;
}

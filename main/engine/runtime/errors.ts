// What can go wrong while a graph is computed, as classes that callers can tell apart. onnxruntime throws plain errors without codes, so its words are
// read here, where they arrive, and nowhere else.

/** An error of the engine; `hint` says what to do about it. */
export abstract class EngineError extends Error {
  abstract readonly hint: string;
}

/** Memory ran out, or would. Nothing was changed. */
export class OutOfMemoryError extends EngineError {
  override name = 'OutOfMemoryError';
  readonly hint =
    'Set memory to what this machine can spare, or use a smaller training.microBatch (the update stays the same, it is accumulated), training.recompute=true, shorter episodes or a smaller policy.contextLength.';
}

/** The device refused or stopped working: the work has to continue elsewhere. */
export class DeviceLostError extends EngineError {
  override name = 'DeviceLostError';
  readonly hint = 'Choose another device (lab doctor lists them); a run continues from its last checkpoint.';
}

/** Loss, gradient norm or logits are NaN or infinite. */
export class NotFiniteError extends EngineError {
  override name = 'NotFiniteError';
  readonly hint = 'Lower the learning rate or training.clip; the last good checkpoint was kept.';
}

/** What the runtime, its drivers and the system say when something happens. */
const WORDS = {
  memory: /alloc|out of memory|OOM/i,
  device: /WebGPU|device lost|CUDA|DML|D3D12|CoreML/i,
  noAdapter: /Failed to get a WebGPU adapter|No supported adapters/i,
  noLibrary: /Failed to load (shared )?library|cannot open shared object/i,
  noHalf: /requires f16/i,
} as const;

/** Whether a message of the runtime means this. */
export const means = (message: string, what: keyof typeof WORDS): boolean => WORDS[what].test(message);

/** The graph that something went wrong with. */
export interface Subject {
  readonly name: string;
  /** Its largest tensors, as text. */
  largest(): string;
}

/** What a failure of the runtime was; `what` such as "could not be prepared". Errors that are already the engine's stay as they are. */
export function engineError(error: unknown, subject: Subject, what: string): Error {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (means(message, 'memory')) return outOfMemory(subject, message);
  if (means(message, 'device'))
    return new DeviceLostError(`The device stopped while "${subject.name}" ran: ${message.replace(/\s+/g, ' ')}`);
  return new Error(`"${subject.name}" ${what}: ${message}`);
}

export const outOfMemory = ({ name, largest }: Subject, reason: string): OutOfMemoryError =>
  new OutOfMemoryError(`Not enough memory for "${name}": ${reason}. Largest tensors: ${largest()}`);

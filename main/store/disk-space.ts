// Getting along with a full disk. A small reserve file is kept in the data folder; when the disk runs full it is given
// up, so that the lab can still write down that it paused and why. Nothing recorded before is touched.

import { existsSync, mkdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from './checkpoints.ts';
import { isDiskFull } from './database.ts';

const RESERVE_BYTES = 2 * 1024 * 1024;

function reserveFile(dataFolder: string): string {
  return join(dataFolder, 'reserve.bin');
}

/** Sets the reserve aside, if there is room. Returns whether it is there. */
export function keepReserve(dataFolder: string): boolean {
  const file = reserveFile(dataFolder);
  if (existsSync(file) && statSync(file).size === RESERVE_BYTES) return true;
  mkdirSync(dataFolder, { recursive: true });
  if (freeBytes(dataFolder) < RESERVE_BYTES * 2) return false;
  try {
    writeDurably(file, new Uint8Array(RESERVE_BYTES).fill(0x5a));
    return true;
  } catch (error) {
    if (isDiskFull(error)) return false;
    throw error;
  }
}

/** Gives the reserve up. */
export function releaseReserve(dataFolder: string): void {
  rmSync(reserveFile(dataFolder), { force: true });
}

export function freeBytes(dataFolder: string): number {
  const { bavail, bsize } = statfsSync(dataFolder);
  return bavail * bsize;
}

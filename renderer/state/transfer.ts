// Runs out of the lab and into it, from wherever the user asks: a menu, a dropped file, the first start.

import { useEffect } from 'react';
import { call } from '../bridge.ts';
import { formatBytes } from '../format.ts';
import { toast, toastError } from './toasts.ts';

/** A file, or null to ask for one; then shows what came. */
export async function importRuns(file: string | null, navigate: (address: string) => void): Promise<void> {
  try {
    const { runs, study } = await call('transfer.import', { file });
    const [only] = runs;
    if (only === undefined) return;
    toast({ title: runs.length === 1 ? `Run ${only} imported` : `${runs.length} runs imported`, tone: 'success' });
    navigate(study !== null ? `/compare/study-${study}` : runs.length === 1 ? `/runs/${only}` : '/');
  } catch (error) {
    toastError('The file was not imported', error);
  }
}

export async function exportRuns(runs: readonly number[]): Promise<void> {
  try {
    const { file, bytes } = await call('transfer.export', { runs: [...runs], checkpoints: true });
    if (file === null) return;
    toast({ title: `${runs.length === 1 ? 'Run' : `${runs.length} runs`} exported (${formatBytes(bytes)})`, body: file, tone: 'success' });
  } catch (error) {
    toastError('The runs were not exported', error);
  }
}

/** An .astrolab file that is dropped anywhere on the window is imported. */
export function useDroppedFiles(navigate: (address: string) => void): void {
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      void importRuns(window.astrolab.pathOf(file), navigate);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('drop', drop);
    };
  }, [navigate]);
}

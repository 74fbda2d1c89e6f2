// Writes the report of the selection into a folder of the user's choice.

import { useState } from 'react';
import { call } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { toast, toastError } from '../state/toasts.ts';
import { useActions } from '../state/actions.ts';

export function ExportButton({ runs, title }: { runs: readonly number[]; title: string }) {
  const [busy, setBusy] = useState(false);
  const write = async (): Promise<void> => {
    setBusy(true);
    try {
      const { written } = await call('report.export', { runs: [...runs], title });
      if (written)
        toast({ title: `Report written: ${written.files.length} files`, body: written.folder, tone: 'success', milliseconds: 10_000 });
    } catch (error) {
      toastError('The report was not written', error);
    } finally {
      setBusy(false);
    }
  };
  useActions([
    {
      id: 'compare.export',
      title: 'Export report',
      group: 'Compare',
      words: ['markdown', 'html', 'latex', 'csv', 'slides', 'pdf'],
      run: () => void write(),
    },
  ]);
  return (
    <Button icon="download" kind="primary" disabled={busy} onClick={() => void write()}>
      {busy ? 'Writing…' : 'Export report'}
    </Button>
  );
}

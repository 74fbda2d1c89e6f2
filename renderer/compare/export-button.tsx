// Exports the report of the selection as it is on screen: which formats, then a folder. It is written aside, with progress and
// a way to stop; the message at the end opens the folder.

import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import type { Input } from '../../preload/contract.ts';
import { call, CallError, useLatest } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox } from '../components/field.tsx';
import { Progress } from '../components/stat.tsx';
import { useActions } from '../state/actions.ts';
import { toast, toastError } from '../state/toasts.ts';
import { useView } from '../state/view.ts';
import util from '../theme/utilities.module.css';
import styles from './export.module.css';

type Wanted = Input<'report.export'>;
type Format = Wanted['formats'][number];

const FORMATS: readonly (readonly [Format, string, string])[] = [
  ['html', 'Report, HTML', 'one file with tables and figures'],
  ['pdf', 'Report, PDF', 'the same, to print'],
  ['slides', 'Slides, HTML and PDF', 'verdict and curve first'],
  ['markdown', 'Report, Markdown', 'with its figures as SVG'],
  ['latex', 'Results, LaTeX', 'a booktabs table for a paper'],
  ['csv', 'Tables, CSV', 'results and paired statistics'],
  ['svg', 'Figures, SVG', ''],
  ['png', 'Figures, PNG', ''],
  ['audit', 'Audit log, JSONL', 'every stored episode; may be large'],
];
const formatsSchema = z.array(z.string());
const AT_FIRST: string[] = ['html', 'slides', 'csv', 'svg'];

const WRITING = ['report.export'];
const PROGRESS = ['report.progress'];

interface ExportButtonProps {
  runs: readonly number[];
  title: string;
  /** The arms and the baseline on screen. */
  view: Wanted['view'];
}

export function ExportButton({ runs, title, view }: ExportButtonProps) {
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const { mutate } = useMutation({
    mutationKey: WRITING,
    mutationFn: (formats: Format[]) => call('report.export', { runs: [...runs], title, formats, view }),
    onMutate: () => client.removeQueries({ queryKey: PROGRESS }),
    onSuccess: ({ written }) => written && announce(written),
    onError: (error) => {
      if (error instanceof CallError && error.code === 'cancelled') toast({ title: 'Export cancelled' });
      else toastError('The report was not exported', error);
    },
  });
  // Also one that was begun before the page was left.
  const busy = useIsMutating({ mutationKey: WRITING }) > 0;
  const progress = useLatest('report.progress') ?? { share: 0, what: 'choosing a folder' };
  useActions([
    {
      id: 'compare.export',
      title: 'Export report',
      group: 'Compare',
      words: ['markdown', 'html', 'latex', 'csv', 'slides', 'pdf', 'png', 'svg'],
      run: () => !busy && setAsking(true),
    },
  ]);
  if (busy) {
    return (
      <span className={styles.busy} role="status">
        <span className={styles.what}>Exporting: {progress.what}</span>
        <Progress label="Export" value={progress.share} />
        <Button onClick={() => void call('report.cancel', {})}>Cancel export</Button>
      </span>
    );
  }
  return (
    <>
      <Button icon="download" kind="primary" onClick={() => setAsking(true)}>
        Export report
      </Button>
      {asking && (
        <FormatDialog
          onClose={() => setAsking(false)}
          onDone={(formats) => {
            setAsking(false);
            mutate(formats);
          }}
        />
      )}
    </>
  );
}

function announce({ folder, files }: { folder: string; files: readonly string[] }): void {
  toast({
    title: `Report exported: ${files.length} ${files.length === 1 ? 'file' : 'files'}`,
    body: folder,
    tone: 'success',
    milliseconds: 20_000,
    action: {
      label: 'Open',
      run: () => {
        call('report.open', {}).catch((error: unknown) => toastError('Could not open the folder', error));
      },
    },
  });
}

function FormatDialog({ onClose, onDone }: { onClose: () => void; onDone: (formats: Format[]) => void }) {
  const [chosen, choose] = useView('compare.formats', formatsSchema, AT_FIRST);
  const formats = FORMATS.flatMap(([format]) => (chosen.includes(format) ? [format] : []));
  return (
    <Dialog
      open
      title="Export report"
      width={460}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={formats.length === 0} onClick={() => onDone(formats)}>
          Choose a folder…
        </Button>
      }
    >
      <p className={util.muted}>As on screen: the same grouping, baseline and colours.</p>
      <ul className={styles.formats}>
        {FORMATS.map(([format, label, what]) => (
          <li key={format}>
            <label>
              <Checkbox
                label={label}
                checked={chosen.includes(format)}
                onChecked={(on) => choose(on ? [...chosen, format] : chosen.filter((one) => one !== format))}
              />
              <span>{label}</span>
              <span className={util.muted}>{what}</span>
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

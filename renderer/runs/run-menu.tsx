// What can be done with one run, the same wherever it is asked for: by right-click in the list and by "…" on its page. A star is
// the tag "starred", so that it is filtered, grouped and exported like any other.

import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { call } from '../bridge.ts';
import { IconButton } from '../components/button.tsx';
import { Menu, MenuItems } from '../components/menu.tsx';
import type { MenuItem } from '../components/menu.tsx';
import { deleteRuns } from '../state/runs.ts';
import { toastError } from '../state/toasts.ts';
import { exportRuns } from '../state/transfer.ts';
import { EditDialog, TagDialog } from './run-dialogs.tsx';

const STAR = 'starred';

function toggleStar({ id, tags }: RunRow): void {
  const change = tags.includes(STAR) ? { add: [], remove: [STAR] } : { add: [STAR], remove: [] };
  call('runs.tag', { runs: [id], ...change }).catch((error: unknown) => toastError('The run was not changed', error));
}

function useItems(run: RunRow, onDialog: (dialog: 'edit' | 'tags') => void): (MenuItem | 'line')[] {
  const [, navigate] = useLocation();
  const busy = run.state === 'running' || run.state === 'stopping';
  return [
    {
      label: run.tags.includes(STAR) ? 'Remove star' : 'Star',
      icon: run.tags.includes(STAR) ? 'starred' : 'star',
      run: () => toggleStar(run),
    },
    { label: 'Rename and notes…', run: () => onDialog('edit') },
    { label: 'Tag…', run: () => onDialog('tags') },
    'line',
    { label: 'Replay episodes', icon: 'replay', run: () => navigate(`/replay/${run.id}`) },
    { label: 'Duplicate', icon: 'copy', run: () => navigate(`/new/run-${run.id}`) },
    {
      label: 'Open in new window',
      icon: 'expand',
      run: () => {
        call('system.openWindow', { address: `/runs/${run.id}` }).catch((error: unknown) => toastError('No window was opened', error));
      },
    },
    { label: 'Export…', icon: 'download', run: () => void exportRuns([run.id]) },
    'line',
    { label: 'Delete', icon: 'trash', danger: true, disabled: busy, run: () => void deleteRuns([run.id]) },
  ];
}

function Dialogs({ run, dialog, onClose }: { run: RunRow; dialog: 'edit' | 'tags' | null; onClose: () => void }) {
  return (
    <>
      <TagDialog runs={dialog === 'tags' ? [run] : null} onClose={onClose} />
      <EditDialog run={dialog === 'edit' ? run : null} onClose={onClose} />
    </>
  );
}

/** Behind "…". */
export function RunMenu({ run }: { run: RunRow }) {
  const [dialog, setDialog] = useState<'edit' | 'tags' | null>(null);
  return (
    <>
      <Menu items={useItems(run, setDialog)}>
        <IconButton icon="more" label="More actions" />
      </Menu>
      <Dialogs run={run} dialog={dialog} onClose={() => setDialog(null)} />
    </>
  );
}

export interface MenuPlace {
  readonly run: RunRow;
  readonly x: number;
  readonly y: number;
}

/** Where the pointer was. */
export function RunContextMenu({ place: { run, x, y }, onClose }: { place: MenuPlace; onClose: () => void }) {
  const [dialog, setDialog] = useState<'edit' | 'tags' | null>(null);
  const [open, setOpen] = useState(true);
  const items = useItems(run, setDialog);
  const close = (): void => {
    setDialog(null);
    onClose();
  };
  return (
    <>
      <DropdownMenu.Root
        modal={false}
        open={open}
        onOpenChange={(now) => {
          setOpen(now);
          // A dialog that was just asked for outlives the menu.
          if (!now) setTimeout(() => setDialog((wanted) => (wanted === null ? (onClose(), null) : wanted)), 0);
        }}
      >
        <DropdownMenu.Trigger asChild>
          <span style={{ position: 'fixed', left: x, top: y }} aria-label={`Actions of run ${run.id}`} />
        </DropdownMenu.Trigger>
        <MenuItems items={items} align="start" />
      </DropdownMenu.Root>
      <Dialogs run={run} dialog={dialog} onClose={close} />
    </>
  );
}

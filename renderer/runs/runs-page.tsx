// Runs: the list of everything that was ever trained here, live. Filter, sort, group by any setting, choose columns, act
// on many at once; a click or Enter opens a run. Until there is a first run, an invitation.

import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { RunRow } from '../../main/lab/features/runs.ts';
import { useCall } from '../bridge.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { useRuns } from '../state/runs.ts';
import { importRuns } from '../state/transfer.ts';
import { FirstRun } from './first-run.tsx';
import { NO_FILTER } from './rows.ts';
import { ColumnsDialog, EditDialog, TagDialog } from './run-dialogs.tsx';
import { RunContextMenu } from './run-menu.tsx';
import type { MenuPlace } from './run-menu.tsx';
import { SavedFilters } from './saved-filters.tsx';
import { RunsTable } from './runs-table.tsx';
import { BulkBar, FilterBar } from './toolbars.tsx';
import { useRunActions, useRunSelection } from './use-run-selection.ts';
import { useRunView } from './use-run-view.ts';
import styles from './runs.module.css';

type DialogName = 'columns' | 'tags' | 'edit';

export default function RunsPage() {
  const about = useCall('system.about', {});
  const runs = useRuns();
  if (runs.isPending || runs.isError || runs.data.runs.length === 0) {
    return (
      <Page
        title="Runs"
        actions={
          <LinkButton href="/new" icon="plus">
            New run
          </LinkButton>
        }
      >
        {runs.isPending && <Loading label="Loading runs" rows={8} />}
        {runs.isError && <ErrorState title="Could not read the runs" error={runs.error} retry={() => void runs.refetch()} />}
        {runs.data && <FirstRun dataFolder={about.data?.dataFolder ?? ''} />}
      </Page>
    );
  }
  return <RunList runs={runs.data.runs} />;
}

function RunList({ runs }: { runs: readonly RunRow[] }) {
  const [, navigate] = useLocation();
  const view = useRunView(runs);
  const selection = useRunSelection(runs, view.items);
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const open = (run: RunRow): void => navigate(`/runs/${run.id}`);
  useRunActions(selection, {
    onSearch: () => search.current?.focus(),
    onOpen: open,
    onTag: () => setDialog('tags'),
    onColumns: () => setDialog('columns'),
  });
  const { chosen } = selection;

  return (
    <Page
      title="Runs"
      subtitle={summary(runs, view.shown.length)}
      actions={
        <>
          <Button icon="upload" onClick={() => void importRuns(null, navigate)}>
            Import…
          </Button>
          <LinkButton href="/new" icon="plus" kind="primary">
            New run
          </LinkButton>
        </>
      }
      toolbar={
        chosen.length > 0 ? (
          <BulkBar
            chosen={chosen}
            onTag={() => setDialog('tags')}
            onEdit={() => setDialog('edit')}
            onDelete={selection.removeTarget}
            onClear={selection.clear}
          />
        ) : (
          <FilterBar
            runs={runs}
            filter={view.filter}
            onFilter={view.setFilter}
            groupKey={view.groupKey}
            onGroup={view.setGroupKey}
            onColumns={() => setDialog('columns')}
            saved={<SavedFilters settings={view.settings} onSettings={view.setSettings} />}
            search={search}
          />
        )
      }
    >
      <ListBody total={runs.length} view={view} selection={selection} onOpen={open} />
      <ColumnsDialog open={dialog === 'columns'} onClose={() => setDialog(null)} chosen={view.columnIds} onChosen={view.setColumns} />
      <TagDialog runs={dialog === 'tags' ? selection.target : null} onClose={() => setDialog(null)} />
      <EditDialog run={dialog === 'edit' ? (chosen[0] ?? null) : null} onClose={() => setDialog(null)} />
    </Page>
  );
}

interface ListBodyProps {
  /** Number of runs before the filter. */
  total: number;
  view: ReturnType<typeof useRunView>;
  selection: ReturnType<typeof useRunSelection>;
  onOpen: (run: RunRow) => void;
}

/** The table with its context menu, or a way back when the filter leaves nothing. */
function ListBody({ total, view, selection, onOpen }: ListBodyProps) {
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  return (
    <>
      <div className={styles.layout}>
        {view.shown.length === 0 ? (
          <div className={styles.nothing}>
            <p>No runs match this filter.</p>
            <Button kind="quiet" onClick={() => view.setFilter(NO_FILTER)}>
              Show all {total}
            </Button>
          </div>
        ) : (
          <RunsTable
            items={view.items}
            columns={view.columns}
            sort={view.sort}
            onSort={view.sortBy}
            selected={selection.selected}
            onSelect={selection.select}
            cursor={selection.cursor}
            onCursor={selection.setCursor}
            onOpen={onOpen}
            onToggleGroup={view.toggleGroup}
            onDelete={selection.removeTarget}
            onMenu={setMenu}
          />
        )}
      </div>
      {menu && <RunContextMenu key={`${menu.run.id} ${menu.x} ${menu.y}`} place={menu} onClose={() => setMenu(null)} />}
    </>
  );
}

function summary(runs: readonly RunRow[], shown: number): string {
  const count = (state: RunRow['state']): number => runs.filter((run) => run.state === state).length;
  const parts = [shown === runs.length ? `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}` : `${shown} of ${runs.length} shown`];
  for (const state of ['running', 'queued', 'paused', 'failed', 'interrupted'] as const)
    if (count(state) > 0) parts.push(`${count(state)} ${state}`);
  return parts.join(' · ');
}

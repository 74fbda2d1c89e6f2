// The data folder: what is stored where and how much of it, and the trash.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, callOptions, useCall } from '../bridge.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Card, Section } from '../components/page.tsx';
import { ErrorState, Loading } from '../components/states.tsx';
import { formatBytes } from '../format.ts';
import { toast, toastError } from '../state/toasts.ts';
import styles from './settings.module.css';

const use = callOptions('storage.use', {});

export function Storage() {
  const { data, error, refetch } = useCall('storage.use', {});
  const client = useQueryClient();
  // Sizes change with every run: what was read on an earlier visit is shown and read again.
  useEffect(() => void client.invalidateQueries({ queryKey: use.queryKey }), [client]);
  if (error) return <ErrorState title="Could not read the data folder" error={error} retry={() => void refetch()} />;
  if (!data) return <Loading label="Measuring the data folder" />;
  const total = data.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = Math.max(1, ...data.parts.map(({ bytes }) => bytes));
  return (
    <Section
      title="Data folder"
      hint={
        <>
          All data is stored in <code data-testid="folder">{data.folder}</code>. Set ASTROLAB_DATA to use another folder. To back up, copy
          it while Astrolab is closed.
        </>
      }
      actions={
        <Button
          icon="folder"
          onClick={() => {
            call('system.showDataFolder', {}).catch((problem: unknown) => toastError('Could not open the folder', problem));
          }}
        >
          Open data folder
        </Button>
      }
    >
      <Card>
        <table className={styles.storage} aria-label="Contents of the data folder">
          <tbody>
            {data.parts.map(({ name, what, bytes, path }) => (
              <tr key={name}>
                <th scope="row" title={path}>
                  {name}
                </th>
                <td className={styles.bytes}>{formatBytes(bytes)}</td>
                <td className={styles.barCell} aria-hidden>
                  <span className={styles.bar} style={{ width: `${(100 * bytes) / largest}%` }} />
                </td>
                <td className={styles.prose}>{what}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              <td className={styles.bytes} data-testid="total">
                {formatBytes(total)}
              </td>
              <td colSpan={2} className={styles.prose}>
                {formatBytes(data.free)} free on this disk
              </td>
            </tr>
          </tfoot>
        </table>
        <Trash runs={data.trash} />
        <DamageCheck />
      </Card>
    </Section>
  );
}

/** Reads everything once and says what is damaged; `lab check --salvage` saves the rest. */
function DamageCheck() {
  const check = useMutation({
    mutationFn: () => call('storage.check', {}),
    onError: (error) => toastError('Could not check the data folder', error),
  });
  const damaged = check.data?.damaged ?? [];
  return (
    <div className={styles.trash}>
      <span className={styles.prose}>
        {!check.data && 'Checks database, checkpoints and episodes for damage.'}
        {check.data && damaged.length === 0 && 'Nothing is damaged.'}
        {damaged.length > 0 &&
          `${damaged.length} damaged; first: ${damaged[0]?.where}: ${damaged[0]?.problem}. Run \`lab check --salvage DIR\` to save the rest.`}
      </span>
      <Button kind="quiet" disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? 'Checking…' : 'Check for damage'}
      </Button>
    </div>
  );
}

/** Deleted runs can be restored until the trash is emptied; this is the one thing that cannot be undone, so it asks. */
function Trash({ runs }: { runs: number }) {
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const empty = useMutation({
    mutationFn: () => call('storage.emptyTrash', {}),
    onSuccess: async ({ runs: gone }) => {
      setAsking(false);
      toast({ title: `${gone === 1 ? '1 run' : `${gone} runs`} permanently deleted`, tone: 'success' });
      await client.invalidateQueries({ queryKey: use.queryKey });
    },
    onError: (error) => toastError('Could not empty the trash', error),
  });
  const words = runs === 1 ? '1 deleted run' : `${runs} deleted runs`;
  return (
    <div className={styles.trash}>
      <span className={styles.prose}>{runs === 0 ? 'The trash is empty.' : `${words} in the trash.`}</span>
      {runs > 0 && (
        <Button kind="quiet" icon="trash" onClick={() => setAsking(true)}>
          Empty the trash…
        </Button>
      )}
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Empty the trash?"
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button kind="danger" disabled={empty.isPending} onClick={() => empty.mutate()}>
              Permanently delete {words}
            </Button>
          </>
        }
      >
        <p>{words} and all their episodes and checkpoints will be deleted. This cannot be undone. The database reuses the freed space.</p>
      </Dialog>
    </div>
  );
}

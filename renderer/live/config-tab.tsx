// The config of a run: first what differs from its preset, then all of it, then what produced its numbers.

import { useCall } from '../bridge.ts';
import { Section } from '../components/page.tsx';
import { CopyButton, ErrorState, Loading } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { showValue } from '../new-run/draft.ts';
import styles from './live.module.css';

export function ConfigTab({ run }: { run: number }) {
  const query = useCall('runs.get', { run });
  if (query.isError) return <ErrorState title="Could not read the config" error={query.error} />;
  if (!query.data) return <Loading label="Loading config" />;
  const { changes, config, versions, run: row } = query.data;
  const text = JSON.stringify(config, null, 2);
  return (
    <div className={styles.config}>
      {changes && (
        <Section title={`Changes from preset ${row.preset}`}>
          {changes.length === 0 ? (
            <p className={styles.remark}>Only name and seed.</p>
          ) : (
            <Table label="Changed settings">
              <thead>
                <tr>
                  <Head>Setting</Head>
                  <Head numeric>Preset</Head>
                  <Head numeric>This run</Head>
                </tr>
              </thead>
              <tbody>
                {changes.map(({ key, before, after }) => (
                  <Row key={key}>
                    <Cell>
                      <code>{key}</code>
                    </Cell>
                    <Cell numeric muted>
                      {showValue(before) || '–'}
                    </Cell>
                    <Cell numeric>{showValue(after) || '–'}</Cell>
                  </Row>
                ))}
              </tbody>
            </Table>
          )}
        </Section>
      )}
      <Section title="Complete config" actions={<CopyButton text={text} />}>
        <pre className={styles.json} tabIndex={0} aria-label="Config as JSON">
          {text}
        </pre>
      </Section>
      <Section title="Versions">
        <p className={styles.remark}>
          {Object.entries(versions)
            .map(([name, version]) => `${name} ${version}`)
            .join(' · ')}
        </p>
      </Section>
    </div>
  );
}

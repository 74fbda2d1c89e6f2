// The studies of the data folder, newest first; a name leads to its curves and verdicts on Compare.

import { Link } from 'wouter';
import { useCall } from '../bridge.ts';
import { Section } from '../components/page.tsx';
import { ErrorState } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { formatDate } from '../format.ts';
import styles from './studies.module.css';

export function SavedStudies() {
  const { data, error, refetch } = useCall('studies.list', {});
  if (error) return <ErrorState title="Could not read the studies" error={error} retry={() => void refetch()} />;
  if (!data || data.studies.length === 0) return null;
  return (
    <Section title="Saved studies">
      <Table label="Saved studies">
        <thead>
          <tr>
            <Head>Name</Head>
            <Head numeric>Runs</Head>
            <Head>Created</Head>
          </tr>
        </thead>
        <tbody>
          {data.studies.map(({ id, name, runs, createdAt }) => (
            <Row key={id}>
              <Cell>
                <Link className={styles.name} href={`/compare/study-${id}`}>
                  {name}
                </Link>
              </Cell>
              <Cell numeric>{runs.length}</Cell>
              <Cell>{formatDate(createdAt)}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}

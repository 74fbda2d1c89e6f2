// What the study set out to decide, and how each claim came out: the sentence, where it comes from, the verdict, and under
// it the tests with their numbers. Studies that are merely a selection of runs have no claims, and then this is not there.

import { useCall } from '../bridge.ts';
import type { Claim } from '../../preload/contract/compare.ts';
import { Section } from '../components/page.tsx';
import { Badge, type Tone } from '../components/stat.tsx';
import util from '../theme/utilities.module.css';
import styles from './claims.module.css';

const TONES: Readonly<Record<Claim['verdict'], Tone>> = { holds: 'success', fails: 'failure', undecided: 'neutral' };

/** The stored words, as the field says them. */
export const VERDICTS: Readonly<Record<Claim['verdict'], string>> = { holds: 'supported', fails: 'refuted', undecided: 'inconclusive' };

export function Claims({ study }: { study: number }) {
  const { data } = useCall('studies.claims', { id: study });
  if (!data || data.claims.length === 0) return null;
  const count = (verdict: Claim['verdict']): number => data.claims.filter((one) => one.verdict === verdict).length;
  return (
    <Section
      title="Verdicts"
      hint={`${data.question} Of ${data.claims.length} claims, ${count('holds')} supported, ${count('fails')} refuted, ${count('undecided')} inconclusive.`}
    >
      <ul className={styles.claims}>
        {data.claims.map((claim) => (
          <li key={claim.id}>
            <details>
              <summary>
                <Badge tone={TONES[claim.verdict]}>{VERDICTS[claim.verdict]}</Badge>
                <span className={styles.claim}>{claim.claim}</span>
                <span className={styles.source}>{claim.source}</span>
              </summary>
              <p className={util.muted}>{claim.experiment}</p>
              <ul className={styles.tests}>
                {claim.tests.map(({ verdict, words }) => (
                  <li key={words}>
                    <strong>{VERDICTS[verdict]}</strong>: {words}
                  </li>
                ))}
              </ul>
              {claim.discussion && <p>{claim.discussion}</p>}
            </details>
          </li>
        ))}
      </ul>
    </Section>
  );
}

// What the study set out to decide, and how each claim came out: the sentence, where it comes from, the verdict, and under
// it the tests with their numbers. Studies that are merely a selection of runs have no claims, and then this is not there.

import { useQuery } from '@tanstack/react-query';
import { callOptions } from '../bridge.ts';
import type { Claim } from '../../main/lab/features/studies.ts';
import { Section } from '../components/page.tsx';
import { Badge, type Tone } from '../components/stat.tsx';
import util from '../theme/utilities.module.css';
import styles from './claims.module.css';

const TONES: Readonly<Record<Claim['verdict'], Tone>> = {
  supported: 'success',
  refuted: 'failure',
  equivalent: 'neutral',
  inconclusive: 'neutral',
};

/** The verdict that counts is the corrected one; where the correction changed it, both are shown. */
export const headline = ({ verdict, corrected }: Pick<Claim, 'verdict' | 'corrected'>): Claim['verdict'] => corrected ?? verdict;

export function countVerdicts(claims: readonly Claim[]): string {
  const count = (verdict: Claim['verdict']): number => claims.filter((claim) => headline(claim) === verdict).length;
  return `${count('supported')} supported, ${count('refuted')} refuted, ${count('equivalent')} equivalent, ${count('inconclusive')} inconclusive`;
}

/** `ready`: the arms are there. A study from before today's rule is decided anew when it is first seen, which must not delay them. */
export function Claims({ study, ready }: { study: number; ready: boolean }) {
  const { data } = useQuery({ ...callOptions('studies.claims', { id: study }), enabled: ready });
  if (!data || data.claims.length === 0) return null;
  return (
    <Section
      title="Verdicts"
      tourId="verdicts"
      hint={`Of ${data.claims.length} claims: ${countVerdicts(data.claims)}${data.claims.some(({ corrected }) => corrected) ? ', corrected for the number of tests (Holm)' : ''}.`}
    >
      <details className={styles.question}>
        <summary>What the study asks</summary>
        <p className={util.muted}>{data.question}</p>
      </details>
      <ul className={styles.claims}>
        {data.claims.map((claim) => (
          <li key={claim.id}>
            <details>
              <summary>
                <Badge tone={TONES[headline(claim)]}>{headline(claim)}</Badge>
                {claim.corrected !== null && claim.corrected !== claim.verdict && (
                  <span className={util.muted}>uncorrected: {claim.verdict}</span>
                )}
                <span className={styles.claim}>{claim.claim}</span>
                <span className={styles.source}>{claim.source}</span>
              </summary>
              <p className={util.muted}>{claim.experiment}</p>
              <ul className={styles.tests}>
                {claim.tests.map(({ verdict, corrected, words }) => (
                  <li key={words}>
                    <strong>{verdict}</strong>
                    {corrected !== null && ` (corrected: ${corrected})`}: {words}
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

// Catches what a page throws while drawing: says what happened, lets the user copy it, and keeps the rest of the lab
// usable. Training does not notice; it runs in a separate process.

import { Component } from 'react';
import type { ErrorInfo, ReactNode } from 'react';
import { Button, LinkButton } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { CopyButton, errorReport } from '../components/states.tsx';
import util from '../theme/utilities.module.css';
import styles from './error-boundary.module.css';

interface Props {
  /** Completes "Error in …". */
  readonly where: string;
  readonly children: ReactNode;
}

interface State {
  readonly error: Error | null;
  readonly trace: string;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, trace: '' };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(_error: Error, { componentStack }: ErrorInfo): void {
    this.setState({ trace: componentStack ?? '' });
  }

  override render(): ReactNode {
    const { error, trace } = this.state;
    if (!error) return this.props.children;
    const title = `Error in ${this.props.where}`;
    return (
      <div className={styles.broken} role="alert">
        <div className={styles.box}>
          <div className={styles.head}>
            <Icon name="warning" />
            <h1>This page stopped working</h1>
          </div>
          <p>{error.message}</p>
          <p className={util.muted}>Your runs and data are not affected, and training continues. Try again, or open another page.</p>
          <details className={styles.details}>
            <summary>Details</summary>
            <pre tabIndex={0} aria-label="Stack trace">{`${error.stack ?? ''}\n${trace}`}</pre>
          </details>
          <div className={styles.actions}>
            <LinkButton href="/">Go to Runs</LinkButton>
            <CopyButton text={() => errorReport(title, error, trace)} label="Copy details" />
            <Button kind="primary" onClick={() => this.setState({ error: null, trace: '' })}>
              Try again
            </Button>
          </div>
        </div>
      </div>
    );
  }
}

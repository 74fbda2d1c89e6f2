// Every building block of the window on one page, for those who build pages (and for the tests, which look at each in
// both themes). Reached from the palette.

import { useState } from 'react';
import { Button, IconButton, LinkButton } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, Field, NumberInput, Select, Switch, TextInput } from '../components/field.tsx';
import { Menu } from '../components/menu.tsx';
import { Card, Page, Section } from '../components/page.tsx';
import { RunLabel } from '../components/run-label.tsx';
import { Badge, Progress, Stat, Stats } from '../components/stat.tsx';
import { EmptyState, ErrorState, Loading } from '../components/states.tsx';
import { Cell, Head, Row, Table } from '../components/table.tsx';
import { Segmented, Tabs } from '../components/tabs.tsx';
import { Explain } from '../components/tooltip.tsx';
import { Sparkline } from '../charts/sparkline.tsx';
import { formatDate, formatValue } from '../format.ts';
import { toast, toastWithUndo } from '../state/toasts.ts';
import { runStyle, useRunStyles } from '../theme/runs.ts';
import { GalleryCharts } from './gallery-charts.tsx';
import util from '../theme/utilities.module.css';
import styles from './gallery.module.css';

export default function GalleryPage() {
  return (
    <Page title="Component gallery" subtitle="What pages are made of" actions={<BreakButton />}>
      <Buttons />
      <Section title="Charts">
        <GalleryCharts />
      </Section>
      <Numbers />
      <Fields />
      <Section title="States">
        <div className={styles.columns}>
          <ErrorState
            title="The run could not be opened"
            error={new Error('Expected a run named "r-7", found none.')}
            retry={() => toast({ title: 'Tried again' })}
          />
          <Card>
            <Loading label="Loading an example" />
          </Card>
        </div>
        <EmptyState title="Nothing here yet" actions={<LinkButton href="/">Go to Runs</LinkButton>}>
          <p>Says what would be here, and the one thing to do next.</p>
        </EmptyState>
      </Section>
    </Page>
  );
}

function BreakButton() {
  const [broken, setBroken] = useState(false);
  if (broken) throw new Error('Broken on purpose, to show the error boundary');
  return (
    <Button kind="quiet" onClick={() => setBroken(true)}>
      Break this page
    </Button>
  );
}

function Buttons() {
  const [open, setOpen] = useState(false);
  const [count, setCount] = useState(3);
  const remove = (): void => {
    setCount(count - 1);
    toastWithUndo('One thing was removed', () => setCount(count));
  };
  return (
    <Section title="Buttons and menus">
      <div className={styles.row}>
        <Button kind="primary" icon="start">
          Start
        </Button>
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        <Button kind="danger" icon="trash" onClick={remove}>
          Remove one of {count}
        </Button>
        <Button disabled>Not now</Button>
        <IconButton icon="pause" label="Pause" keys="Space" />
        <Menu
          items={[
            { label: 'Duplicate', icon: 'copy', keys: 'd', run: () => toast({ title: 'Duplicated', tone: 'success' }) },
            { label: 'Export', icon: 'download', run: () => toast({ title: 'Exported' }) },
            'line',
            { label: 'Delete', icon: 'trash', danger: true, run: remove },
          ]}
        >
          <IconButton icon="more" label="More" />
        </Menu>
      </div>
      <Dialog open={open} onClose={() => setOpen(false)} title="A dialog" actions={<Button onClick={() => setOpen(false)}>Done</Button>}>
        <Field label="Name" hint="Shown in the list of runs">
          {(ids) => <TextInput {...ids} defaultValue="first try" />}
        </Field>
      </Dialog>
    </Section>
  );
}

const ROWS = [
  { name: 'a*-po', state: 'running', success: 0.624, seed: 1, curve: [0.1, 0.14, 0.2, 0.33, 0.42, 0.47, 0.55, 0.6, 0.62] },
  { name: 'grpo', state: 'done', success: 0.5417, seed: 2, curve: [0.1, 0.13, 0.16, 0.22, 0.31, 0.38, 0.47, 0.52, 0.54] },
  { name: 'reinforce', state: 'failed', success: 0.312, seed: 3, curve: [0.1, 0.11, 0.18, 0.24, 0.26, 0.31, 0.3, 0.33, 0.31] },
] as const;
const NAMES = ROWS.map(({ name }) => name);
const TONES = { running: 'accent', done: 'success', failed: 'failure' } as const;

function Numbers() {
  const [selected, setSelected] = useState<string>('grpo');
  const [order, setOrder] = useState<'ascending' | 'descending'>('descending');
  const looks = useRunStyles(NAMES);
  const rows = ROWS.toSorted((a, b) => (order === 'ascending' ? a.success - b.success : b.success - a.success));
  return (
    <Section title="Numbers and tables">
      <Stats>
        <Stat
          label="Success"
          value="62.4%"
          note="54.1–70.2%, n = 128"
          explain={
            <Explain what="success">
              <p>Successful episodes ÷ all episodes. Higher is better.</p>
            </Explain>
          }
        />
        <Stat label="KL to the reference" value={formatValue(0.01834)} unit="nats" />
        <Stat label="Throughput" value={formatValue(4120)} unit="tokens/s" />
      </Stats>
      <div className={styles.progress}>
        <Progress label="Progress of the example" value={0.62} />
      </div>
      <div className={styles.wide}>
        <Table label="Example runs">
          <thead>
            <tr>
              <Head width={34}>
                <span className={util.spoken}>Chosen</span>
              </Head>
              <Head>Run</Head>
              <Head>State</Head>
              <Head numeric>Seed</Head>
              <Head numeric sort={order} onSort={() => setOrder(order === 'ascending' ? 'descending' : 'ascending')}>
                Success
              </Head>
              <Head>Curve</Head>
              <Head>Started</Head>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.name} selected={row.name === selected} onClick={() => setSelected(row.name)}>
                <Cell>
                  <Checkbox label={`Choose ${row.name}`} checked={row.name === selected} onChecked={() => setSelected(row.name)} />
                </Cell>
                <Cell>
                  <RunLabel name={row.name} look={looks.get(row.name) ?? runStyle(0)} />
                </Cell>
                <Cell>
                  <Badge tone={TONES[row.state]}>{row.state}</Badge>
                </Cell>
                <Cell numeric muted>
                  {row.seed}
                </Cell>
                <Cell numeric>{formatValue(row.success, 'share')}</Cell>
                <Cell>
                  <Sparkline
                    label={`Success of ${row.name} over training`}
                    values={row.curve}
                    look={looks.get(row.name) ?? runStyle(0)}
                    range={{ min: 0, max: 1 }}
                  />
                </Cell>
                <Cell muted>{formatDate(Date.UTC(2026, 10, 16, 7, 5 * row.seed))}</Cell>
              </Row>
            ))}
          </tbody>
        </Table>
      </div>
    </Section>
  );
}

function Fields() {
  const [rate, setRate] = useState('3e-4');
  const [on, setOn] = useState(true);
  const [tab, setTab] = useState<'policy' | 'raw'>('policy');
  const [axis, setAxis] = useState<'linear' | 'log'>('linear');
  const [split, setSplit] = useState('test');
  const wrong = Number(rate) > 0 ? undefined : 'Expected a number above 0, such as 3e-4';
  return (
    <Section title="Fields and switches">
      <div className={styles.columns}>
        <Field
          label="Learning rate"
          hint="0 < rate ≤ 0.1, default 3e-4"
          error={wrong}
          explain={
            <Explain what="learning rate">
              <p>How far one update moves the weights.</p>
            </Explain>
          }
        >
          {(ids) => <NumberInput {...ids} value={rate} onChange={(event) => setRate(event.target.value)} unit="per update" />}
        </Field>
        <Field label="Tasks">
          {(ids) => (
            <Select
              {...ids}
              value={split}
              onValue={setSplit}
              options={[
                { value: 'test', label: 'Test tasks' },
                { value: 'train', label: 'Training tasks' },
              ]}
            />
          )}
        </Field>
        <div className={styles.row}>
          <Switch label="Record every token" checked={on} onChecked={setOn} />
          <Segmented
            label="Axis"
            value={axis}
            onValue={setAxis}
            options={[
              { value: 'linear', label: 'Linear' },
              { value: 'log', label: 'Log' },
            ]}
          />
        </div>
      </div>
      <Tabs
        label="View"
        value={tab}
        onValue={setTab}
        tabs={[
          { value: 'policy', label: 'As a page', content: <p>The page, drawn.</p> },
          { value: 'raw', label: 'Raw text', count: 4, content: <pre>What the policy saw.</pre> },
        ]}
      />
    </Section>
  );
}

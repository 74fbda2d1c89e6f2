// The shop's reward presets: what earlier systems paid, so that their effect can be compared. Each rule says in words why
// it paid. Only `binary` and `decaying` make endless searching pointless; that the others pay for it is the finding.

/** What happened in a step, as far as a reward may depend on it. */
export interface ShopEvent {
  readonly kind: 'search' | 'click' | 'buy' | 'invalid';
  /** The product that was clicked or bought is the one that the task is after. */
  readonly right: boolean;
  /** The search shows the product that the task is after. */
  readonly helpful: boolean;
  /** … and no search before did. */
  readonly firstHelpful: boolean;
  /** The search has a word of what the user wants, whatever it shows. */
  readonly overlaps: boolean;
  /** The product that was clicked is of another category than the one that the task is after. */
  readonly mismatch: boolean;
  /** Number of searches so far, this one included. */
  readonly searches: number;
  /** Of a purchase of a long task: the share of the whole that was bought rightly with it, 0 for a wrong one. */
  readonly part?: number;
  /** … and that with it all is bought. */
  readonly last?: boolean;
}

export interface Reward {
  readonly reward: number;
  readonly reason: string;
}

export interface RewardPreset {
  /** Where it comes from and what it pays. */
  readonly source: string;
  pay(event: ShopEvent, decayAfter: number): Reward;
  /** The reward of one step lies between these. */
  readonly step: readonly [number, number];
  /** The most that all steps but the last can add up to. */
  most(steps: number, decayAfter: number): number;
}

const pay = (reward: number, reason: string): Reward => ({ reward, reason });

/** A right purchase of a long task that leaves something to buy. */
const isPart = ({ part = 0, last = false }: ShopEvent): boolean => part > 0 && !last;

const purchase = (event: ShopEvent, wrong: number): Reward =>
  isPart(event)
    ? pay(0, 'bought a part of what was wanted: 0')
    : event.right
      ? pay(1, 'bought what was wanted: +1')
      : pay(wrong, wrong === 0 ? 'bought something else: 0' : `bought something else: ${wrong.toFixed(2)}`);

/** +0.05 for the first search, less for each further one, −0.05 from search `decayAfter` + 1 on. */
const searchPay = (searches: number, decayAfter: number): number =>
  searches > decayAfter ? -0.05 : 0.05 * (1 - (searches - 1) / decayAfter);

/** What the slides' words say: a search helps when its words overlap the wish, a click is irrelevant in another category. */
function asDescribed(event: ShopEvent): Reward {
  if (event.kind === 'buy') return purchase(event, 0);
  if (event.kind === 'search' && event.overlaps) return pay(0.1, 'search with words of the wish: +0.10');
  if (event.kind === 'click' && event.mismatch) return pay(-0.05, 'click in another category: −0.05');
  return pay(0, 'nothing paid for this');
}

export const REWARD_NAMES = [
  'binary',
  'slides',
  'slides-described',
  'slides-steps',
  'walkthrough',
  'new_ragen',
  'decaying',
  'progress',
] as const;
export type RewardName = (typeof REWARD_NAMES)[number];

export const REWARDS: Readonly<Record<RewardName, RewardPreset>> = {
  binary: {
    source: 'The A*PO paper and TinyZero: 1 for the right purchase, 0 for everything else.',
    pay: (event) => (event.kind === 'buy' ? purchase(event, 0) : pay(0, 'only the purchase counts')),
    step: [0, 1],
    most: () => 0,
  },
  slides: {
    source:
      'The slides of the A2C system, tightened: +1 right purchase, +0.10 each search that shows the target, −0.05 each click on anything else, 0 otherwise.',
    pay(event) {
      if (event.kind === 'buy') return purchase(event, 0);
      if (event.kind === 'search' && event.helpful) return pay(0.1, 'helpful search: +0.10');
      if (event.kind === 'click' && !event.right) return pay(-0.05, 'irrelevant click: −0.05');
      return pay(0, 'nothing paid for this');
    },
    step: [-0.05, 1],
    most: (steps) => 0.1 * steps,
  },
  'slides-described': {
    source:
      'The slides to the letter: +1 right purchase, +0.10 each search whose words overlap the wish (shown or not), −0.05 each click in another category.',
    pay: asDescribed,
    step: [-0.05, 1],
    most: (steps) => 0.1 * steps,
  },
  'slides-steps': {
    source: 'The same with −1 for each step, as the example in the slides has it.',
    pay(event) {
      const { reward, reason } = asDescribed(event);
      return pay(reward - 1, `${reason}, step: −1`);
    },
    step: [-1.05, 0],
    most: () => 0,
  },
  walkthrough: {
    source: 'The week-07 walkthrough: +0.2 each search, +0.3 each click, +1.0 right purchase, −0.10 wrong purchase.',
    pay(event) {
      if (event.kind === 'buy') return purchase(event, -0.1);
      if (event.kind === 'search') return pay(0.2, 'search: +0.20');
      if (event.kind === 'click') return pay(0.3, 'click: +0.30');
      return pay(0, 'nothing paid for this');
    },
    step: [-0.1, 1],
    most: (steps) => 0.3 * steps,
  },
  new_ragen: {
    source: 'new_ragen, the system that failed: −0.1 every step, +0.1 search, +0.2 click, +1 at the end only if the purchase is right.',
    pay(event) {
      if (isPart(event)) return pay(-0.1, 'bought a part of what was wanted; step: −0.1');
      if (event.kind === 'buy')
        return event.right ? pay(0.9, 'bought what was wanted: +1, step: −0.1') : pay(-0.1, 'bought something else; step: −0.1');
      if (event.kind === 'search') return pay(0, 'search: +0.1, step: −0.1');
      if (event.kind === 'click') return pay(0.1, 'click: +0.2, step: −0.1');
      return pay(-0.1, 'step: −0.1');
    },
    step: [-0.1, 0.9],
    most: (steps) => 0.1 * steps,
  },
  decaying: {
    source:
      'What the week-07 authors hoped for: a search reward that decays to a penalty after N searches, a helpful search paid once (+0.10), +1 right purchase.',
    pay(event, decayAfter) {
      if (event.kind === 'buy') return purchase(event, 0);
      if (event.kind !== 'search') return pay(0, 'nothing paid for this');
      const base = searchPay(event.searches, decayAfter);
      const reason = `search ${event.searches}: ${base < 0 ? '−' : '+'}${Math.abs(base).toFixed(2)}`;
      return event.firstHelpful ? pay(base + 0.1, `${reason}, first helpful search: +0.10`) : pay(base, reason);
    },
    step: [-0.05, 1],
    most(steps, decayAfter) {
      let sum = 0.1;
      for (let n = 1; n <= Math.min(steps, decayAfter); n++) sum += searchPay(n, decayAfter);
      return sum;
    },
  },
  progress: {
    source:
      'Partial credit for long tasks: half of the reward is shared out among the products of a basket and paid with each right purchase, the other half when all are bought. Like binary for a single product.',
    pay(event) {
      if (event.kind !== 'buy') return pay(0, 'only purchases count');
      if (event.part === undefined || event.part === 0) return purchase(event, 0);
      return event.last
        ? pay(0.5 + event.part / 2, 'bought the last of what was wanted')
        : pay(event.part / 2, 'bought a part of what was wanted');
    },
    step: [0, 1],
    most: () => 0.5,
  },
};

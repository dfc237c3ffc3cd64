// Budgets: made, changed, checked before each call and settled behind it, over all processes of the gateway.

import { StoreError } from '../accounts/account-store.ts';
import { clientError, invalidRequest } from '../canonical/error.ts';
import type { Cluster, ClusterState, Topic } from '../cluster/cluster.ts';
import type { Counter, Counters } from '../cluster/counters.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { WRITES } from './access-log.ts';
import {
  type Budget,
  type BudgetStore,
  type BudgetUnit,
  type BudgetUse,
  budgetProblem,
  type PeriodSpan,
  periodAt,
  type StoredBudgets,
} from './budget.ts';
import {
  type CallCost,
  type CallUse,
  type Grant,
  type MostUse,
  rejected,
  sayCount,
  sayWait,
  type Want,
} from './reservation.ts';
import type { LimitState } from './usage-window.ts';

export type NewBudget = Omit<Budget, 'id' | 'createdAt' | 'revision'>;
type BudgetChange = Partial<Pick<Budget, 'amount' | 'isHard' | 'warnPercent'>>;

/** A budget with its period that runs now. */
export interface BudgetState extends PeriodSpan {
  readonly budget: Budget;
  /** By calls that ended. */
  readonly used: number;
  /** By calls that run, on all processes. */
  readonly reserved: number;
}

/** How near a budget is to its end. */
export function levelOf({ budget, used }: BudgetState): 'ok' | 'warning' | 'spent' {
  const { amount, warnPercent } = budget;
  if (used >= amount) return 'spent';
  return used * 100 >= amount * warnPercent ? 'warning' : 'ok';
}

/** Whom a call belongs to: budgets of the key, of its team and of the gateway count it. */
export interface BudgetSubject {
  readonly keyId: string;
  readonly team: string | undefined;
}

interface BudgetsOptions {
  readonly store: BudgetStore;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly cluster?: Pick<Cluster, 'notices' | 'subscribe'> | undefined;
  /** What records say was used since a time, for a budget that begins within its period. */
  readonly usedSince?: ((budget: NewBudget, from: number) => Promise<number>) | undefined;
  readonly log?: LineLog | undefined;
}

/** A budget in use. */
interface Kept {
  budget: Budget;
  period: Period;
}

interface Period extends PeriodSpan {
  readonly counter: Counter;
  used: number;
}

type BudgetNotice =
  | { readonly kind: 'stored' }
  /** `open` is what the calls hold that run at whoever tells it. */
  | { readonly kind: 'use'; readonly use: BudgetUse; readonly open: number };

const TOPIC: Topic<BudgetNotice> = { name: 'budgets 1' };

/** What calls that run hold is given back within moments. */
const HELD_RETRY_MS = 3000;
/** The longest period, and a day for zones. */
export const MOST_PERIOD_MS = 32 * 86_400_000;

export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #byId = new Map<string, Kept>();
  readonly #unsaved: WriteBehind<BudgetUse>;
  /** Name of a counter → what calls hold that run here. */
  readonly #open = new Map<string, number>();
  /** The same of other processes. */
  readonly #openElsewhere = new Map<string, Map<string, number>>();
  readonly #copy: StoredCopy<StoredBudgets>;
  readonly #endings: readonly (() => void)[];
  /** What was used in periods that began lately, as it was stored. */
  #stored = new Map<string, number>();

  constructor(options: BudgetsOptions, stored: StoredBudgets = { budgets: [], uses: [] }) {
    const { store, clock, cluster, log } = options;
    this.#options = options;
    this.#unsaved = new WriteBehind<BudgetUse>({
      clock,
      log,
      save: (uses) => store.addUses(uses),
      keyOf: useName,
      merge: (older, newer) => ({ ...newer, used: older.used + newer.used }),
      ...WRITES,
      failure: 'The use of budgets cannot be saved; requests go on without it.',
    });
    this.#copy = new StoredCopy({
      ...{ what: 'Budgets', log },
      read: () => store.list(clock.now() - MOST_PERIOD_MS),
      take: (all) => this.#takeAll(all),
    });
    this.#endings = [
      cluster?.notices.listen(TOPIC, {
        take: (notice, from) => this.#takeNotice(notice, from),
        catchUp: () => void this.#copy.reread(),
      }),
      cluster?.subscribe((state) => this.#forgetGone(state)),
    ].filter((end) => end !== undefined);
    this.#learnUses(stored.uses);
    for (const budget of stored.budgets) this.#keep(budget);
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Oldest first. */
  list(): readonly BudgetState[] {
    return [...this.#byId.values()].map((kept) => this.#stateOf(kept));
  }

  /** @throws StoreError `missing` */
  find(id: string): BudgetState {
    return this.#stateOf(this.#find(id));
  }

  /** Those that count the calls of a key, as far as they refuse or warn. */
  listFor(subject: BudgetSubject): readonly BudgetState[] {
    return this.#matching(subject).map((kept) => this.#stateOf(kept));
  }

  /** What of it is used already, as far as records say, counts. @throws GatewayError invalid-request, StoreError */
  async create(input: NewBudget): Promise<BudgetState> {
    const { store, clock, createId, usedSince } = this.#options;
    const now = clock.now();
    const budget: Budget = { ...input, id: createId('budget_'), createdAt: now, revision: 1 };
    const problem = budgetProblem(budget);
    if (problem !== undefined) throw invalidRequest(fieldOf(problem), told`${problem}.`);
    const { from } = periodAt(budget, now);
    const used = (await usedSince?.(input, from)) ?? 0;
    await store.insert(budget);
    await store.addUses([{ budgetId: budget.id, at: from, used }]);
    this.#stored.set(useName({ budgetId: budget.id, at: from }), used);
    const kept = this.#keep(budget);
    this.#changed();
    return this.#stateOf(kept);
  }

  /** @throws StoreError `missing` or `stale` */
  async change(
    id: string,
    change: BudgetChange,
    revision: number | undefined,
  ): Promise<BudgetState> {
    const kept = this.#find(id);
    const { budget: known } = kept;
    if (revision !== undefined && revision !== known.revision) {
      const message = told`The budget was changed meanwhile: it is at revision ${known.revision}, not ${revision}.`;
      throw new StoreError('stale', message);
    }
    const { amount = known.amount, isHard = known.isHard } = change;
    const { warnPercent = known.warnPercent } = change;
    const revised = known.revision + 1;
    const budget: Budget = { ...known, amount, isHard, warnPercent, revision: revised };
    await this.#options.store.update(budget);
    kept.budget = budget;
    this.#changed();
    return this.#stateOf(kept);
  }

  /** @throws StoreError `missing` */
  async remove(id: string): Promise<void> {
    this.#find(id);
    await this.#options.store.remove(id);
    this.#byId.delete(id);
    this.#changed();
  }

  /** Those of a key go with it. @throws StoreError */
  async removeOf(keyId: string): Promise<void> {
    for (const { budget } of [...this.#byId.values()]) {
      if (budget.scope === 'key' && budget.subject === keyId) await this.remove(budget.id);
    }
  }

  /** What the calls of a key are counted by. */
  unitsFor(subject: BudgetSubject): ReadonlySet<BudgetUnit> {
    return new Set(this.#matching(subject).map(({ budget }) => budget.unit));
  }

  /** What a call needs of its budgets. @throws GatewayError forbidden for what no period has room for */
  wants(subject: BudgetSubject, cost: CallCost): readonly BudgetWant[] {
    const now = this.#options.clock.now();
    return this.#matching(subject).flatMap((kept) => {
      const { budget } = kept;
      if (!counts(budget, cost)) return [];
      if (budget.isHard) checkSize(budget, cost);
      const period = this.#periodOf(kept, now);
      period.counter.learn(period.used);
      return [{ ...wantOf(budget, period, { cost, now }), budget, period }];
    });
  }

  /** Counts what was taken. @returns what takes the real use of the call, once it has ended */
  begin(
    wants: readonly BudgetWant[],
    { held, answerTokens }: Grant,
    cost: CallCost,
  ): (used: Partial<CallUse>) => void {
    const open = wants.flatMap(({ budget, period }, index) => {
      const amount = held[index] ?? 0;
      if (budget.unit !== 'requests') {
        this.#hold(budget, period, amount);
        return [{ budget, period, amount }];
      }
      this.#use(budget, period, 1);
      return [];
    });
    return (used) => {
      for (const { budget, period, amount } of open) {
        const spent = usedOf(budget.unit, used) ?? mostOf(budget.unit, cost, answerTokens);
        period.counter.settle(amount, spent);
        this.#hold(budget, period, -amount);
        this.#use(budget, period, spent);
      }
    };
  }

  async close(): Promise<void> {
    for (const end of this.#endings) end();
    await this.#unsaved.close();
  }

  #find(id: string): Kept {
    const kept = this.#byId.get(id);
    if (kept !== undefined) return kept;
    throw new StoreError('missing', told`There is no budget of this id. List them to see all.`);
  }

  #matching({ keyId, team }: BudgetSubject): readonly Kept[] {
    if (this.#byId.size === 0) return [];
    return [...this.#byId.values()].filter(({ budget: { scope, subject } }) => {
      if (scope === 'gateway') return true;
      return subject === (scope === 'key' ? keyId : team);
    });
  }

  #keep(budget: Budget): Kept {
    const period = this.#openPeriod(budget, this.#options.clock.now());
    const kept: Kept = { budget, period };
    this.#byId.set(budget.id, kept);
    return kept;
  }

  #openPeriod(budget: Budget, now: number): Period {
    const span = periodAt(budget, now);
    const used = this.#stored.get(useName({ budgetId: budget.id, at: span.from })) ?? 0;
    const counter = this.#options.counters.open(counterName(budget, span), 'long', {
      initial: used,
      // What one process held in stock another would have to refuse.
      hasStock: false,
      // A request is used up with its beginning.
      isHeld: budget.unit !== 'requests',
    });
    return { ...span, used, counter };
  }

  #periodOf(kept: Kept, now: number): Period {
    const { from, until } = kept.period;
    if (now >= until || now < from) kept.period = this.#openPeriod(kept.budget, now);
    return kept.period;
  }

  #stateOf(kept: Kept): BudgetState {
    const { budget } = kept;
    const { from, until, used } = this.#periodOf(kept, this.#options.clock.now());
    const name = counterName(budget, { from });
    let reserved = this.#open.get(name) ?? 0;
    for (const open of this.#openElsewhere.values()) reserved += open.get(name) ?? 0;
    return { budget, from, until, used, reserved };
  }

  #hold(budget: Budget, period: Period, amount: number): void {
    if (amount === 0) return;
    const name = counterName(budget, period);
    const open = (this.#open.get(name) ?? 0) + amount;
    if (open > 0) this.#open.set(name, open);
    else this.#open.delete(name);
    if (amount > 0) this.#tellUse(budget, period, 0);
  }

  #use(budget: Budget, period: Period, used: number): void {
    period.used += used;
    if (used !== 0) this.#unsaved.add({ budgetId: budget.id, at: period.from, used });
    this.#tellUse(budget, period, used);
  }

  #tellUse(budget: Budget, period: Period, used: number): void {
    const open = this.#open.get(counterName(budget, period)) ?? 0;
    const use = { budgetId: budget.id, at: period.from, used };
    this.#options.cluster?.notices.tell(TOPIC, { kind: 'use', use, open }, 'can-wait');
  }

  #changed(): void {
    this.#copy.noteChange();
    this.#options.cluster?.notices.tell(TOPIC, { kind: 'stored' });
  }

  #takeNotice(notice: BudgetNotice, from: string): void {
    if (notice.kind === 'stored') {
      void this.#copy.reread();
      return;
    }
    const { use, open } = notice;
    const known = this.#openElsewhere.get(from) ?? new Map<string, number>();
    this.#openElsewhere.set(
      from,
      known.set(counterName({ id: use.budgetId }, { from: use.at }), open),
    );
    const kept = this.#byId.get(use.budgetId);
    if (kept === undefined) return;
    const period = this.#periodOf(kept, this.#options.clock.now());
    if (period.from === use.at) period.used += use.used;
  }

  /** What the calls of a process held that is gone is there again: its counters know. */
  #forgetGone({ replicas, isConnected }: ClusterState): void {
    if (!isConnected) return;
    for (const replica of this.#openElsewhere.keys())
      if (!replicas.includes(replica)) this.#openElsewhere.delete(replica);
  }

  #learnUses(uses: readonly BudgetUse[]): void {
    this.#stored = new Map(uses.map((use) => [useName(use), use.used]));
  }

  #takeAll({ budgets, uses }: StoredBudgets): void {
    this.#learnUses(uses);
    const ids = new Set(budgets.map(({ id }) => id));
    for (const id of [...this.#byId.keys()]) if (!ids.has(id)) this.#byId.delete(id);
    for (const budget of budgets) this.#takeStored(budget);
  }

  #takeStored(budget: Budget): void {
    const known = this.#byId.get(budget.id);
    if (known === undefined) {
      this.#keep(budget);
      return;
    }
    const { period } = known;
    const stored = this.#stored.get(useName({ budgetId: budget.id, at: period.from })) ?? 0;
    // Others save a moment later than they tell.
    period.used = Math.max(period.used, stored);
    if (known.budget.revision < budget.revision) known.budget = budget;
  }
}

interface BudgetWant extends Want {
  readonly budget: Budget;
  readonly period: Period;
}

interface WantContext {
  readonly cost: CallCost;
  readonly now: number;
}

/** A budget that only warns takes nothing before: it counts behind. */
function wantOf(budget: Budget, period: Period, { cost, now }: WantContext): Want {
  const { counter, until } = period;
  const { unit, isHard } = budget;
  const canShorten = isHard && (unit === 'tokens' || unit === 'money');
  return {
    counter,
    limit: isHard ? budget.amount : Number.MAX_SAFE_INTEGER,
    amount: (answerTokens) => (isHard ? mostOf(unit, cost, answerTokens) : 0),
    room: canShorten ? () => budget.amount - period.used : undefined,
    refuse: ({ left, isHeld }) => {
      const hasRoom = unit === 'images' && period.used + cost.images <= budget.amount;
      return isHeld || hasRoom
        ? refuseHeld(budget)
        : refuseSpent(budget, { left, retryAfterMs: Math.max(1, until - now), until });
    },
  };
}

function counts({ unit }: Budget, { images }: CallCost): boolean {
  return unit !== 'images' || images > 0;
}

const NOTHING: MostUse = {
  inputTokens: 0,
  answers: 0,
  answerTokens: 0,
  baseNanos: 0,
  tokenNanos: 0,
};

function mostOf(
  unit: BudgetUnit,
  { images, most = NOTHING }: CallCost,
  answerTokens: number,
): number {
  const { inputTokens, answers, baseNanos, tokenNanos } = most;
  switch (unit) {
    case 'requests':
      return 1;
    case 'images':
      return images;
    case 'tokens':
      return Math.max(1, Math.ceil(inputTokens + answers * answerTokens));
    case 'money':
      return Math.ceil(baseNanos + answers * answerTokens * tokenNanos);
    default:
      return unit satisfies never;
  }
}

function usedOf(unit: BudgetUnit, { tokens, images, nanos }: Partial<CallUse>): number | undefined {
  if (unit === 'tokens') return tokens;
  return unit === 'images' ? images : nanos;
}

/** What no period has room for is not to be tried again in the next. @throws GatewayError forbidden */
function checkSize(budget: Budget, { images }: CallCost): void {
  const { unit, amount } = budget;
  if (amount === 0)
    throw rejected(told`${sayWho(budget)} has a budget of nothing: ${sayBudget(budget)}.`);
  if (unit !== 'images' || images <= amount) return;
  throw rejected(
    told`${sayWho(budget)} has a budget of ${sayBudget(budget)}, and this request asks for ${images}.`,
  );
}

/** Whose budget it is, as the one is told who asked. */
function sayWho({ scope, subject = '' }: Budget): Sentence {
  if (scope === 'key') return told`This key`;
  return scope === 'team' ? told`The team ${subject}` : told`This gateway`;
}

const AMOUNTS = {
  requests: (amount: number) => sayCount(amount, 'request'),
  images: (amount: number) => sayCount(amount, 'image'),
  tokens: (amount: number) => sayCount(amount, 'token'),
  money: (amount: number) => told`${sayDollars(amount)} USD`,
} as const;

const PERIODS = {
  day: (amount: Sentence) => told`${amount} a day`,
  week: (amount: Sentence) => told`${amount} a week`,
  month: (amount: Sentence) => told`${amount} a month`,
} as const;

/** `2000 tokens a day`. */
export function sayBudget({ unit, amount, period }: Budget): Sentence {
  return PERIODS[period](AMOUNTS[unit](amount));
}

const NANOS = 1_000_000_000;

/** To the cent, and further where that says nothing. */
function sayDollars(nanos: number): string {
  const dollars = nanos / NANOS;
  return dollars !== 0 && Math.abs(dollars) < 0.1 ? String(dollars) : dollars.toFixed(2);
}

function refuseHeld(budget: Budget) {
  const message = told`Requests that run now hold what is left of the budget of ${sayBudget(budget)} (${sayOwner(budget)}). Try again in ${sayWait(HELD_RETRY_MS)}.`;
  return clientError('rate-limited', message, { retryAfterMs: HELD_RETRY_MS });
}

function sayOwner({ scope, subject = '' }: Budget): Sentence {
  if (scope === 'key') return told`of this key`;
  return scope === 'team' ? told`of the team ${subject}` : told`of this gateway`;
}

interface Spent {
  readonly left: number;
  readonly retryAfterMs: number;
  readonly until: number;
}

function refuseSpent(budget: Budget, { left, retryAfterMs, until }: Spent) {
  const spent =
    left > 0
      ? told`${sayWho(budget)} has ${AMOUNTS[budget.unit](left)} left of its budget of ${sayBudget(budget)}, too little for this request.`
      : told`${sayWho(budget)} has used its budget of ${sayBudget(budget)}.`;
  const end = new Date(until).toISOString().replace('.000Z', 'Z');
  const message = told`${spent} It resets at ${end} (days of ${budget.timeZone}), in ${sayWait(retryAfterMs)}.`;
  return clientError('quota-exhausted', message, { retryAfterMs });
}

/** `timeZone: must be …` is about `timeZone`. */
function fieldOf({ text }: Sentence): string {
  return text.slice(0, text.indexOf(':'));
}

function useName({ budgetId, at }: Pick<BudgetUse, 'budgetId' | 'at'>): string {
  return `${budgetId} ${at}`;
}

/** The same in every process. */
function counterName({ id }: Pick<Budget, 'id'>, { from }: Pick<PeriodSpan, 'from'>): string {
  return `budget ${id} ${from}`;
}

/** The nearest of several limits, as headers show one. */
export function nearestLimit(states: readonly (LimitState | undefined)[]): LimitState | undefined {
  let nearest: LimitState | undefined;
  for (const state of states) {
    if (state === undefined) continue;
    if (nearest === undefined || state.remaining < nearest.remaining) nearest = state;
  }
  return nearest;
}

/** A budget that refuses, as a limit. */
export function limitOf({ budget, used, reserved, until }: BudgetState, now: number): LimitState {
  const remaining = Math.max(0, budget.amount - used - reserved);
  return { limit: budget.amount, remaining, resetMs: Math.max(0, until - now) };
}

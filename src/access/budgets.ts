// Budgets: made, changed, checked before each call and settled behind it, over all processes of the gateway.

import { StoreError } from '../accounts/account-store.ts';
import { clientError, invalidRequest } from '../canonical/error.ts';
import type { CanWait, Cluster, ClusterState, Topic } from '../cluster/cluster.ts';
import type { Counter, Counters } from '../cluster/counters.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import { type Calendar, createCalendar } from '../lib/calendar.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { object, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { TIME, WRITES } from './access-log.ts';
import { REVISION } from './api-key.ts';
import { changeLatest } from './change-latest.ts';
import {
  type CallCost,
  type CallUse,
  type Grant,
  type LimitState,
  type MostUse,
  rejected,
  sayCount,
  sayWait,
  type Want,
} from './usage-meter.ts';

export const BUDGET_SCOPES = ['key', 'team', 'gateway'] as const;
export const BUDGET_UNITS = ['requests', 'images', 'tokens', 'money'] as const;
export const BUDGET_PERIODS = ['day', 'week', 'month'] as const;

export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** Exact also as JSON and in the arithmetic of counters; of money a million dollars. */
const MOST = 1_000_000_000_000_000;

/** What stays as it was made: another unit or another period is another budget. */
export const BUDGET_KIND = {
  scope: { enum: BUDGET_SCOPES },
  subject: optional({
    ...TEXT,
    minLength: 1,
    maxLength: 128,
    description: 'The id of the key or the name of the team; absent for the whole gateway.',
  }),
  unit: { enum: BUDGET_UNITS },
  period: { enum: BUDGET_PERIODS, description: 'Of the calendar; weeks begin on Monday.' },
  timeZone: { ...TEXT, maxLength: 64, description: 'Whose days, such as `Europe/Berlin`.' },
} as const;

export const BUDGET_TERMS = {
  amount: {
    type: 'integer',
    minimum: 0,
    maximum: MOST,
    description: 'The most within a period; money in billionths of a US dollar.',
  },
  isHard: { type: 'boolean', description: 'Whether it refuses what goes beyond, or warns alone.' },
  warnPercent: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'The share of the amount at which it warns.',
  },
} as const;

export const BUDGET_FIELDS = {
  id: TEXT,
  ...BUDGET_KIND,
  ...BUDGET_TERMS,
  createdAt: TIME,
  revision: REVISION,
} as const;

const BUDGET_SCHEMA = object(BUDGET_FIELDS);

export type Budget = ValueOf<typeof BUDGET_SCHEMA>;

/** What is used of a budget in one period, in the unit of its amount. */
export interface BudgetUse {
  readonly budgetId: string;
  /** Beginning of the period. */
  readonly at: number;
  readonly used: number;
}

export interface StoredBudgets {
  /** Oldest first. */
  readonly budgets: readonly Budget[];
  readonly uses: readonly BudgetUse[];
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface BudgetStore {
  /** @param since uses of periods that began earlier are left out */
  list(since: number): Promise<StoredBudgets>;
  /** @param use what was used of it before it was made */
  insert(budget: Budget, use: BudgetUse): Promise<void>;
  /** @throws StoreError `missing`, or `stale` when the stored revision is not the one before */
  update(budget: Budget): Promise<void>;
  /** False when there was none. Its uses go with it. */
  remove(id: string): Promise<boolean>;
  /** Adds to what several processes count. @returns the totals of the budgets that still exist */
  addUses(uses: readonly BudgetUse[]): Promise<readonly BudgetUse[]>;
}

/** What is wrong with a budget, starting with its field; undefined when nothing is. */
function budgetProblem({ scope, subject, timeZone }: Budget): Sentence | undefined {
  if (scope === 'gateway' && subject !== undefined) {
    return told`subject: must be absent for a budget of the whole gateway`;
  }
  if (scope !== 'gateway' && subject === undefined) {
    return told`subject: must be the id of a key or the name of a team`;
  }
  if (createCalendar(timeZone) === undefined) {
    return told`timeZone: must be the name of a time zone such as Europe/Berlin or UTC`;
  }
  return undefined;
}

export interface PeriodSpan {
  readonly from: number;
  readonly until: number;
}

const calendars = new Map<string, Calendar>();

/** The period that holds a moment. In a zone that this system does not know days are those of UTC. */
function periodAt({ period, timeZone }: Budget, now: number): PeriodSpan {
  let calendar = calendars.get(timeZone);
  if (calendar === undefined) {
    calendar = createCalendar(timeZone) ?? createCalendar('UTC');
    if (calendar === undefined) throw new Error('This system knows no time zone.');
    calendars.set(timeZone, calendar);
  }
  const from = calendar.startOf(now, period);
  return { from, until: calendar.endOf(from, period) };
}

export type NewBudget = Omit<Budget, 'id' | 'createdAt' | 'revision'>;
type BudgetChange = Partial<Pick<Budget, 'amount' | 'isHard' | 'warnPercent'>>;

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
  readonly cluster?: Pick<Cluster, 'notices' | 'replica' | 'state' | 'subscribe'> | undefined;
  /** What records say was used in a period, for a budget that begins within it. */
  readonly usedIn?: ((budget: NewBudget, period: PeriodSpan) => Promise<number>) | undefined;
  readonly log?: LineLog | undefined;
}

interface Kept {
  budget: Budget;
  period: Period;
}

interface Period extends PeriodSpan {
  readonly counter: Counter;
  /** Of its counter. */
  readonly name: string;
}

type PeriodName = Pick<BudgetUse, 'budgetId' | 'at'>;

/** What one process knows of a period that no store does. */
interface Share extends PeriodName {
  /** What the calls hold that run there. */
  readonly open: number;
  /** What was used there and is not saved yet. */
  readonly unsaved: number;
}

type BudgetNotice =
  | { readonly kind: 'stored' }
  /** By who may have missed how it stands. */
  | { readonly kind: 'asked' }
  /** How it stands, not what changed: whatever was missed or read meanwhile, nothing counts twice. */
  | ({ readonly kind: 'use'; readonly stored: number } & Share);

const TOPIC: Topic<BudgetNotice> = { name: 'budgets 2' };

const NO_SHARE = { open: 0, unsaved: 0 };
/** Stands for this process among those with a share. */
const OWN = '';

/** What calls that run hold is given back within moments. */
const HELD_RETRY_MS = 3000;
/** The longest period, and a day for zones. */
export const MAX_PERIOD_MS = 32 * 86_400_000;

export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #byId = new Map<string, Kept>();
  /** Asked with every request. */
  isEmpty = true;
  /** How many this process has come to know. */
  #learned = 0;
  readonly #unsaved: WriteBehind<BudgetUse>;
  /** Process → name of a counter → its share. */
  readonly #shares = new Map<string, Map<string, Share>>();
  readonly #copy: StoredCopy<StoredBudgets>;
  readonly #endings: readonly (() => void)[];
  /** Name of a counter → what was used in a period that began lately, as it was stored. */
  readonly #stored = new Map<string, BudgetUse>();

  constructor(options: BudgetsOptions, stored: StoredBudgets = { budgets: [], uses: [] }) {
    const { store, clock, cluster, log } = options;
    this.#options = options;
    this.#unsaved = new WriteBehind<BudgetUse>({
      clock,
      log,
      save: (uses) => this.#save(uses),
      keyOf: counterName,
      merge: (older, newer) => ({ ...newer, used: older.used + newer.used }),
      ...WRITES,
      failure: 'The use of budgets cannot be saved; requests go on without it.',
    });
    this.#copy = new StoredCopy({
      ...{ what: 'Budgets', log, clock, cluster },
      read: () => store.list(clock.now() - MAX_PERIOD_MS),
      take: (all) => this.#takeAll(all),
    });
    this.#endings = [
      cluster?.notices.listen(TOPIC, {
        take: (notice, from) => this.#takeNotice(notice, from),
        catchUp: () => this.#catchUp(),
      }),
      cluster?.subscribe((state) => this.#forgetGone(state)),
    ].filter((end) => end !== undefined);
    stored.uses.forEach(this.#learnStored);
    for (const budget of stored.budgets) this.#keep(budget);
  }

  /** Oldest first. */
  list(): readonly BudgetState[] {
    return [...this.#byId.values()].map((kept) => this.#stateOf(kept));
  }

  /** @throws StoreError `missing` */
  async find(id: string): Promise<BudgetState> {
    return this.#stateOf(await this.#find(id));
  }

  /** Those that count the calls of a key, as far as they refuse or warn. */
  listFor(subject: BudgetSubject): readonly BudgetState[] {
    return this.#matching(subject).map((kept) => this.#stateOf(kept));
  }

  /** What of it is used already, as far as records say, counts. @throws GatewayError invalid-request, StoreError */
  async create(input: NewBudget): Promise<BudgetState> {
    const { store, clock, createId, usedIn } = this.#options;
    const now = clock.now();
    const budget: Budget = { ...input, id: createId('budget_'), createdAt: now, revision: 1 };
    const problem = budgetProblem(budget);
    if (problem !== undefined) throw invalidRequest(fieldOf(problem), told`${problem}.`);
    const span = periodAt(budget, now);
    const used = (await usedIn?.(input, span)) ?? 0;
    const use = { budgetId: budget.id, at: span.from, used };
    await store.insert(budget, use);
    this.#learnStored(use);
    const kept = this.#keep(budget);
    // Calls that run are counted behind, from here on.
    await kept.period.counter.take(0, budget.amount);
    await this.#changed();
    return this.#stateOf(kept);
  }

  /** @throws StoreError `missing` or `stale` */
  change(id: string, change: BudgetChange, revision: number | undefined): Promise<BudgetState> {
    return changeLatest(this.#copy, revision, () => this.#change(id, change, revision));
  }

  async #change(
    id: string,
    change: BudgetChange,
    revision: number | undefined,
  ): Promise<BudgetState> {
    const kept = await this.#find(id, revision);
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
    await this.#changed();
    return this.#stateOf(kept);
  }

  /** @throws StoreError `missing` */
  async remove(id: string): Promise<void> {
    await this.#find(id);
    await this.#options.store.remove(id);
    this.#byId.delete(id);
    this.isEmpty = this.#byId.size === 0;
    await this.#changed();
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
  open(subject: BudgetSubject, cost: CallCost): BudgetCall {
    const known = this.#learned;
    const wants = this.#wants(subject, cost);
    return {
      wants,
      begin: (grant) => {
        const settle = this.#begin(wants, grant);
        return (used) => {
          const spent = (unit: BudgetUnit): number =>
            usedOf(unit, used) ?? mostOf(unit, cost, grant.answerTokens);
          settle(spent);
          if (this.#learned !== known) this.#countRest(subject, wants, spent);
        };
      },
    };
  }

  #wants(subject: BudgetSubject, cost: CallCost): readonly BudgetWant[] {
    const now = this.#options.clock.now();
    return this.#matching(subject).flatMap((kept) => {
      const { budget } = kept;
      if (!counts(budget, cost)) return [];
      if (budget.isHard) checkSize(budget, cost);
      const period = this.#periodOf(kept, now);
      const used = (): number => this.#usedIn(period);
      period.counter.learn(used(), this.#stored.get(period.name)?.used ?? 0);
      return [{ ...wantOf(budget, period, { cost, used, now }), budget, period }];
    });
  }

  #begin(wants: readonly BudgetWant[], { held }: Grant): (spent: Spending) => void {
    const running = wants.flatMap(({ budget, period }, index) => {
      const open = held[index] ?? 0;
      if (budget.unit !== 'requests') {
        if (open > 0) this.#count(budget, period, { open });
        return [{ budget, period, open }];
      }
      this.#count(budget, period, { used: 1 });
      return [];
    });
    return (spent) => {
      for (const { budget, period, open } of running) {
        const used = spent(budget.unit);
        period.counter.settle(open, used);
        this.#count(budget, period, { open: -open, used });
      }
    };
  }

  /** Of a call that ran before there was a budget at all. */
  countLate(subject: BudgetSubject, used: Partial<CallUse>): void {
    this.#countRest(subject, [], (unit) => usedOf(unit, used) ?? 0);
  }

  /** Of a call that ran when a budget was made, which took nothing of it. */
  #countRest(subject: BudgetSubject, wants: readonly BudgetWant[], spent: Spending): void {
    const now = this.#options.clock.now();
    for (const kept of this.#matching(subject)) {
      const { budget } = kept;
      if (wants.some((want) => want.budget.id === budget.id)) continue;
      const period = this.#periodOf(kept, now);
      const used = spent(budget.unit);
      period.counter.settle(0, used);
      this.#count(budget, period, { used });
    }
  }

  async close(): Promise<void> {
    for (const end of this.#endings) end();
    this.#copy.close();
    await this.#unsaved.close();
  }

  async #find(id: string, revision = 0): Promise<Kept> {
    const kept = await this.#copy.find(
      () => this.#byId.get(id),
      ({ budget }) => budget.revision < revision,
    );
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
    this.#learned += 1;
    this.isEmpty = false;
    return kept;
  }

  #openPeriod(budget: Budget, now: number): Period {
    const span = periodAt(budget, now);
    const name = counterName({ budgetId: budget.id, at: span.from });
    const counter = this.#options.counters.open(name, 'long', {
      initial: this.#usedIn({ name }),
      // What one process held in stock another would have to refuse.
      hasStock: false,
      // A request is used up with its beginning.
      isHeld: budget.unit !== 'requests',
    });
    return { ...span, counter, name };
  }

  #periodOf(kept: Kept, now: number): Period {
    const { from, until } = kept.period;
    if (now >= until || now < from) kept.period = this.#openPeriod(kept.budget, now);
    return kept.period;
  }

  #stateOf(kept: Kept): BudgetState {
    const { budget } = kept;
    const period = this.#periodOf(kept, this.#options.clock.now());
    const { from, until, name } = period;
    let reserved = 0;
    for (const shares of this.#shares.values()) reserved += shares.get(name)?.open ?? 0;
    return { budget, from, until, used: this.#usedIn(period), reserved };
  }

  #usedIn({ name }: Pick<Period, 'name'>): number {
    let used = this.#stored.get(name)?.used ?? 0;
    for (const shares of this.#shares.values()) used += shares.get(name)?.unsaved ?? 0;
    return used;
  }

  #count({ id }: Budget, { from }: Period, { open = 0, used = 0 }): void {
    const use = { budgetId: id, at: from, used };
    if (used !== 0) this.#unsaved.add(use);
    this.#changeShare(use, { open, unsaved: used });
  }

  async #save(uses: readonly BudgetUse[]): Promise<void> {
    const stored = await this.#options.store.addUses(uses);
    stored.forEach(this.#learnStored);
    for (const use of uses) this.#changeShare(use, { unsaved: -use.used });
  }

  #changeShare({ budgetId, at }: PeriodName, { open = 0, unsaved = 0 }): void {
    const place = { budgetId, at };
    const known = this.#shares.get(OWN)?.get(counterName(place)) ?? NO_SHARE;
    const share = { ...place, open: known.open + open, unsaved: known.unsaved + unsaved };
    this.#learnShare(OWN, share);
    this.#tellShare(share);
  }

  #tellShare(share: Share): void {
    const stored = this.#stored.get(counterName(share))?.used ?? 0;
    this.#tell({ kind: 'use', ...share, stored }, { about: counterName(share) });
  }

  #learnShare(process: string, share: Share): void {
    const shares = this.#shares.get(process) ?? new Map<string, Share>();
    const name = counterName(share);
    if (share.open > 0 || share.unsaved > 0) this.#shares.set(process, shares.set(name, share));
    else if (shares.delete(name) && shares.size === 0) this.#shares.delete(process);
  }

  /** Nobody takes back what was used. */
  readonly #learnStored = (use: BudgetUse): void => {
    const name = counterName(use);
    if (use.used > (this.#stored.get(name)?.used ?? -1)) this.#stored.set(name, use);
  };

  /** Resolves when it holds in every process. */
  #changed(): Promise<void> {
    this.#copy.noteChange();
    this.#tell({ kind: 'stored' });
    return this.#copy.taken();
  }

  #tell(notice: BudgetNotice, canWait?: CanWait<BudgetNotice>): void {
    this.#options.cluster?.notices.tell(TOPIC, notice, canWait);
  }

  #takeNotice(notice: BudgetNotice, from: string): void {
    switch (notice.kind) {
      case 'stored':
        void this.#copy.reread();
        return;
      case 'asked':
        for (const share of this.#shares.get(OWN)?.values() ?? []) this.#tellShare(share);
        return;
      case 'use': {
        const { budgetId, at, stored, open, unsaved } = notice;
        this.#learnStored({ budgetId, at, used: stored });
        this.#learnShare(from, { budgetId, at, open, unsaved });
        return;
      }
      default:
        notice satisfies never;
    }
  }

  #catchUp(): void {
    const own = this.#shares.get(OWN);
    this.#shares.clear();
    if (own !== undefined) this.#shares.set(OWN, own);
    this.#tell({ kind: 'asked' });
    void this.#copy.reread();
  }

  /** What the calls of a process held that is gone is there again: its counters know. */
  #forgetGone({ replicas, isConnected }: ClusterState): void {
    if (!isConnected) return;
    for (const [replica, shares] of this.#shares) {
      if (replica === OWN || replicas.includes(replica)) continue;
      for (const share of shares.values()) this.#learnShare(replica, { ...share, open: 0 });
    }
  }

  #takeAll({ budgets, uses }: StoredBudgets): void {
    const since = this.#options.clock.now() - MAX_PERIOD_MS;
    for (const [name, { at }] of this.#stored) if (at < since) this.#stored.delete(name);
    uses.forEach(this.#learnStored);
    const ids = new Set(budgets.map(({ id }) => id));
    for (const id of [...this.#byId.keys()]) if (!ids.has(id)) this.#byId.delete(id);
    this.isEmpty = this.#byId.size === 0;
    for (const budget of budgets) this.#takeStored(budget);
  }

  #takeStored(budget: Budget): void {
    const known = this.#byId.get(budget.id);
    if (known === undefined) {
      this.#keep(budget);
      return;
    }
    if (known.budget.revision < budget.revision) known.budget = budget;
  }
}

interface BudgetCall {
  readonly wants: readonly Want[];
  /** Counts what was taken. @returns what takes the real use of the call, once it has ended */
  begin(grant: Grant): (used: Partial<CallUse>) => void;
}

interface BudgetWant extends Want {
  readonly budget: Budget;
  readonly period: Period;
}

/** What a call used, in the unit of a budget. */
type Spending = (unit: BudgetUnit) => number;

interface WantContext {
  readonly cost: CallCost;
  used(): number;
  readonly now: number;
}

/** A budget that only warns takes nothing before: it counts behind. */
function wantOf(budget: Budget, { counter, until }: Period, context: WantContext): Want {
  const { cost, used, now } = context;
  const { unit, isHard } = budget;
  const canShorten = isHard && (unit === 'tokens' || unit === 'money');
  return {
    counter,
    limit: isHard ? budget.amount : Number.MAX_SAFE_INTEGER,
    amount: (answerTokens) => (isHard ? mostOf(unit, cost, answerTokens) : 0),
    room: canShorten ? () => budget.amount - used() : undefined,
    refuse: ({ left, isHeld }) => {
      const hasRoom = unit === 'images' && used() + cost.images <= budget.amount;
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
  return { requests: 1, images, tokens, money: nanos }[unit];
}

/** What no period has room for is not to be tried again in the next. @throws GatewayError forbidden */
function checkSize(budget: Budget, { images }: CallCost): void {
  const { unit, amount } = budget;
  if (amount === 0)
    throw rejected(told`${sayWho(budget)} has a budget of 0: ${sayBudget(budget)}.`);
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
  const isSmall = dollars !== 0 && Math.abs(dollars) < 0.1;
  return isSmall ? dollars.toFixed(9).replace(/(?<!0)0+$/, '') : dollars.toFixed(2);
}

function refuseHeld(budget: Budget) {
  const message = told`Running requests have reserved the rest of the budget of ${sayBudget(budget)} (${sayOwner(budget)}). Try again in ${sayWait(HELD_RETRY_MS)}.`;
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

/** The same in every process. */
function counterName({ budgetId, at }: PeriodName): string {
  return `budget ${budgetId} ${at}`;
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

export function limitOf({ budget, used, reserved, until }: BudgetState, now: number): LimitState {
  const remaining = Math.max(0, budget.amount - used - reserved);
  return { limit: budget.amount, remaining, resetMs: Math.max(0, until - now) };
}

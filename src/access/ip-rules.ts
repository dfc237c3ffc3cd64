// IP rules: which client addresses are let in and which are refused.

import { StoreError } from '../accounts/account-store.ts';
import { clientError, type GatewayError, invalidRequest } from '../canonical/error.ts';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { createMutex } from '../lib/concurrency.ts';
import { createListeners, type Listeners } from '../lib/listeners.ts';
import { onField, told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { type IpAddress, type IpRange, readIpAddress, readIpRange, widthOf } from '../lib/net.ts';
import { COUNT, named, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { TIME, WRITES } from './access-log.ts';
import { changeLatest } from './change-latest.ts';

export const RULE_INPUT = {
  list: { enum: ['allow', 'deny'] },
  range: {
    type: 'string',
    minLength: 1,
    maxLength: 128,
    description: 'An address or CIDR range, of IPv4 or IPv6.',
  },
  note: { type: 'string', maxLength: 1024 },
} as const;

export const ADDRESS_RULE_SCHEMA = named('AddressRule', {
  id: TEXT,
  /** The range is in its usual spelling. */
  ...RULE_INPUT,
  expiresAt: optional({ ...TIME, description: 'Absent when it never expires.' }),
  hits: COUNT,
  lastHitAt: optional(TIME),
  createdAt: TIME,
  revision: { type: 'integer', description: 'For `If-Match`; hits do not change it.' },
});

export type AddressRule = ValueOf<typeof ADDRESS_RULE_SCHEMA>;
type RuleList = AddressRule['list'];

export interface AddressFilterSettings {
  readonly enabled: boolean;
  /** What becomes of an address that no rule covers. */
  readonly fallback: RuleList;
  /** Whether an allow rule wins over a deny rule; otherwise deny wins. */
  readonly allowBeatsDeny: boolean;
}

type VerdictSettings = Omit<AddressFilterSettings, 'enabled'>;

export interface RuleInput extends Pick<AddressRule, 'list' | 'range'> {
  readonly note?: string | undefined;
  readonly expiresAt?: number | null | undefined;
}

export interface AddressFilterOptions {
  readonly store: AddressRuleStore;
  readonly settings: () => AddressFilterSettings;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  /** The other processes with the same rules; without it there are none. */
  readonly notices?: Cluster['notices'] | undefined;
  readonly log?: LineLog | undefined;
}

/** The store says what was changed. */
const TOPIC: Topic<null> = { name: 'address rules 1' };

/** More would be a block list, which belongs into a firewall. */
const MAX_RULES = 20_000;

interface Entry {
  rule: AddressRule;
  readonly range: IpRange;
}

export class AddressFilter {
  readonly #options: AddressFilterOptions;
  readonly #hits: WriteBehind<RuleHits>;
  readonly #listeners: Listeners<string>;
  /** One change after the other: what it was checked against is what it changes. */
  readonly #inTurn = createMutex();
  readonly #copy: StoredCopy<readonly AddressRule[]>;
  readonly #unlisten: (() => void) | undefined;
  #entries: Map<string, Entry>;
  #index: RuleIndex;

  constructor(options: AddressFilterOptions, rules: readonly AddressRule[] = []) {
    const { store, clock, log, notices } = options;
    this.#options = options;
    this.#copy = new StoredCopy({
      ...{ what: 'Address rules', log, clock },
      read: () => store.list(),
      take: (stored) => this.#takeAll(stored),
    });
    const reload = () => void this.#copy.reread();
    this.#unlisten = notices?.listen(TOPIC, { take: reload, catchUp: reload });
    this.#entries = this.#read(rules);
    this.#index = createRuleIndex(this.#entries.values());
    this.#listeners = createListeners((error) => {
      log?.warn({ error }, 'A listener to changes of IP rules failed.');
    });
    // A rule that was removed meanwhile loses its hits.
    this.#hits = new WriteBehind<RuleHits>({
      clock,
      log,
      save: (hits) => store.addHits(hits),
      keyOf: ({ id }) => id,
      merge: (older, newer) => ({ ...newer, hits: older.hits + newer.hits }),
      ...WRITES,
      failure: 'The hits of address rules cannot be saved; requests go on without it.',
    });
  }

  /** Oldest first, with their latest counts. */
  list(): readonly AddressRule[] {
    return [...this.#entries.values()].map(({ rule }) => rule);
  }

  /** What the rules say of an address, also while the filter is off; an unreadable one fits no rule. */
  explain(address: string): ReturnType<typeof judgeAddress> {
    const { settings, clock } = this.#options;
    return judgeAddress(coveringRules(this.#index, address), settings(), clock.now());
  }

  /** Counts the hit. @throws GatewayError forbidden for an address that has to stay out */
  enter(address: string): void {
    if (!this.#options.settings().enabled) return;
    const { verdict, rule } = this.explain(address);
    if (rule !== undefined) this.#count(rule);
    if (verdict === 'allowed') return;
    const message = told`The IP rules of this gateway block the address ${address}. Its operator can change them.`;
    throw clientError('forbidden', message, { reason: 'address-blocked' });
  }

  /** @throws GatewayError invalid-request for a bad range, or when it would lock `byAddress` out */
  add(input: RuleInput, byAddress: string): Promise<AddressRule> {
    return this.#inTurn(async () => {
      if (this.#entries.size >= MAX_RULES) {
        const message = told`range: there are ${MAX_RULES} rules already; remove some.`;
        throw invalidRequest('range', message);
      }
      const { clock, createId } = this.#options;
      const { text, range } = readRange(input.range);
      const rule: AddressRule = {
        id: createId('rule_'),
        list: input.list,
        range: text,
        note: input.note ?? '',
        expiresAt: input.expiresAt ?? undefined,
        hits: 0,
        lastHitAt: undefined,
        createdAt: clock.now(),
        revision: 1,
      };
      this.#refuseTwin(rule);
      return this.#put({ rule, range }, byAddress);
    });
  }

  /** @throws as `add`, and StoreError `missing`, or `stale` where it is at another revision */
  change(
    id: string,
    change: Partial<RuleInput>,
    { byAddress, revision }: { readonly byAddress: string; readonly revision?: number | undefined },
  ): Promise<AddressRule> {
    const make = async () => {
      const { rule } = await this.#find(id, revision);
      if (revision !== undefined && revision !== rule.revision) {
        const message = told`The address rule was changed meanwhile: it is at revision ${rule.revision}, not ${revision}.`;
        throw new StoreError('stale', message);
      }
      const { text, range } = readRange(change.range ?? rule.range);
      const { expiresAt } = change;
      const changed: AddressRule = {
        ...rule,
        list: change.list ?? rule.list,
        range: text,
        note: change.note ?? rule.note,
        expiresAt: expiresAt === undefined ? rule.expiresAt : (expiresAt ?? undefined),
        revision: rule.revision + 1,
      };
      if (changed.range !== rule.range || changed.list !== rule.list) this.#refuseTwin(changed);
      return this.#put({ rule: changed, range }, byAddress);
    };
    return this.#inTurn(() => changeLatest(this.#copy, revision, make));
  }

  /** @throws as `change` */
  remove(id: string, byAddress: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#find(id);
      const next = new Map(this.#entries);
      next.delete(id);
      this.#refuseChange(next, byAddress);
      await this.#options.store.remove(id);
      this.#entries.delete(id);
      this.#tell(id);
    });
  }

  /** @throws GatewayError when these settings would lock the author of a change out */
  refuseLockOut(settings: AddressFilterSettings, author: Author): void {
    this.#refuseStay(this.#index, settings, author);
  }

  /** Calls back with the id of each rule that is added, changed or removed; the answer ends it. */
  subscribe(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#unlisten?.();
    this.#copy.close();
    await this.#hits.close();
  }

  #read(rules: readonly AddressRule[]): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const rule of rules) {
      const reading = readIpRange(rule.range);
      if ('range' in reading) entries.set(rule.id, { rule, range: reading.range });
      else this.#options.log?.warn({ rule: rule.id }, 'A stored IP rule is damaged and not used.');
    }
    return entries;
  }

  /** Another process changed a rule. */
  #takeAll(rules: readonly AddressRule[]): void {
    const known = this.#entries;
    this.#entries = this.#read(rules);
    this.#index = createRuleIndex(this.#entries.values());
    for (const id of new Set([...known.keys(), ...this.#entries.keys()])) {
      if (known.get(id)?.rule.revision !== this.#entries.get(id)?.rule.revision)
        this.#listeners.tell(id);
    }
  }

  async #find(id: string, revision = 0): Promise<Entry> {
    const entry = await this.#copy.find(
      () => this.#entries.get(id),
      ({ rule }) => rule.revision < revision,
    );
    if (entry !== undefined) return entry;
    const message = told`There is no address rule of this id. List them to see all.`;
    throw new StoreError('missing', message);
  }

  /** Of two rules that say the same one would never be hit, and removing one would change nothing. */
  #refuseTwin({ id, list, range }: AddressRule): void {
    const now = this.#options.clock.now();
    for (const { rule } of this.#entries.values()) {
      if (rule.id === id || rule.list !== list || rule.range !== range) continue;
      if (rule.expiresAt !== undefined && rule.expiresAt <= now) continue;
      const message = told`range: there is a rule to ${list} ${range} already; change that one.`;
      throw invalidRequest('range', message);
    }
  }

  async #put(entry: Entry, byAddress: string): Promise<AddressRule> {
    const { rule } = entry;
    this.#refuseChange(new Map(this.#entries).set(rule.id, entry), byAddress);
    const { store } = this.#options;
    await (rule.revision === 1 ? store.insert(rule) : store.update(rule));
    // It may have been hit while it was saved.
    const { hits, lastHitAt } = this.#entries.get(rule.id)?.rule ?? rule;
    entry.rule = { ...rule, hits, lastHitAt };
    this.#entries.set(rule.id, entry);
    this.#tell(rule.id);
    return entry.rule;
  }

  #tell(id: string): void {
    this.#copy.noteChange();
    this.#index = createRuleIndex(this.#entries.values());
    this.#listeners.tell(id);
    this.#options.notices?.tell(TOPIC, null);
  }

  #refuseChange(next: ReadonlyMap<string, Entry>, byAddress: string): void {
    const author = { from: byAddress, to: byAddress };
    this.#refuseStay(createRuleIndex(next.values()), this.#options.settings(), author);
  }

  #refuseStay(index: RuleIndex, settings: AddressFilterSettings, author: Author): void {
    if (!settings.enabled) return;
    const now = this.#options.clock.now();
    const covering = coveringRules(index, author.to);
    const stay = stayOf(covering, settings, now);
    const before = this.#options.settings();
    const staysNow = before.enabled
      ? stayOf(coveringRules(this.#index, author.from), before, now).endsAt
      : Number.POSITIVE_INFINITY;
    // A caller that is already blocked, such as a script of this machine, cannot be locked out; nor is one by a rule
    // that does not change when its access ends.
    if (stay.endsAt >= staysNow) return;
    throw refuseStay(author, stay, judgeAddress(covering, settings, now).rule);
  }

  #count(rule: AddressRule): void {
    const now = this.#options.clock.now();
    const entry = this.#entries.get(rule.id);
    if (entry === undefined) return;
    // In place: the index holds the entry itself.
    entry.rule = { ...entry.rule, hits: entry.rule.hits + 1, lastHitAt: now };
    this.#hits.add({ id: rule.id, hits: 1, lastHitAt: now });
  }
}

function coveringRules(index: RuleIndex, address: string): readonly AddressRule[] {
  const read = readIpAddress(address);
  return read === undefined ? [] : index.find(read).map(({ rule }) => rule);
}

function readRange(text: string): { readonly text: string; readonly range: IpRange } {
  const reading = readIpRange(text);
  if ('range' in reading) return reading;
  throw invalidRequest('range', onField('range', reading));
}

interface RuleHits {
  readonly id: string;
  /** How many more. */
  readonly hits: number;
  readonly lastHitAt: number;
}

/** Every method may throw StoreError. */
export interface AddressRuleStore {
  /** Oldest first. */
  list(): Promise<readonly AddressRule[]>;
  /** Acknowledged rules survive `kill -9`, here and below. */
  insert(rule: AddressRule): Promise<void>;
  /** Replaces all but the hits of the revision before. @throws StoreError `missing` or `stale` */
  update(rule: AddressRule): Promise<void>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** Adds to the counts; of a rule that is gone there is nothing to add. */
  addHits(hits: readonly RuleHits[]): Promise<void>;
}

/** Who stays out for good has nothing from `now` on, who is in for good has an infinite stay. */
interface AddressStay {
  /** From when on it is denied, in milliseconds since the epoch: `now` when it is denied already. */
  readonly endsAt: number;
  /** Of a stay that ends later: the allow rule that ends with it. */
  readonly endsWith: AddressRule | undefined;
}

/** @param covering the narrowest range first. @returns the rule that decided too, where one covers the address */
export function judgeAddress(
  covering: readonly AddressRule[],
  { fallback, allowBeatsDeny }: VerdictSettings,
  now: number,
) {
  const inForce = covering.filter((rule) => endOf(rule) > now);
  const stronger: RuleList = allowBeatsDeny ? 'allow' : 'deny';
  const rule = inForce.find(({ list }) => list === stronger) ?? inForce[0];
  const decision = rule?.list ?? fallback;
  return { verdict: decision === 'allow' ? 'allowed' : 'denied', rule } as const;
}

/** How long the address is let in if no rule changes: by the stronger list, the other, then the fallback. */
export function stayOf(
  covering: readonly AddressRule[],
  { fallback, allowBeatsDeny }: VerdictSettings,
  now: number,
): AddressStay {
  const lists: readonly RuleList[] = allowBeatsDeny ? ['allow', 'deny'] : ['deny', 'allow'];
  let stay: AddressStay = { endsAt: now, endsWith: undefined };
  for (const list of lists) {
    const rules = covering.filter((rule) => rule.list === list);
    const endsAt = Math.max(now, ...rules.map(endOf));
    if (endsAt <= stay.endsAt) continue;
    if (list === 'deny') return stay;
    stay = { endsAt, endsWith: rules.find((rule) => endOf(rule) === endsAt) };
  }
  return fallback === 'deny' ? stay : { endsAt: Number.POSITIVE_INFINITY, endsWith: undefined };
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY }: AddressRule): number {
  return expiresAt;
}

interface Ranged {
  readonly range: IpRange;
}

type RuleIndex = ReturnType<typeof createRuleIndex<Entry>>;

/** Finds the rules that cover an address with one look-up for each prefix length in use. */
export function createRuleIndex<Rule extends Ranged>(rules: Iterable<Rule>) {
  const all = [...rules];
  const byFamily = { 4: nestRules(all, 4), 6: nestRules(all, 6) };
  return {
    /** The covering rules, the narrowest range first. */
    find({ family, value }: IpAddress): readonly Rule[] {
      let nested = lastBefore(byFamily[family], value);
      while (nested !== undefined && nested.last < value) nested = nested.around;
      const covering: Rule[] = [];
      for (; nested !== undefined; nested = nested.around) covering.push(nested.rule);
      return covering;
    },
  };
}

/** Of two ranges one holds the other, or they have nothing in common. */
interface NestedRule<Rule> {
  readonly rule: Rule;
  readonly first: bigint;
  readonly last: bigint;
  /** The narrowest that holds this one. */
  readonly around: NestedRule<Rule> | undefined;
}

/** By the first address, of those with the same one the widest range first: what holds a range stands before it. */
function nestRules<Rule extends Ranged>(
  rules: readonly Rule[],
  family: IpAddress['family'],
): readonly NestedRule<Rule>[] {
  const ofFamily = rules.filter(({ range }) => range.family === family);
  // Reversed, so that of equal ranges the one that was given first is found first.
  const sorted = ofFamily.toReversed().sort(({ range: left }, { range: right }) => {
    const order = Number(left.value > right.value) - Number(left.value < right.value);
    return order || left.prefixBits - right.prefixBits;
  });
  let around: NestedRule<Rule> | undefined;
  return sorted.map((rule) => {
    const { value: first, prefixBits } = rule.range;
    const last = first + (1n << BigInt(widthOf({ family }) - prefixBits)) - 1n;
    while (around !== undefined && around.last < first) around = around.around;
    around = { rule, first, last, around };
    return around;
  });
}

function lastBefore<Rule>(
  nested: readonly NestedRule<Rule>[],
  value: bigint,
): NestedRule<Rule> | undefined {
  let low = 0;
  let high = nested.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { first = 0n } = nested[middle] ?? {};
    if (first <= value) low = middle + 1;
    else high = middle;
  }
  return nested[low - 1];
}

/** The address of the one who makes a change. */
interface Author {
  readonly from: string;
  /** What the gateway takes the same place for afterwards. */
  readonly to: string;
}

/** A rule may name a later end, which no date can. */
const LAST_DATE = 8_640_000_000_000_000;

function refuseStay({ from, to }: Author, stay: AddressStay, rule?: AddressRule): GatewayError {
  const isOther = from !== to;
  const what = isOther
    ? told`This would lock you out: the gateway would see your address as ${to}, and no longer as ${from}`
    : told`This would lock out the address you come from (${from})`;
  if (stay.endsWith !== undefined) {
    const until = new Date(Math.min(stay.endsAt, LAST_DATE)).toISOString();
    const message = told`${what}: the allow rule ${stay.endsWith.range} covers it only until ${until}. Remove its expiry first, or add a rule without one.`;
    return invalidRequest(isOther ? 'trusted_proxies' : 'expiresAt', message);
  }
  const reason =
    rule === undefined
      ? told`${what}: no rule covers it. Add an allow rule for it first.`
      : told`${what}: the deny rule ${rule.range} covers it. Remove that rule, or narrow it, first.`;
  return invalidRequest(isOther ? 'trusted_proxies' : 'range', reason);
}

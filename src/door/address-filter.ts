// The address filter: who is let in by address, and who is told to stay out.

import { StoreError } from '../accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { createJobQueue } from '../lib/job-queue.ts';
import { createListeners, type Listeners } from '../lib/listeners.ts';
import { told } from '../lib/told.ts';
import type { AddressRule, AddressRuleStore, RuleList } from './address-rule.ts';
import {
  type AddressVerdict,
  judgeAddress,
  stayOf,
  type VerdictSettings,
} from './address-verdict.ts';
import type { DoorLog } from './batch.ts';
import { createHitCounter, type HitCounter } from './hit-counter.ts';
import { type IpRange, readIpAddress } from './ip-address.ts';
import { readIpRange } from './ip-range.ts';
import { type Author, refuseStay } from './lock-out-refusal.ts';
import { createRuleIndex, type RuleIndex } from './rule-index.ts';

export interface AddressFilterSettings extends VerdictSettings {
  readonly enabled: boolean;
}

export interface RuleInput {
  readonly list: RuleList;
  readonly range: string;
  readonly note?: string | undefined;
  readonly expiresAt?: number | null | undefined;
}

interface RuleChangeBy {
  readonly byAddress: string;
  /** What the rule has to be at; any when absent. */
  readonly revision?: number | undefined;
}

export interface AddressFilter {
  /** Oldest first, with their latest counts. */
  list(): readonly AddressRule[];
  /** What the rules say of an address, also while the filter is off; an unreadable one fits no rule. */
  explain(address: string): AddressVerdict;
  /** Counts the hit. @throws GatewayError forbidden for an address that has to stay out */
  enter(address: string): void;
  /** @throws GatewayError invalid-request for a bad range, or when it would lock `byAddress` out */
  add(rule: RuleInput, byAddress: string): Promise<AddressRule>;
  /** @throws as `add`, and StoreError `missing` or `stale` */
  change(id: string, change: Partial<RuleInput>, by: RuleChangeBy): Promise<AddressRule>;
  /** @throws as `change` */
  remove(id: string, byAddress: string): Promise<void>;
  /** @throws GatewayError when these settings would lock the author of a change out */
  refuseLockOut(settings: AddressFilterSettings, author: Author): void;
  /** Calls back with the id of each rule that is added, changed or removed; the answer ends it. */
  subscribe(listener: (id: string) => void): () => void;
  close(): Promise<void>;
}

export interface AddressFilterOptions {
  /** Undefined keeps the rules in memory. */
  readonly store: AddressRuleStore | undefined;
  readonly settings: () => AddressFilterSettings;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly log?: DoorLog | undefined;
}

/** More would be a block list, which belongs into a firewall. */
const MOST_RULES = 20_000;

/** `rules` are those of the store. */
export function createAddressFilter(
  options: AddressFilterOptions,
  rules: readonly AddressRule[] = [],
): AddressFilter {
  return new Filter(options, rules);
}

interface Entry {
  rule: AddressRule;
  readonly range: IpRange;
}

class Filter implements AddressFilter {
  readonly #options: AddressFilterOptions;
  readonly #hits: HitCounter;
  readonly #listeners: Listeners<string>;
  /** One change after the other: what it was checked against is what it changes. */
  readonly #inTurn = createJobQueue();
  #entries = new Map<string, Entry>();
  #index: RuleIndex<Entry>;

  constructor(options: AddressFilterOptions, rules: readonly AddressRule[]) {
    this.#options = options;
    for (const rule of rules) {
      const reading = readIpRange(rule.range);
      if (reading.kind === 'good') this.#entries.set(rule.id, { rule, range: reading.range });
      else options.log?.warn({ rule: rule.id }, 'A stored address rule is damaged and not used.');
    }
    this.#index = createRuleIndex(this.#entries.values());
    const { clock, log } = options;
    this.#listeners = createListeners((error) => {
      log?.warn({ error }, 'A listener to changes of address rules failed.');
    });
    this.#hits = createHitCounter({ store: options.store, clock, log });
  }

  list(): readonly AddressRule[] {
    return [...this.#entries.values()].map(({ rule }) => rule);
  }

  explain(address: string): AddressVerdict {
    const { settings, clock } = this.#options;
    return judgeAddress(coveringRules(this.#index, address), settings(), clock.now());
  }

  enter(address: string): void {
    if (!this.#options.settings().enabled) return;
    const { verdict, rule } = this.explain(address);
    if (rule !== undefined) this.#count(rule);
    if (verdict === 'allowed') return;
    throw new GatewayError({
      kind: 'forbidden',
      source: 'client',
      reason: 'address-blocked',
      message: told`The address ${address} is not let in here. Whoever runs this gateway can change that in its address rules.`,
    });
  }

  add(input: RuleInput, byAddress: string): Promise<AddressRule> {
    return this.#inTurn(() => this.#add(input, byAddress));
  }

  change(id: string, change: Partial<RuleInput>, by: RuleChangeBy): Promise<AddressRule> {
    return this.#inTurn(() => this.#change(id, change, by));
  }

  remove(id: string, byAddress: string): Promise<void> {
    return this.#inTurn(() => this.#remove(id, byAddress));
  }

  refuseLockOut(settings: AddressFilterSettings, author: Author): void {
    this.#refuseLockOut(() => this.#index, settings, author);
  }

  subscribe(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    return this.#hits.close();
  }

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return entry;
    throw new StoreError(
      'missing',
      told`There is no address rule of this id. List them to see all.`,
    );
  }

  async #add(input: RuleInput, byAddress: string): Promise<AddressRule> {
    if (this.#entries.size >= MOST_RULES) {
      throw invalidRequest(
        'range',
        told`range: there are ${MOST_RULES} rules already; remove some.`,
      );
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
  }

  async #change(
    id: string,
    change: Partial<RuleInput>,
    { byAddress, revision }: RuleChangeBy,
  ): Promise<AddressRule> {
    const { rule } = this.#find(id);
    if (revision !== undefined && revision !== rule.revision) {
      throw new StoreError(
        'stale',
        told`The address rule was changed meanwhile: it is at revision ${rule.revision}, not ${revision}.`,
      );
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
  }

  /** Of two rules that say the same one would never be hit, and removing one would change nothing. */
  #refuseTwin({ id, list, range }: AddressRule): void {
    const now = this.#options.clock.now();
    for (const { rule } of this.#entries.values()) {
      if (rule.id === id || rule.list !== list || rule.range !== range) continue;
      if (rule.expiresAt !== undefined && rule.expiresAt <= now) continue;
      throw invalidRequest(
        'range',
        told`range: there is a rule to ${list} ${range} already; change that one.`,
      );
    }
  }

  async #remove(id: string, byAddress: string): Promise<void> {
    this.#find(id);
    const next = new Map(this.#entries);
    next.delete(id);
    const author = { from: byAddress, to: byAddress };
    this.#refuseLockOut(() => createRuleIndex(next.values()), this.#options.settings(), author);
    await this.#options.store?.remove(id);
    this.#entries.delete(id);
    this.#hits.forget(id);
    this.#index = createRuleIndex(this.#entries.values());
    this.#listeners.tell(id);
  }

  async #put(entry: Entry, byAddress: string): Promise<AddressRule> {
    const { rule } = entry;
    const next = new Map(this.#entries).set(rule.id, entry);
    const author = { from: byAddress, to: byAddress };
    this.#refuseLockOut(() => createRuleIndex(next.values()), this.#options.settings(), author);
    const { store } = this.#options;
    await (rule.revision === 1 ? store?.insert(rule) : store?.update(rule));
    // It may have been hit while it was saved.
    const { hits, lastHitAt } = this.#entries.get(rule.id)?.rule ?? rule;
    entry.rule = { ...rule, hits, lastHitAt };
    this.#entries.set(rule.id, entry);
    this.#index = createRuleIndex(this.#entries.values());
    this.#listeners.tell(rule.id);
    return entry.rule;
  }

  #refuseLockOut(
    buildIndex: () => RuleIndex<Entry>,
    settings: AddressFilterSettings,
    author: Author,
  ): void {
    if (!settings.enabled) return;
    const now = this.#options.clock.now();
    const covering = coveringRules(buildIndex(), author.to);
    const stay = stayOf(covering, settings, now);
    // Whoever is out already, such as a script of this machine, cannot be locked out; nor is anybody
    // by what leaves the end of their stay where it is.
    if (stay.endsAt >= this.#endOfStay(author.from, now)) return;
    throw refuseStay(author, stay, judgeAddress(covering, settings, now));
  }

  /** As things are. */
  #endOfStay(address: string, now: number): number {
    const settings = this.#options.settings();
    if (!settings.enabled) return Number.POSITIVE_INFINITY;
    return stayOf(coveringRules(this.#index, address), settings, now).endsAt;
  }

  #count(rule: AddressRule): void {
    const now = this.#options.clock.now();
    const entry = this.#entries.get(rule.id);
    if (entry === undefined) return;
    // In place: the index holds the entry itself.
    entry.rule = { ...entry.rule, hits: entry.rule.hits + 1, lastHitAt: now };
    this.#hits.count(rule.id, now);
  }
}

function coveringRules(index: RuleIndex<Entry>, address: string): readonly AddressRule[] {
  const read = readIpAddress(address);
  return read === undefined ? [] : index.find(read).map(({ rule }) => rule);
}

function readRange(text: string): { readonly text: string; readonly range: IpRange } {
  const reading = readIpRange(text);
  if (reading.kind === 'good') return reading;
  throw invalidRequest('range', `range: ${reading.problem}.`);
}

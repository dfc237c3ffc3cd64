// The labels of the accounts: whom a label means, and the name by which requests and usage tell an account from others.

import type { Account } from '../accounts/account.ts';

type AccountRecord = Account['record'];

/** Finds accounts by their label, whatever its case, and names them so that no two have the same name. */
export class AccountLabels {
  readonly #records = new Map<string, AccountRecord>();
  /** By label, and by label and upstream. */
  readonly #ids = new Map<string, Set<string>>();
  /** Those that were asked for since the last change. */
  readonly #names = new Map<string, string>();

  constructor(accounts: readonly Account[]) {
    for (const account of accounts) this.put(account);
  }

  put({ record }: Account): void {
    this.remove(record.id);
    this.#records.set(record.id, record);
    for (const key of keysOf(record)) {
      this.#ids.set(key, (this.#ids.get(key) ?? new Set()).add(record.id));
    }
  }

  remove(id: string): void {
    this.#names.clear();
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#records.delete(id);
    for (const key of keysOf(record)) {
      const sharing = this.#ids.get(key);
      if (sharing?.delete(id) === true && sharing.size === 0) this.#ids.delete(key);
    }
  }

  /** By its label or its name. Several when upstreams have accounts of the same label. */
  idsOf(label: string): ReadonlySet<string> {
    return this.#ids.get(label.toLowerCase()) ?? NOBODY;
  }

  /** The name of an account in records: its label, with the upstream where an older account has that label. */
  nameOf(id: string): string | undefined {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    const sharing = [...this.idsOf(record.label)].flatMap((one) => this.#records.get(one) ?? []);
    const isFirst = sharing.every((other) => other === record || isOlder(record, other));
    const name = isFirst ? record.label : withUpstream(record);
    this.#names.set(id, name);
    return name;
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function keysOf(record: AccountRecord): readonly string[] {
  return [record.label.toLowerCase(), withUpstream(record).toLowerCase()];
}

function withUpstream({ label, upstreamId }: AccountRecord): string {
  return `${label} (${upstreamId})`;
}

function isOlder(left: AccountRecord, right: AccountRecord): boolean {
  return (
    left.createdAt - right.createdAt < 0 ||
    (left.createdAt === right.createdAt && left.id < right.id)
  );
}

// What a database must hold, by what its killed writers began and what was acknowledged to them.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Credential } from '../../src/accounts/account.ts';
import type { StoredAccount } from '../../src/accounts/account-store.ts';
import type { SqliteStores } from '../../src/stores/sqlite/open-database.ts';

/** A line of the writer: said before the work, and again when the store acknowledged it. */
export interface WriterLine {
  readonly step: 'begun' | 'acknowledged';
  readonly change: 'insert' | 'rotate' | 'update' | 'remove';
  readonly id: string;
  /** The refresh token or the notes it brings. */
  readonly value?: string;
}

export interface Expected {
  hear(line: WriterLine): void;
  /** What is lost or wrong, in words; empty when all is there. */
  check(stores: SqliteStores): Promise<readonly string[]>;
  readonly acknowledged: number;
}

/** Of each account: what may be found. One value when all was acknowledged, two around a kill. */
interface Possible {
  readonly isThere: Set<boolean>;
  readonly token: Set<string | undefined>;
  readonly notes: Set<string | undefined>;
}

export function createExpected(): Expected {
  const accounts = new Map<string, Possible>();
  let acknowledged = 0;

  const possibleOf = (id: string): Possible => {
    const known = accounts.get(id) ?? {
      isThere: new Set([false]),
      token: new Set<string | undefined>(),
      notes: new Set<string | undefined>([undefined]),
    };
    accounts.set(id, known);
    return known;
  };
  return {
    get acknowledged() {
      return acknowledged;
    },
    hear({ step, change, id, value }) {
      const possible = possibleOf(id);
      if (step === 'acknowledged') acknowledged += 1;
      if (change === 'insert' || change === 'remove') {
        settle(possible.isThere, change === 'insert', step);
      }
      if (change === 'insert' || change === 'rotate') settle(possible.token, value, step);
      if (change === 'update') settle(possible.notes, value, step);
    },
    async check({ accounts: store }) {
      const wrong: string[] = [];
      const stored = new Map((await store.list()).map((account) => [account.record.id, account]));
      for (const id of stored.keys()) if (!accounts.has(id)) wrong.push(`${id} came from nowhere`);
      for (const [id, possible] of accounts) {
        const account = stored.get(id);
        const token = tokenOf((await store.readCredential(id))?.credential);
        wrong.push(...compare(id, possible, account, token));
        accounts.set(id, {
          isThere: new Set([account !== undefined]),
          token: new Set([token]),
          notes: new Set([account?.record.notes]),
        });
      }
      return wrong;
    },
  };
}

function settle<Value>(possible: Set<Value>, value: Value, step: WriterLine['step']): void {
  if (step === 'acknowledged') possible.clear();
  possible.add(value);
}

function compare(
  id: string,
  possible: Possible,
  account: StoredAccount | undefined,
  token: string | undefined,
): readonly string[] {
  if (!possible.isThere.has(account !== undefined)) {
    return [account === undefined ? `${id} is lost` : `${id} was removed and is back`];
  }
  if (account === undefined) return token === undefined ? [] : [`${id} left its credential`];
  const { health, record } = account;
  return [
    ...(health.status.kind === 'active' ? [] : [`${id} is damaged`]),
    ...(possible.token.has(token) ? [] : [`a rotation of ${id} is lost`]),
    ...(possible.notes.has(record.notes) ? [] : [`a change of ${id} is lost`]),
  ];
}

function tokenOf(credential: Credential | undefined): string | undefined {
  return credential?.kind === 'oauth' ? credential.refreshToken : undefined;
}

/** Resolves at the end of the output. The kill may cut the last line: then it was not said. */
export async function hearAll(output: Readable, hear: (line: WriterLine) => void): Promise<void> {
  for await (const line of createInterface({ input: output })) {
    // The one narrowing of this file: the writer is ours, and its lines are whole when they end so.
    if (line.endsWith('}')) hear(JSON.parse(line) as WriterLine);
  }
}

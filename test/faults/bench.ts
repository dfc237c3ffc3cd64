// The pool the fault matrix is run on: some accounts of one scripted upstream, made well again for each row.

import type { AccountHealth } from '../../src/accounts/health.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { until } from '../support/passing-clock.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

export interface FaultBench {
  readonly gateway: PoolApp;
  readonly upstream: ScriptedUpstream;
  /** Account id by label. */
  readonly ids: ReadonlyMap<string, string>;
  /** Only these accounts serve, all in good health; nothing of earlier rows is left. */
  prepare(labels: readonly string[]): Promise<void>;
  health(label: string): AccountHealth;
  close(): Promise<void>;
}

/** Labels in the order they are asked in. */
export const SIGNED_IN = ['sue', 'sam', 'sid'] as const;
export const WITH_KEY = ['kim', 'ken', 'kit', 'kat', 'kay', 'kip', 'kai'] as const;
const UNREACHED = ['refused', 'insecure'] as const;

const DAY_MS = 25 * 3_600_000;

export async function startFaultBench(): Promise<FaultBench> {
  const upstream = await startScriptedUpstream();
  const gateway = await startPoolApp({ file: { upstreams: describeUpstreams(upstream.url) } });
  const ids = await addAccounts(gateway);
  const idOf = (label: string): string => ids.get(label) ?? '';
  return {
    gateway,
    upstream,
    ids,
    health(label) {
      const account = gateway.app.book.find(idOf(label));
      if (account === undefined) throw new Error(`There is no account ${label}.`);
      return account.health;
    },
    async prepare(labels) {
      const { book, pool } = gateway.app;
      upstream.script({});
      gateway.clock.skip(DAY_MS);
      for (const [label, id] of ids) {
        book.apply(id, { kind: 'clear-cooldown' });
        book.apply(id, { kind: 'enable' });
        if (!labels.includes(label)) book.apply(id, { kind: 'disable' });
      }
      const reached = labels.filter((label) => !isUnreached(label)).length;
      const before = upstream.lists();
      await pool.ensureModels();
      await until(() => upstream.lists() >= before + reached, 'the model lists were read');
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** In a few words: what keeps the account from serving the model, and what is held against it. */
export function standing(health: AccountHealth, model: string, now: number): string {
  const { status, outUntil, revocations, models } = health;
  const cooling = models.get(model);
  const words = [
    status.kind === 'disabled' ? [`disabled ${status.reason}`] : [],
    status.kind === 'blocked' ? [`blocked ${status.until - status.since}`] : [],
    outUntil > now ? [`out ${Math.round((outUntil - now) / 1000)} s`] : [],
    revocations > 0 ? [`revocations ${revocations}`] : [],
    cooling !== undefined && cooling.coolUntil > now
      ? [`${cooling.cause} ${cooling.coolUntil - cooling.since}`]
      : [],
  ].flat();
  return words.length === 0 ? 'fine' : words.join(', ');
}

function isUnreached(label: string): boolean {
  return UNREACHED.some((one) => one === label);
}

function describeUpstreams(url: string): JsonObject {
  const oauth = {
    client_id: 'a',
    authorization_url: `${url}/authorize`,
    token_url: `${url}/token`,
  };
  return {
    play: { profile: 'sandbox', base_url: url, oauth },
    refused: { profile: 'sandbox', base_url: 'http://127.0.0.1:1' },
    insecure: { profile: 'sandbox', base_url: url.replace('http:', 'https:') },
  };
}

async function addAccounts(gateway: PoolApp): Promise<Map<string, string>> {
  const accounts: JsonObject[] = [
    ...SIGNED_IN.map((label) => ({
      upstream: 'play',
      kind: 'oauth',
      label,
      refreshToken: `refresh.${label}.0`,
    })),
    ...WITH_KEY.map((label) => ({ upstream: 'play', kind: 'api-key', label, key: `key.${label}` })),
    ...UNREACHED.map((label) => ({ upstream: label, kind: 'api-key', label, key: 'key.x' })),
  ];
  const ids = new Map<string, string>();
  for (const [at, account] of accounts.entries()) {
    // The unreached go first, then everyone in order.
    const isLate = account.upstream !== 'play';
    const priority = isLate ? 1000 : 100 - at;
    const { id } = await gateway.must('POST', '/api/accounts', { ...account, priority });
    ids.set(String(account.label), String(id));
  }
  return ids;
}

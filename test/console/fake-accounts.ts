// Accounts of the fixture server: all states there are, long and hostile names, and what is done to them.

import type { Account, AccountList, Quota } from '../../src/admin/contract.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { type FakeRoute, HOSTILE, json, refuse, type Scene } from './fake-route.ts';

type Cooldown = Account['cooldowns'][number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const MODELS = [
  'gemini-3-flash',
  'gemini-3-pro',
  'gemini-3-pro-image',
  'claude-sonnet-4-6',
  'claude-opus-4-6-thinking',
];

export interface FakeAccounts {
  readonly routes: readonly FakeRoute[];
  list(): readonly Account[];
  add(change: Partial<Account>): Account;
}

export function createFakeAccounts(scene: Scene, now: number): FakeAccounts {
  let accounts: Account[] = seedAccounts(scene, now);
  const find = (id: string): Account | undefined => accounts.find((one) => one.id === id);
  const put = (id: string, change: (account: Account) => Partial<Account>) => {
    const account = find(id);
    if (account === undefined) return refuse(404, 'There is no account of this id.');
    const changed = { ...account, ...change(account) };
    accounts = accounts.map((one) => (one.id === id ? changed : one));
    return json(changed);
  };
  const add = (change: Partial<Account>): Account => {
    const added = makeAccount(now, { id: `added-${accounts.length + 1}`, ...change });
    accounts = [...accounts, added];
    return added;
  };
  const post = (path: string, run: FakeRoute['run']): FakeRoute => ({ method: 'POST', path, run });
  const routes: readonly FakeRoute[] = [
    { method: 'GET', path: '/api/accounts', run: () => json({ accounts } satisfies AccountList) },
    post('/api/accounts', ({ body }) => {
      if (body.key === 'bad') return refuse(400, 'key: the upstream does not know it.', 'key');
      return json(add({ label: String(body.label ?? 'key-1'), kind: 'api-key' }), 201);
    }),
    post('/api/accounts/order', ({ body }) => {
      const order = Array.isArray(body.order) ? body.order : [];
      const place = ({ id }: Account): number => (order.includes(id) ? order.indexOf(id) : 1e6);
      accounts = accounts.toSorted((left, right) => place(left) - place(right));
      return json({ accounts, fixed: [] });
    }),
    post('/api/accounts/import', () => json(IMPORTED)),
    post('/api/accounts/export', () =>
      json({ sealed: 'sealed', count: accounts.length, left: [] }),
    ),
    post('/api/accounts/{id}/enable', ({ parameter }) =>
      put(parameter, () => ({ status: ACTIVE })),
    ),
    post('/api/accounts/{id}/disable', ({ parameter }) =>
      put(parameter, () => ({ status: disabled('manual', now, 'Somebody disabled it.') })),
    ),
    post('/api/accounts/{id}/refresh', ({ parameter }) => put(parameter, () => ({}))),
    post('/api/accounts/{id}/clear-cooldowns', ({ parameter, body }) =>
      put(parameter, ({ cooldowns }) => ({
        cooldowns:
          body.model === undefined ? [] : cooldowns.filter((one) => one.model !== body.model),
      })),
    ),
    post('/api/accounts/{id}/test', ({ parameter }) =>
      json(find(parameter)?.status.kind === 'disabled' ? BAD_TEST : GOOD_TEST),
    ),
    {
      method: 'PATCH',
      path: '/api/accounts/{id}',
      run({ parameter, body, ifMatch }) {
        const revision = find(parameter)?.revision;
        if (ifMatch !== undefined && ifMatch !== `"${revision}"`) return refuse(412, 'Stale.');
        if (body.label === 'taken') return refuse(409, 'Another account has that label.', 'label');
        return put(parameter, (account) => ({ ...body, revision: account.revision + 1 }));
      },
    },
    {
      method: 'DELETE',
      path: '/api/accounts/{id}',
      run({ parameter }) {
        accounts = accounts.filter(({ id }) => id !== parameter);
        return { status: 204 };
      },
    },
  ];
  return { routes, list: () => accounts, add };
}

const ACTIVE: Account['status'] = {
  kind: 'active',
  reason: null,
  since: null,
  until: null,
  detail: null,
  wayOut: null,
};

const IMPORTED = {
  added: 2,
  updated: 1,
  failed: 1,
  results: [
    { index: 1, label: 'ada@example.org', outcome: 'added', accountId: 'ada', reason: null },
    { index: 2, label: 'bob@example.org', outcome: 'added', accountId: 'bob', reason: null },
    { index: 3, label: 'cleo@example.org', outcome: 'updated', accountId: 'cleo', reason: null },
    {
      index: 4,
      label: null,
      outcome: 'failed',
      accountId: null,
      reason: asSentence('The token was refused.'),
    },
  ],
};

const GOOD_TEST = {
  isUsable: true,
  steps: [
    {
      name: 'credential',
      isGood: true,
      durationMs: 3,
      message: asSentence('There is a credential to use.'),
    },
    {
      name: 'models',
      isGood: true,
      durationMs: 214,
      message: asSentence('Models the upstream offers: 23.'),
    },
    {
      name: 'quota',
      isGood: true,
      durationMs: 180,
      message: asSentence('The quota of 5 models was read.'),
    },
  ],
};

const BAD_TEST = {
  isUsable: false,
  steps: [
    {
      name: 'credential',
      isGood: false,
      durationMs: 312,
      message: asSentence(
        'The refresh token was refused. It said: Token has been expired or revoked.',
      ),
    },
  ],
};

function disabled(reason: string, now: number, wayOut: string): Account['status'] {
  const since = new Date(now - 3 * HOUR).toISOString();
  return { kind: 'disabled', reason, since, until: null, detail: null, wayOut };
}

function makeAccount(now: number, change: Partial<Account>): Account {
  return {
    id: 'account',
    upstream: 'code-assist',
    kind: 'oauth',
    label: 'someone@example.org',
    name: change.label ?? 'someone@example.org',
    tier: 'pro',
    billing: null,
    usualBilling: 'flat-rate',
    project: null,
    priority: 0,
    notes: null,
    hasProxy: false,
    origin: 'stored',
    status: ACTIVE,
    condition: {
      state: conditionOf(change),
      attempts: 20,
      share: 1,
      lastSuccessAt: new Date(now - 4 * MINUTE).toISOString(),
      lastFailureAt: new Date(now - 3 * HOUR).toISOString(),
      lastFailure: asSentence('The upstream answered 503: the model is overloaded.'),
      reason: null,
      trial: null,
    },
    cooldowns: [],
    quotas: quotas(now, [82, 64, 100, 47, 91]),
    models: 23,
    createdAt: new Date(now - 40 * 24 * HOUR).toISOString(),
    lastUsedAt: new Date(now - 4 * MINUTE).toISOString(),
    revision: 1,
    ...change,
  };
}

function conditionOf({ status, cooldowns = [] }: Partial<Account>) {
  if (status?.kind === 'disabled') return 'disabled';
  const isCooling = status?.kind === 'blocked' || cooldowns.some(({ model }) => model === null);
  return isCooling ? 'cooling-down' : 'healthy';
}

function quotas(now: number, percents: readonly number[]): Quota[] {
  return percents.map((percent, index) => ({
    model: MODELS[index] ?? `model-${index}`,
    percent,
    resetsAt: percent === 100 ? null : new Date(now + (index + 1) * 71 * MINUTE).toISOString(),
    source: index === 4 ? 'estimated' : 'upstream',
    fetchedAt: new Date(now - 2 * MINUTE).toISOString(),
    isProtected: percent > 0 && percent < 10,
  }));
}

function cool(now: number, model: string | null, cause: Cooldown['cause'], minutes: number) {
  return { model, cause, until: new Date(now + minutes * MINUTE).toISOString() };
}

function seedAccounts(scene: Scene, now: number): Account[] {
  if (scene === 'empty') return [];
  const revoked = 'Sign in to this account again.';
  const special: Partial<Account>[] = [
    { id: 'maria', label: 'maria.lindqvist@example.org', tier: 'ultra', priority: 9 },
    {
      id: 'jun',
      label: 'jun.watanabe@example.org',
      quotas: quotas(now, [0, 12, 100, 6, 71]),
      cooldowns: [
        cool(now, 'gemini-3-flash', 'quota', 71),
        cool(now, 'claude-sonnet-4-6', 'rate', 0.6),
      ],
    },
    {
      id: 'revoked',
      label: 'old.laptop@example.org',
      status: {
        ...disabled('invalid-grant', now, revoked),
        detail: asSentence('Token has been expired or revoked.'),
      },
      lastUsedAt: new Date(now - 29 * HOUR).toISOString(),
    },
    {
      id: 'blocked',
      label: 'new.joiner@example.org',
      tier: 'free',
      status: {
        kind: 'blocked',
        reason: 'verification',
        since: new Date(now - 3 * MINUTE).toISOString(),
        until: new Date(now + 7 * MINUTE).toISOString(),
        detail: null,
        wayOut:
          'The upstream wants this account verified: sign in to it there and follow what it asks.',
      },
    },
    { id: 'key-1', label: 'key-1', kind: 'api-key', upstream: 'gemini', tier: null, quotas: [] },
    {
      id: 'robot',
      label: 'gateway-runner@a-rather-long-project-name-4711.iam.gserviceaccount.com',
      kind: 'service-account',
      upstream: 'vertex',
      tier: null,
      project: 'a-rather-long-project-name-4711',
      cooldowns: [cool(now, null, 'credential', 0.8)],
      hasProxy: true,
    },
    { id: 'hostile', label: `${HOSTILE[0]}@example.org`, notes: HOSTILE[1], project: 'p' },
    { id: 'parked', label: 'spare@example.org', status: disabled('manual', now, 'Enable it.') },
    {
      id: 'env/key',
      label: 'environment-1',
      kind: 'api-key',
      upstream: 'gemini',
      origin: 'environment',
    },
  ];
  const all = special.map((change) => makeAccount(now, change));
  if (scene === 'rich') return all;
  return all.map((account) => ({ ...account, status: disabled('forbidden', now, revoked) }));
}

import { expect, test } from 'vitest';
import { told } from '../../lib/localized-message.ts';
import type { JudgedAccount } from '../account-view.ts';
import { findAttention } from './attention.ts';

type AttentionSources = Parameters<typeof findAttention>[0];

const ACTIVE: JudgedAccount['status'] = {
  kind: 'active',
  reason: null,
  since: null,
  until: null,
  detail: null,
  wayOut: null,
};
const REVOKED: JudgedAccount['status'] = { ...ACTIVE, kind: 'disabled', reason: 'invalid-grant' };

function account(id: string, status: JudgedAccount['status']): JudgedAccount {
  return {
    id,
    upstream: 'main',
    kind: 'oauth',
    name: `${id}@example.org`,
    status,
    condition: {
      state: status.kind === 'active' ? 'healthy' : 'disabled',
      attempts: 0,
      share: null,
      lastSuccessAt: null,
      lastFailureAt: null,
      lastFailure: null,
      reason: null,
      trial: null,
    },
    cooldowns: [],
  };
}

function sources(change: Partial<AttentionSources> = {}): AttentionSources {
  return {
    now: 0,
    facts: {
      isSandbox: false,
      address: 'http://127.0.0.1:8045',
      authMode: 'auto',
      isLoopback: true,
      consolePassword: 'own',
      configProblems: [],
      warnings: [],
      isLasting: true,
    },
    accounts: [account('a', ACTIVE)],
    quota: [],
    unserved: [],
    lastMinute: { requests: 0, errors: 0, faults: 0 },
    recent: { requests: 0, errors: 0, faults: 0 },
    records: { unsaved: 0, dropped: 0 },
    ...change,
  };
}

test('where all is well nothing wants attention', () => {
  expect(findAttention(sources())).toEqual([]);
});

test('an entry holds what its sentence is made of, so that others can say it in their words', () => {
  const quota = [{ family: 'alpha', kind: 'image', models: ['m'], percent: 4 }] as const;
  const recent = { requests: 10, errors: 6, faults: 6 };
  const accounts = [account('a', ACTIVE), account('b', REVOKED)];
  const found = findAttention(
    sources({ accounts, recent, quota: quota.map((one) => ({ ...one, models: [...one.models] })) }),
  );
  expect(found.map(({ kind, about }) => [kind, about])).toEqual([
    ['many-errors', { count: 6, total: 10 }],
    ['account-out', { account: 'b@example.org', accountKind: 'oauth', reason: 'invalid-grant' }],
    ['quota-low', { family: 'alpha', quotaKind: 'image', percent: 4 }],
  ]);
});

const DOUBTFUL: JudgedAccount['status'] = { ...ACTIVE, reason: 'refused-grant' };

test('an account whose sign-in was refused is told before it is disabled', () => {
  const accounts = [account('doubted', DOUBTFUL), account('out', REVOKED)];
  expect(findAttention(sources({ accounts }))).toMatchObject([
    { kind: 'account-out', link: '/accounts/out' },
    {
      kind: 'account-doubtful',
      severity: 'warning',
      link: '/accounts/doubted',
      about: { account: 'doubted@example.org', accountKind: 'oauth', reason: 'refused-grant' },
    },
  ]);
});

test.each([
  { errors: 1, requests: 1, severity: undefined },
  { errors: 2, requests: 2, severity: 'warning' },
  { errors: 2, requests: 3, severity: undefined },
  { errors: 5, requests: 6, severity: 'warning' },
  { errors: 2, requests: 100, severity: undefined },
  { errors: 3, requests: 13, severity: undefined },
  { errors: 3, requests: 12, severity: 'warning' },
  { errors: 4, requests: 8, severity: 'warning' },
  { errors: 5, requests: 100, severity: 'warning' },
  { errors: 5, requests: 251, severity: undefined },
  { errors: 5, requests: 5, severity: 'error' },
])('$errors failures of $requests requests are told as $severity', ({ severity, ...recent }) => {
  const faults = recent.errors;
  expect(findAttention(sources({ recent: { ...recent, faults } }))[0]?.severity).toBe(severity);
});

test.each([
  { errors: 40, faults: 0, requests: 100, severity: 'info' },
  { errors: 2, faults: 0, requests: 2, severity: 'info' },
  // Nobody else is there whose requests succeed.
  { errors: 9, faults: 0, requests: 9, severity: 'warning' },
  { errors: 40, faults: 1, requests: 100, severity: 'info' },
  { errors: 40, faults: 5, requests: 100, severity: 'warning' },
  { errors: 93, faults: 3, requests: 100, severity: 'warning' },
  { errors: 100, faults: 5, requests: 100, severity: 'error' },
])(
  '$errors errors, $faults by no fault of a client, of $requests requests are told as $severity',
  ({ severity, ...recent }) => {
    expect(findAttention(sources({ recent }))[0]?.severity).toBe(severity);
  },
);

test('what fails altogether now is grave, whatever went well in the minutes before', () => {
  const recent = { requests: 300, errors: 60, faults: 60 };
  const tell = (errors: number, requests: number) =>
    findAttention(sources({ recent, lastMinute: { requests, errors, faults: errors } }))[0]
      ?.severity;
  expect(tell(60, 60)).toBe('error');
  expect(tell(59, 60)).toBe('warning');
  expect(tell(4, 4)).toBe('warning');
});

test('of many accounts that are out a few are named and the others counted', () => {
  const out = Array.from({ length: 8 }, (_, index) => account(`out-${index}`, REVOKED));
  const found = findAttention(sources({ accounts: [account('a', ACTIVE), ...out] }));
  expect(found.map(({ kind }) => kind)).toEqual([
    ...Array.from({ length: 5 }, () => 'account-out'),
    'accounts-out',
  ]);
  expect(found.at(-1)?.about).toEqual({ count: 3 });
});

test('what stands for several names each, for webhooks to be told of one more', () => {
  const budgetOf = (id: string): NonNullable<AttentionSources['facts']['budgets']>[number] => ({
    level: 'spent',
    subjectName: id,
    state: {
      ...{ from: 0, until: 1, used: 5, reserved: 0 },
      budget: {
        ...{ id, scope: 'key', subject: id, unit: 'requests', period: 'day', timeZone: 'UTC' },
        ...{ amount: 5, isHard: true, warnPercent: 80, createdAt: 0, revision: 1 },
      },
    },
  });
  const budgets = ['b1', 'b2'].map(budgetOf);
  const found = findAttention(
    sources({ facts: { ...sources().facts, budgets }, unserved: ['m1', 'm2'] }),
  );
  expect(found.map(({ kind, names }) => [kind, names])).toEqual([
    ['model-unserved', ['m1', 'm2']],
    ['budget-spent', ['b1', 'b2']],
  ]);
});

test('a gateway key that opens the console is told, on the network as a warning', () => {
  const { facts } = sources();
  const tell = (isLoopback: boolean) =>
    findAttention(sources({ facts: { ...facts, consolePassword: 'gateway-key', isLoopback } })).map(
      ({ kind, severity }) => [kind, severity],
    );
  expect(tell(true)).toEqual([['key-opens-console', 'info']]);
  expect(tell(false)).toEqual([['key-opens-console', 'warning']]);
});

test('a config file that is not in force is told, with what is wrong in it', () => {
  const { facts } = sources();
  const configProblems = [
    told`${'proxy.pool.mode'}: must be one of balance`,
    told`${'proxy.port'}: must be integer`,
  ];
  expect(findAttention(sources({ facts: { ...facts, configProblems } }))).toMatchObject([
    {
      kind: 'config-refused',
      severity: 'warning',
      message:
        'The config file is invalid, so the previous settings stay in effect: ' +
        'proxy.pool.mode: must be one of balance; proxy.port: must be integer.',
      link: '/settings',
      about: { problems: { code: '{}; {}', params: configProblems } },
    },
  ]);
});

test('where an account would help, the link leads to adding one', () => {
  const none = findAttention(sources({ accounts: [] }));
  expect(none).toMatchObject([{ kind: 'no-accounts', link: '/accounts?add=key' }]);
});

test('an overloaded upstream is one entry, however many accounts rest with it', () => {
  const until = new Date(0).toISOString();
  const rests = ['m', 'n'].map((model) => ({ model, until, cause: 'overloaded' as const }));
  const accounts = ['a', 'b'].map((id) => ({ ...account(id, ACTIVE), cooldowns: rests }));
  expect(findAttention(sources({ accounts }))).toMatchObject([
    {
      kind: 'upstream-overloaded',
      message: 'The upstream main is overloaded; cooling down for m, n.',
      about: { upstream: 'main', models: 'm, n' },
    },
  ]);
});

test('models that no account can serve are told by name, unless their quota or all accounts say it', () => {
  const find = (change: Partial<AttentionSources>) =>
    findAttention(sources(change)).map(({ kind, message }) => [kind, message]);
  expect(find({ unserved: ['m', 'n'] })).toEqual([
    ['model-unserved', 'No account is available for the models m, n.'],
  ]);
  expect(find({ unserved: ['m'] })).toEqual([
    ['model-unserved', 'No account is available for the model m.'],
  ]);
  expect(find({ unserved: ['m', 'n', 'o', 'p', 'q', 'r'] })).toEqual([
    ['model-unserved', 'No account is available for the models m, n, o, p, q and others.'],
  ]);
  const quota = [{ family: 'm', kind: 'text' as const, models: ['m'], percent: 0 }];
  expect(find({ unserved: ['m'], quota }).map(([kind]) => kind)).toEqual(['quota-low']);
  const accounts = [account('a', REVOKED)];
  expect(find({ unserved: ['m'], accounts }).map(([kind]) => kind)).not.toContain('model-unserved');
});

test('a database that takes nothing is no time when all is well, also before a record is lost', () => {
  const found = (unsaved: number, dropped: number) =>
    findAttention(sources({ records: { unsaved, dropped } })).map(({ kind, about }) => [
      kind,
      about,
    ]);
  expect(found(3, 0)).toEqual([['records-unsaved', { count: 3 }]]);
  expect(found(0, 7)).toEqual([['records-dropped', { count: 7 }]]);
  expect(found(10_000, 7).map(([kind]) => kind)).toEqual(['records-unsaved', 'records-dropped']);
});

test('a disk that runs full and certificates of upstreams that end are told in time', () => {
  const found = (facts: Partial<AttentionSources['facts']>) =>
    findAttention(sources({ facts: { ...sources().facts, ...facts } })).map(
      ({ kind, severity, about }) => [kind, severity, about],
    );
  const megabyte = 1_048_576;
  expect(found({ disk: { freeBytes: 2000 * megabyte } })).toEqual([]);
  expect(found({ disk: { freeBytes: 500 * megabyte } })).toEqual([
    ['disk-low', 'warning', { count: 500 }],
  ]);
  expect(found({ disk: { freeBytes: 3 * megabyte } })).toEqual([
    ['disk-full', 'error', { count: 3 }],
  ]);
  expect(found({ logFault: 'ENOSPC' })).toEqual([
    ['log-unwritten', 'warning', { reason: 'ENOSPC' }],
  ]);
  const day = 86_400_000;
  const upstreamCertificates = [
    { upstream: 'far', expiresAt: 20 * day },
    { upstream: 'near', expiresAt: 2.5 * day },
    { upstream: 'over', expiresAt: -1 },
  ];
  expect(found({ upstreamCertificates })).toEqual([
    ['upstream-certificate-expires', 'warning', { upstream: 'near', count: 2 }],
    ['upstream-certificate-expired', 'error', { upstream: 'over' }],
  ]);
});

test('a Valkey that refuses is told from one that cannot be reached, with what it says', () => {
  const found = (cluster: AttentionSources['facts']['cluster']) =>
    findAttention(sources({ facts: { ...sources().facts, cluster } })).map(({ kind, about }) => [
      kind,
      about,
    ]);
  expect(found({ isConnected: true })).toEqual([]);
  expect(found({ isConnected: false })).toEqual([['valkey-lost', {}]]);
  expect(found({ isConnected: false, refusal: 'OOM …' })).toEqual([
    ['valkey-refuses', { reason: 'OOM …' }],
  ]);
});

// The overview of the fixture server, and its live feed's events.

import type { Account, Overview, RequestRow } from '../../src/admin/contract.ts';
import { createRandom } from '../fuzz/random.ts';
import { makeRow } from './fake-requests.ts';
import { HOSTILE, type Scene } from './fake-route.ts';

const MINUTE = 60_000;
const SHOWN_ERRORS = 6;

export interface OverviewFacts {
  readonly scene: Scene;
  readonly now: number;
  readonly accounts: readonly Account[];
}

export function makeOverview({ scene, now, accounts }: OverviewFacts): Overview {
  const common = {
    version: '0.1.0',
    startedAt: now - 3 * 24 * 60 * MINUTE - 71 * MINUTE,
    address: 'http://127.0.0.1:8045',
    authMode: 'auto',
    consolePassword: 'own' as const,
    series: makeSeries(scene, now),
    accounts: count(accounts),
  };
  if (scene === 'empty') {
    return {
      ...common,
      status: 'ok',
      isSandbox: true,
      live: { requestsPerMinute: 0, tokensPerMinute: 0, errorsPerMinute: 0, inFlight: 0 },
      quota: [],
      attention: [SANDBOX],
      recentErrors: [],
    };
  }
  const isBad = scene === 'trouble';
  return {
    ...common,
    status: isBad ? 'trouble' : 'attention',
    isSandbox: false,
    live: {
      requestsPerMinute: isBad ? 31 : 42,
      tokensPerMinute: isBad ? 0 : 218_430,
      errorsPerMinute: isBad ? 31 : 1,
      inFlight: isBad ? 0 : 6,
    },
    quota: makeQuota(now),
    attention: [
      ...(isBad ? [NO_ACCOUNT] : []),
      {
        kind: 'account-out',
        severity: 'warning',
        message: 'The account old.laptop@example.org is unavailable: invalid-grant.',
        wayOut: 'Sign in to this account again.',
        link: '/accounts/revoked',
        about: {
          account: `old.laptop@example.org ${HOSTILE[0]}`,
          accountKind: 'oauth',
          reason: 'invalid-grant',
        },
      },
      {
        kind: 'quota-low',
        severity: 'warning',
        message: 'The quota of claude is at 9 %.',
        wayOut: 'Wait for its reset, map its models to others, or add an account.',
        link: '/routing',
        about: { family: 'claude', quotaKind: 'text', percent: 9 },
      },
    ],
    recentErrors: recentErrors(now),
  };
}

const NO_ACCOUNT = {
  kind: 'no-usable-account',
  severity: 'error',
  message: 'No account is available: requests cannot be served.',
  wayOut: 'See why each account is unavailable, or add another.',
  link: '/accounts',
  about: {},
} as const;

const SANDBOX = {
  kind: 'sandbox',
  severity: 'info',
  message: 'Responses come from the built-in sandbox, not from a real model.',
  wayOut: 'Add an account of a real upstream.',
  link: '/accounts?add=key',
  about: {},
} as const;

function makeSeries(scene: Scene, now: number): Overview['series'] {
  const random = createRandom(42).next;
  return Array.from({ length: 60 }, (_, index) => {
    const requests =
      scene === 'empty' ? 0 : Math.round(18 + 22 * random() + 12 * Math.sin(index / 7));
    const isBad = scene === 'trouble' && index > 48;
    const errors = isBad ? requests : Math.floor(random() * 1.6) * Number(random() < 0.3);
    const tokens = (requests - Math.min(requests, errors)) * Math.round(4000 * random());
    return {
      at: now - (59 - index) * MINUTE,
      requests,
      faults: errors,
      errors: Math.min(requests, errors),
      tokens,
    };
  });
}

function makeQuota(now: number): Overview['quota'] {
  return [
    {
      family: 'gemini',
      kind: 'text',
      models: ['gemini-3-flash', 'gemini-3-pro'],
      percent: 71.4,
      resetsAt: now + 134 * MINUTE,
    },
    { family: 'gemini', kind: 'image', models: ['gemini-3-pro-image'], percent: 100 },
    {
      family: 'claude',
      kind: 'text',
      models: ['claude-sonnet-4-6', 'claude-opus-4-6-thinking'],
      percent: 9,
      resetsAt: now + 251 * MINUTE,
    },
    {
      family: 'gpt-oss',
      kind: 'text',
      models: ['gpt-oss-120b'],
      percent: 0,
      resetsAt: now + 4 * MINUTE,
    },
  ];
}

function count(accounts: readonly Account[]): Overview['accounts'] {
  const disabled = accounts.filter(({ status }) => status.kind === 'disabled').length;
  const cooling = accounts.filter(
    ({ status, cooldowns }) =>
      status.kind === 'blocked' ||
      (status.kind === 'active' && cooldowns.some(({ model }) => model === null)),
  ).length;
  const total = accounts.length;
  return {
    ...{ total, disabled, cooling, untried: 0, failing: 0 },
    usable: total - disabled - cooling,
  };
}

function recentErrors(now: number): RequestRow[] {
  const rows: RequestRow[] = [];
  for (let index = 0; rows.length < SHOWN_ERRORS; index += 1) {
    const row = makeRow(index, now);
    if (row.outcome === 'error') rows.push(row);
  }
  return rows;
}

// `GET /api/overview`: live figures, accounts, quota, and the conditions that need attention.

import { type AccountJson, writeAccount } from '../account-view.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { listQuotas, sumFamilies } from '../quota.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { findAttention, RECENT_MINUTES } from './attention.ts';
import { OVERVIEW_SCHEMA, type OverviewJson } from './schemas.ts';

const RECENT_ERRORS = 10;

export function createOverviewRoute(options: MonitorRouteOptions): ApiRoute {
  return defineRoute({
    at: 'GET /api/overview',
    access: 'viewer',
    title: 'shows whether all is well',
    answers: { 200: { description: 'The state of the gateway.', schema: OVERVIEW_SCHEMA } },
    async run() {
      await options.monitor.look();
      return answerJson(writeOverview(options));
    },
  });
}

export function writeOverview(options: MonitorRouteOptions): object {
  const { book, monitor, version, startedAt } = options;
  const facts = options.facts();
  const { isSandbox, address, authMode, consolePassword, replicas } = facts;
  const accounts = book.list().map((account) => writeAccount(account, options));
  const quota = readQuota(options);
  const { requests, tokens, errors } = monitor.figures.perMinute();
  const live = {
    requestsPerMinute: requests,
    tokensPerMinute: tokens,
    errorsPerMinute: errors,
    inFlight: monitor.figures.inFlight,
  };
  const series = monitor.figures.series();
  const recent = { requests: 0, errors: 0 };
  for (const minute of series.slice(-RECENT_MINUTES)) {
    recent.requests += minute.requests;
    recent.errors += minute.errors;
  }
  const now = options.clock.now();
  const attention = findAttention({ now, facts, accounts, quota, live, recent, records: monitor });
  return {
    status: statusOf(attention),
    version,
    startedAt,
    isSandbox,
    address,
    authMode,
    consolePassword,
    replicas,
    live,
    series,
    accounts: countAccounts(accounts),
    quota,
    attention,
    recentErrors: monitor.recentErrors(RECENT_ERRORS),
  };
}

function statusOf(attention: OverviewJson['attention']): OverviewJson['status'] {
  if (attention.some(({ severity }) => severity === 'error')) return 'trouble';
  return attention.some(({ severity }) => severity === 'warning') ? 'attention' : 'ok';
}

/**
 * Each account counts once; one that rests for some models only can serve the others, and one that is
 * blocked comes back by itself, as those do that rest.
 */
function countAccounts(accounts: readonly AccountJson[]): OverviewJson['accounts'] {
  const count = (...states: AccountJson['condition']['state'][]): number =>
    accounts.filter(({ condition }) => states.includes(condition.state)).length;
  return {
    total: accounts.length,
    usable: count('healthy', 'degraded'),
    untried: count('untried'),
    failing: count('failing'),
    cooling: count('cooling-down'),
    disabled: accounts.filter(({ status }) => status.kind === 'disabled').length,
  };
}

function readQuota(options: MonitorRouteOptions): OverviewJson['quota'] {
  return sumFamilies(listQuotas(options)).map(({ family, kind, models, percent, resetsAt }) => ({
    family,
    kind,
    models,
    percent,
    ...(resetsAt === null ? {} : { resetsAt: Date.parse(resetsAt) }),
  }));
}

// `GET /api/overview`: whether all is well, at one glance.

import type { MinuteSum } from '../../monitor/request-store.ts';
import { type ApiRoute, answerJson, defineRoute } from '../api-route.ts';
import { listQuotas, sumFamilies } from '../quota.ts';
import { type AccountJson, writeAccount } from '../write-account.ts';
import { type AttentionSources, findAttention } from './attention.ts';
import type { MonitorRouteOptions } from './options.ts';
import { OVERVIEW_SCHEMA, type OverviewJson } from './schemas.ts';

const RECENT_ERRORS = 10;
const RECENT_MINUTES = 5;

export function createOverviewRoute(options: MonitorRouteOptions): ApiRoute {
  return defineRoute({
    method: 'GET',
    path: '/api/overview',
    title: 'shows whether all is well',
    answers: { 200: { description: 'The state of the gateway.', schema: OVERVIEW_SCHEMA } },
    run: async () => answerJson(writeOverview(options)),
  });
}

export function writeOverview(options: MonitorRouteOptions): object {
  const { book, monitor, version, startedAt } = options;
  const facts = options.facts();
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
  const recent = sumLast(series);
  const attention = findAttention({ facts, accounts, quota, live, recent, records: monitor });
  return {
    status: statusOf(attention),
    version,
    startedAt,
    isSandbox: facts.isSandbox,
    address: facts.address,
    authMode: facts.authMode,
    consolePassword: facts.consolePassword,
    live,
    series,
    accounts: countAccounts(accounts),
    quota,
    attention,
    recentErrors: monitor.recentErrors(RECENT_ERRORS),
  };
}

function sumLast(series: readonly MinuteSum[]): AttentionSources['recent'] {
  const last = series.slice(-RECENT_MINUTES);
  return {
    requests: last.reduce((sum, { requests }) => sum + requests, 0),
    errors: last.reduce((sum, { errors }) => sum + errors, 0),
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
  const total = accounts.length;
  const disabled = accounts.filter(({ status }) => status.kind === 'disabled').length;
  const count = (...states: AccountJson['condition']['state'][]): number =>
    accounts.filter(({ condition }) => states.includes(condition.state)).length;
  return {
    total,
    usable: count('healthy', 'degraded'),
    untried: count('untried'),
    failing: count('failing'),
    cooling: count('cooling-down'),
    disabled,
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

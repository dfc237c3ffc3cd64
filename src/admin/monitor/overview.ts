// `GET /api/overview`: live figures, accounts, quota, and the conditions that need attention.

import { type JudgedAccount, judgeAccount } from '../account-view.ts';
import type { AccountFacts, MonitorRouteOptions } from '../options.ts';
import { sumFamilies } from '../quota.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { findAttention, RECENT_MINUTES, UNSERVED_WANTED } from './attention.ts';
import { OVERVIEW_SCHEMA, type OverviewJson } from './schemas.ts';

const RECENT_ERRORS = 10;

export function createOverviewRoute(options: MonitorRouteOptions): ApiRoute {
  return defineRoute({
    at: 'GET /api/overview',
    access: 'viewer',
    title: 'shows the status of the gateway and what needs attention',
    answers: { 200: { description: 'The state of the gateway.', schema: OVERVIEW_SCHEMA } },
    async run() {
      await options.monitor.look();
      return answerJson(writeOverview(options));
    },
  });
}

export function writeOverview(options: MonitorRouteOptions): object {
  const { monitor, version, startedAt } = options;
  const { isSandbox, address, authMode, consolePassword, replicas } = options.facts();
  const sources = readSources(options);
  const { requests, tokens, errors } = sources.lastMinute;
  const attention = findAttention(sources);
  return {
    status: statusOf(attention),
    version,
    startedAt,
    isSandbox,
    address,
    authMode,
    consolePassword,
    replicas,
    live: {
      requestsPerMinute: requests,
      tokensPerMinute: tokens,
      errorsPerMinute: errors,
      inFlight: monitor.figures.inFlight,
    },
    series: monitor.figures.series(),
    accounts: countAccounts(sources.accounts),
    quota: sources.quota,
    attention: attention.map(({ subject: _subject, names: _names, ...entry }) => entry),
    recentErrors: monitor.recentErrors(RECENT_ERRORS),
  };
}

/** What needs attention now: the same for the overview, the metrics and the webhooks. */
export function readAttention(options: AttentionOptions): ReturnType<typeof findAttention> {
  return findAttention(readSources(options));
}

export type AttentionOptions = AccountFacts &
  Pick<MonitorRouteOptions, 'book' | 'clock' | 'facts' | 'isProtected' | 'monitor'>;

function readSources(options: AttentionOptions) {
  const { book, monitor, clock, pool } = options;
  const accounts = book.list().map((account) => judgeAccount(account, options));
  const recent = { requests: 0, errors: 0, faults: 0 };
  for (const minute of monitor.figures.series().slice(-RECENT_MINUTES)) {
    recent.requests += minute.requests;
    recent.errors += minute.errors;
    recent.faults += minute.faults;
  }
  return {
    ...{ now: clock.now(), facts: options.facts(), accounts, recent, records: monitor },
    quota: readQuota(options),
    unserved: pool.unservedModels(UNSERVED_WANTED),
    lastMinute: monitor.figures.perMinute(),
  };
}

function statusOf(attention: OverviewJson['attention']): OverviewJson['status'] {
  if (attention.some(({ severity }) => severity === 'error')) return 'trouble';
  return attention.some(({ severity }) => severity === 'warning') ? 'attention' : 'ok';
}

/** Each account counts once, as what it is for most models. */
function countAccounts(accounts: readonly JudgedAccount[]): OverviewJson['accounts'] {
  const count = (...states: JudgedAccount['condition']['state'][]): number =>
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

function readQuota(options: Pick<AttentionOptions, 'book' | 'isProtected'>): OverviewJson['quota'] {
  return sumFamilies(options).map(({ family, kind, models, percent, resetsAt }) => ({
    ...{ family, kind, models, percent },
    ...(resetsAt === undefined ? {} : { resetsAt }),
  }));
}

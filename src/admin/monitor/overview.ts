// `GET /api/overview`: whether all is well, at one glance.

import type { MinuteSum } from '../../monitor/request-store.ts';
import { type AccountJson, writeAccount } from '../account-view.ts';
import { listQuotas, sumFamilies } from '../quota.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import type { GatewayFacts, MonitorRouteOptions } from './options.ts';
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

// What a person should look at, each with the way out.

export type Attention = OverviewJson['attention'][number];

export interface AttentionSources {
  readonly facts: GatewayFacts;
  readonly accounts: readonly AccountJson[];
  readonly quota: OverviewJson['quota'];
  /** The last minute: what fails altogether now failed there. */
  readonly live: Pick<OverviewJson['live'], 'requestsPerMinute' | 'errorsPerMinute'>;
  /** What the last minutes brought, enough of them to judge a gateway that is asked now and then. */
  readonly recent: { readonly requests: number; readonly errors: number };
  /** Request records that wait for a store which takes none, and those that could not be kept. */
  readonly records: { readonly unsaved: number; readonly dropped: number };
}

const ADD_ACCOUNT = '/accounts?add=sign-in';
const MAX_ACCOUNTS = 5;
const LOW_PERCENT = 10;
/** So many failures are told even where they are a small share. */
const MANY_ERRORS = 5;
const NOTABLE_SHARE = 0.02;
/** Fewer beside successes may be slips of a client, as one failure alone may be. */
const SOME_ERRORS = 3;
const HIGH_SHARE = 0.25;
const FEW_ERRORS_ALONE = 2;

/** The gravest first. */
export function findAttention(sources: AttentionSources): Attention[] {
  return [
    ...lookAtPool(sources),
    ...checkAccess(sources.facts),
    ...lookAtConfig(sources.facts),
    ...lookAtUnused(sources.facts),
    ...lookAtRefusals(sources),
    ...lookAtErrors(sources),
    ...lookAtOverload(sources.accounts),
    ...lookAtAccounts(sources.accounts),
    ...lookAtQuota(sources.quota),
    ...lookAtStores(sources.facts),
    ...lookAtRecords(sources.records),
    ...lookAtSandbox(sources.facts),
  ];
}

function lookAtPool({ accounts }: AttentionSources): Attention[] {
  if (accounts.length === 0) {
    return [
      {
        kind: 'no-accounts',
        severity: 'error',
        message: 'There is no account, so no request can be answered.',
        wayOut: 'Add an account.',
        link: ADD_ACCOUNT,
        about: {},
      },
    ];
  }
  if (accounts.some(isUsable)) return [];
  return [
    {
      kind: 'no-usable-account',
      severity: 'error',
      message: 'No account can be used now, so no request can be answered.',
      wayOut: 'See why each is out of use, or add another.',
      link: '/accounts',
      about: {},
    },
  ];
}

/** Whether some request could go to it now. */
function isUsable({ status, cooldowns }: AccountJson): boolean {
  return status.kind === 'active' && cooldowns.every(({ model }) => model !== null);
}

function checkAccess(facts: GatewayFacts): Attention[] {
  const found: Attention[] = [];
  if (facts.authMode === 'off' && !facts.isLoopback) {
    found.push({
      kind: 'open-to-all',
      severity: 'error',
      message: 'Everybody who reaches this address can use the accounts without a key.',
      wayOut: 'Choose the mode auto or strict.',
      link: '/security',
      about: {},
    });
  }
  if (facts.consolePassword === 'gateway-key') {
    found.push({
      kind: 'key-opens-console',
      severity: facts.isLoopback ? 'info' : 'warning',
      message: 'Whoever has the gateway key can open this console and change everything.',
      wayOut: 'Set WEB_PASSWORD or admin_password.',
      link: '/settings',
      about: {},
    });
  }
  if (facts.consolePassword === 'none' && !facts.isLoopback) {
    found.push({
      kind: 'no-console-password',
      severity: 'warning',
      message: 'The console has no password, so it opens on this machine only.',
      wayOut: 'Set WEB_PASSWORD or admin_password to use it from elsewhere.',
      link: '/settings',
      about: {},
    });
  }
  return found;
}

/** Until it is mended no change of the settings is taken, neither there nor here. */
function lookAtConfig({ configProblems }: GatewayFacts): Attention[] {
  if (configProblems.length === 0) return [];
  const problems = configProblems.join('; ');
  return [
    {
      kind: 'config-refused',
      severity: 'warning',
      message: `The config file cannot be used, so older settings stay in force: ${problems}.`,
      wayOut: 'Correct gui_config.json. Until then no setting can be changed here.',
      link: '/settings',
      about: { problems },
    },
  ];
}

/** A misspelt name is found where its effect is missed. */
function lookAtUnused({ warnings }: GatewayFacts): Attention[] {
  return warnings.map((warning) => ({
    kind: 'setting-unused',
    severity: 'warning',
    message: warning,
    wayOut: 'Correct it where the gateway is started or in gui_config.json, or take it out.',
    link: '/settings',
    about: { problems: warning },
  }));
}

/** What is refused everywhere is no chance: the accounts say why. */
function lookAtRefusals({ recent, accounts }: AttentionSources): Attention[] {
  const failing = accounts.filter(isFailing);
  const [first] = failing;
  if (first === undefined) return [];
  const reasons = failing
    .slice(0, MAX_ACCOUNTS)
    .map(({ label, condition }) => `${label}: ${condition.reason ?? 'failed'}`)
    .join('; ');
  const { requests, errors } = recent;
  const isAll = requests > 0 && errors >= requests;
  return [
    {
      kind: isAll ? 'all-refused' : 'account-failing',
      severity: isAll || failing.length === accounts.filter(isInUse).length ? 'error' : 'warning',
      message: isAll
        ? `Every request of the last ${RECENT_MINUTES} minutes was refused: ${reasons}`
        : `Accounts that fail: ${reasons}`,
      wayOut: 'Open the account: give it a new key or sign in again, then test it.',
      link: failing.length === 1 ? `/accounts/${encodeURIComponent(first.id)}` : '/accounts',
      about: { problems: reasons, count: RECENT_MINUTES },
    },
  ];
}

function isInUse({ status }: AccountJson): boolean {
  return status.kind !== 'disabled';
}

function isFailing({ condition, status }: AccountJson): boolean {
  return condition.state === 'failing' || status.reason === 'invalid-key';
}

function lookAtErrors({ recent, live, accounts }: AttentionSources): Attention[] {
  const { requests, errors } = recent;
  // Told with its reason.
  if (requests > 0 && errors >= requests && accounts.some(isFailing)) return [];
  const isGrave =
    isOutage(errors, requests) || isOutage(live.errorsPerMinute, live.requestsPerMinute);
  if (!isGrave && !isNotable(errors, requests)) return [];
  return [
    {
      kind: 'many-errors',
      severity: isGrave ? 'error' : 'warning',
      message: `${errors} of ${requests} requests failed in the last five minutes.`,
      wayOut: 'Look at what they say.',
      link: '/requests?status=error',
      about: { count: errors, total: requests },
    },
  ];
}

function isOutage(errors: number, requests: number): boolean {
  return errors >= MANY_ERRORS && errors >= requests;
}

function isNotable(errors: number, requests: number): boolean {
  if (errors >= requests) return errors >= FEW_ERRORS_ALONE;
  const share = errors / requests;
  return (
    (errors >= MANY_ERRORS && share >= NOTABLE_SHARE) ||
    (errors >= SOME_ERRORS && share >= HIGH_SHARE)
  );
}

/** One entry an upstream: its accounts rest together. */
function lookAtOverload(accounts: readonly AccountJson[]): Attention[] {
  const resting = new Map<string, Set<string>>();
  for (const { upstream, cooldowns } of accounts) {
    for (const { model, cause } of cooldowns) {
      if (cause !== 'overloaded' || model === null) continue;
      const models = resting.get(upstream) ?? new Set();
      resting.set(upstream, models.add(model));
    }
  }
  return Array.from(resting, ([upstream, models]) => ({
    kind: 'upstream-overloaded',
    severity: 'warning',
    message: `The upstream ${upstream} is overloaded and rests for ${[...models].join(', ')}.`,
    wayOut:
      'It is tried again by itself within a minute. Clear the cooldowns of an account to try at once.',
    link: '/accounts',
    about: { upstream, models: [...models].join(', ') },
  }));
}

function lookAtAccounts(accounts: readonly AccountJson[]): Attention[] {
  const out = accounts.filter(
    ({ status }) =>
      status.kind !== 'active' && status.reason !== 'manual' && status.reason !== 'standing-by',
  );
  const doubtful = accounts.filter(
    ({ status }) => status.kind === 'active' && status.reason !== null,
  );
  return [...tellOut(out), ...doubtful.slice(0, MAX_ACCOUNTS).map(tellDoubt)];
}

function tellDoubt({ id, label, kind, status }: AccountJson): Attention {
  return {
    kind: 'account-doubtful',
    severity: 'warning',
    message: `What the account ${label} signs in with was refused.`,
    wayOut: status.wayOut ?? 'See its page.',
    link: `/accounts/${encodeURIComponent(id)}`,
    about: { account: label, accountKind: kind, reason: status.reason ?? '' },
  };
}

function tellOut(out: readonly AccountJson[]): Attention[] {
  const shown = out.slice(0, MAX_ACCOUNTS).map(
    ({ id, label, kind, status }): Attention => ({
      kind: 'account-out',
      severity: 'warning',
      message: `The account ${label} is out of use${status.reason === null ? '' : `: ${status.reason}`}.`,
      wayOut: status.wayOut ?? 'See its page.',
      link: `/accounts/${encodeURIComponent(id)}`,
      about: { account: label, accountKind: kind, reason: status.reason ?? '' },
    }),
  );
  if (out.length <= MAX_ACCOUNTS) return shown;
  const more: Attention = {
    kind: 'accounts-out',
    severity: 'warning',
    message: `${out.length - MAX_ACCOUNTS} more accounts are out of use.`,
    wayOut: 'See the accounts.',
    link: '/accounts',
    about: { count: out.length - MAX_ACCOUNTS },
  };
  return [...shown, more];
}

function lookAtQuota(quota: OverviewJson['quota']): Attention[] {
  return quota
    .filter(({ percent }) => percent < LOW_PERCENT)
    .map(({ family, kind, percent }) => ({
      kind: 'quota-low',
      severity: 'warning',
      message: `The quota of ${family}${kind === 'image' ? ' (images)' : ''} is at ${percent} %.`,
      wayOut: 'Wait for its reset, map its models to others, or add an account.',
      link: '/routing',
      about: { family, quotaKind: kind, percent },
    }));
}

function lookAtStores({ isLasting }: GatewayFacts): Attention[] {
  if (isLasting) return [];
  return [
    {
      kind: 'not-lasting',
      severity: 'warning',
      message:
        'The disk had no room for the database: what is added is kept in memory and lost when the gateway stops.',
      wayOut: 'Free some room and start the gateway again.',
      link: '/logs?level=warn',
      about: {},
    },
  ];
}

function lookAtRecords({ unsaved, dropped }: AttentionSources['records']): Attention[] {
  const found: Attention[] = [];
  const log = '/logs?level=warn';
  if (unsaved > 0) {
    found.push({
      kind: 'records-unsaved',
      severity: 'warning',
      message: `The database takes nothing: ${unsaved} request records wait in memory. Requests themselves go on.`,
      wayOut: 'See the log for the reason: a full disk, mostly. A restart before would lose them.',
      link: log,
      about: { count: unsaved },
    });
  }
  if (dropped > 0) {
    found.push({
      kind: 'records-dropped',
      severity: 'warning',
      message: `${dropped} request records could not be stored; requests themselves go on.`,
      wayOut: 'See the log for the reason: a full disk, mostly.',
      link: log,
      about: { count: dropped },
    });
  }
  return found;
}

function lookAtSandbox({ isSandbox }: GatewayFacts): Attention[] {
  if (!isSandbox) return [];
  return [
    {
      kind: 'sandbox',
      severity: 'info',
      message: 'The answers come from the built-in sandbox, not from a real model.',
      wayOut: 'Add an account of a real upstream.',
      // Most people have a key; a sign-in wants an OAuth client first.
      link: '/accounts?add=key',
      about: {},
    },
  ];
}

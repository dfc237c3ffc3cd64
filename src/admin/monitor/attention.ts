// What of the gateway needs attention, most severe first, with the way out; and what webhooks were told of it.

import { sayBudget } from '../../access/budgets.ts';
import type { AlertSettings, Alerts } from '../../alerts/alerts.ts';
import { WEBHOOK_FORMATS } from '../../config/values.ts';
import { listed, type Sentence, told } from '../../lib/localized-message.ts';
import { COUNT, list, named, object, optional, TEXT } from '../../lib/object-schema.ts';
import type { MinuteSum } from '../../monitor/request-store.ts';
import type { JudgedAccount } from '../account-view.ts';
import type { GatewayFacts } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { TIME } from '../schemas.ts';
import type { OverviewJson } from './schemas.ts';

/** So far back the requests are looked at. */
export const RECENT_MINUTES = 5;

type Attention = OverviewJson['attention'][number];

interface AttentionSources {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly facts: GatewayFacts;
  readonly accounts: readonly JudgedAccount[];
  readonly quota: OverviewJson['quota'];
  /** The first models that no account can serve now. */
  readonly unserved: readonly string[];
  /** The last minute: what fails altogether now failed there. */
  readonly lastMinute: Outcomes;
  /** What the last minutes brought, enough of them to judge a gateway that is asked now and then. */
  readonly recent: Outcomes;
  /** Request records that wait for a store which takes none, and those that could not be kept. */
  readonly records: { readonly unsaved: number; readonly dropped: number };
}

const MAX_ACCOUNTS = 5;
const MAX_MODELS = 5;
/** One more than is named shows that there are others. */
export const UNSERVED_WANTED = MAX_MODELS + 1;
const DAY_MS = 86_400_000;
/** Certificates of 90 days are renewed a month before; what is left then is a renewal that fails. */
const EXPIRES_SOON_DAYS = 14;
/** Public services renew theirs as late as a week before. */
const UPSTREAM_EXPIRES_DAYS = 5;
const MEGABYTE = 1_048_576;
const LOW_MEGABYTES = 1024;
/** Below this the next large write may be refused. */
const FULL_MEGABYTES = 100;
const LOW_PERCENT = 10;
/** So many failures are reported even where they are a small share. */
const MANY_ERRORS = 5;
const NOTABLE_SHARE = 0.02;
/** Fewer beside successes may be slips of a client, as one failure alone may be. */
const SOME_ERRORS = 3;
const HIGH_SHARE = 0.25;
const FEW_ERRORS_ALONE = 2;

type Outcomes = Pick<MinuteSum, 'requests' | 'errors' | 'faults'>;

interface Condition extends Omit<Attention, 'message' | 'about' | 'severity'> {
  /** `warning` when absent. */
  readonly severity?: Attention['severity'];
  /** One entry each time the condition holds; what a finding names wins over the row. */
  readonly find: (sources: AttentionSources) => readonly Finding[];
}

type Finding = Pick<Attention, 'message'> & Partial<Attention> & AlertFacts;

/** For webhooks alone. */
interface AlertFacts {
  /** Tells it from others of its kind, where `about` does not. */
  readonly subject?: string;
  /** What it stands for, where that may be several: of one more they are told. */
  readonly names?: readonly string[];
}

/** Most severe first. */
const CONDITIONS: readonly Condition[] = [
  {
    kind: 'no-accounts',
    severity: 'error',
    wayOut: 'Add an account.',
    link: '/accounts?add=key',
    find: ({ accounts }) =>
      when(accounts.length === 0, 'There is no account: requests cannot be served.'),
  },
  {
    kind: 'no-usable-account',
    severity: 'error',
    wayOut: 'See why each account is unavailable, or add another.',
    link: '/accounts',
    find: ({ accounts }) =>
      when(
        accounts.length > 0 && !accounts.some(isUsable),
        'No account is available: requests cannot be served.',
      ),
  },
  {
    kind: 'open-to-all',
    severity: 'error',
    wayOut: 'Choose the mode auto or strict.',
    link: '/security',
    find: ({ facts: { authMode, isLoopback } }) =>
      when(
        authMode === 'off' && !isLoopback,
        'Anyone who can reach this address can use the accounts without a key.',
      ),
  },
  {
    kind: 'key-opens-console',
    wayOut: 'Set WEB_PASSWORD or admin_password.',
    link: '/settings',
    find: ({ facts: { consolePassword, isLoopback } }) =>
      when(
        consolePassword === 'gateway-key',
        'Anyone with the gateway key can open this console and change everything.',
        isLoopback ? { severity: 'info' } : {},
      ),
  },
  {
    kind: 'no-console-password',
    wayOut: 'Set WEB_PASSWORD or admin_password to use it from other machines.',
    link: '/settings',
    find: ({ facts: { consolePassword, isLoopback } }) =>
      when(
        consolePassword === 'none' && !isLoopback,
        'The console has no password, so it is available on this machine only.',
      ),
  },
  {
    // Until the file is corrected no change of the settings is accepted, neither there nor here.
    kind: 'config-refused',
    wayOut: 'Correct gui_config.json. Until then no setting can be changed here.',
    link: '/settings',
    find({ facts: { configProblems } }) {
      const problems = listed(configProblems);
      return when(
        configProblems.length > 0,
        `The config file is invalid, so the previous settings stay in effect: ${problems.text}.`,
        { about: { problems } },
      );
    },
  },
  {
    kind: 'certificate-refused',
    wayOut: 'Correct the files. They are read again automatically.',
    link: '/settings',
    find({ facts: { certificate } }) {
      const { problem } = certificate ?? {};
      if (problem === undefined) return [];
      const message = `The new certificate files are invalid, so the previous certificate stays in use: ${problem.text}.`;
      return [{ message, about: { problems: problem } }];
    },
  },
  {
    kind: 'certificate-expires',
    wayOut: 'Renew it and replace the files. They are read again automatically.',
    link: '/settings',
    find({ facts: { certificate }, now }) {
      const days = Math.floor(
        ((certificate?.expiresAt ?? Number.POSITIVE_INFINITY) - now) / DAY_MS,
      );
      if (days < 0) {
        const message = 'The certificate of this gateway expired: clients reject it.';
        return [{ kind: 'certificate-expired', severity: 'error', message }];
      }
      const message = `The certificate of this gateway expires in ${days} days.`;
      return when(days < EXPIRES_SOON_DAYS, message, { about: { count: days } });
    },
  },
  {
    kind: 'upstream-certificate-expires',
    wayOut: 'Ask whoever runs the upstream to renew it. Requests fail once it has expired.',
    link: '/settings?section=upstreams',
    find: ({ facts: { upstreamCertificates = [] }, now }) =>
      upstreamCertificates.flatMap(({ upstream, expiresAt }): readonly Finding[] => {
        const days = Math.floor((expiresAt - now) / DAY_MS);
        if (days < 0) {
          const message = `The certificate of the upstream ${upstream} expired.`;
          const kind = 'upstream-certificate-expired';
          return [{ kind, severity: 'error', message, about: { upstream } }];
        }
        const message = `The certificate of the upstream ${upstream} expires in ${days} days.`;
        return when(days < UPSTREAM_EXPIRES_DAYS, message, { about: { upstream, count: days } });
      }),
  },
  {
    kind: 'disk-low',
    wayOut: 'Free disk space, or keep fewer request logs.',
    link: '/settings?section=monitor',
    find({ facts: { disk } }) {
      if (disk === undefined) return [];
      const count = Math.floor(disk.freeBytes / MEGABYTE);
      const about = { about: { count } };
      const message = `The disk of the data folder has ${count} MB left.`;
      if (count < FULL_MEGABYTES) {
        return [{ kind: 'disk-full', severity: 'error', message, ...about }];
      }
      return when(count < LOW_MEGABYTES, message, about);
    },
  },
  {
    kind: 'log-unwritten',
    wayOut:
      'Free disk space, or make the log folder writable again. Until then only the error output has the lines.',
    link: '/logs',
    find: ({ facts: { logFault } }) =>
      when(logFault !== undefined, `The log cannot be written to its files (${logFault}).`, {
        about: { reason: logFault ?? '' },
      }),
  },
  {
    kind: 'setting-unused',
    wayOut: 'Correct or remove it where the gateway is started or in gui_config.json.',
    link: '/settings',
    find: ({ facts }) =>
      facts.warnings.map((problems) => ({
        ...{ message: problems.text, subject: problems.text },
        about: { problems },
      })),
  },
  {
    kind: 'account-failing',
    wayOut:
      'Open the account and test it. Where the upstream refuses it, give it a new key or sign in again.',
    link: '/accounts',
    find: findFailingAccounts,
  },
  {
    kind: 'many-errors',
    wayOut: 'See the errors.',
    link: '/requests?status=error',
    find: findErrors,
  },
  {
    kind: 'upstream-overloaded',
    wayOut:
      'The gateway retries automatically within a minute. Clear the cooldowns of an account to retry now.',
    link: '/accounts',
    find: findOverloads,
  },
  {
    kind: 'account-out',
    wayOut: 'See its page.',
    link: '/accounts',
    find: ({ accounts }) =>
      accounts
        .filter(isOut)
        .slice(0, MAX_ACCOUNTS)
        .map((account) => {
          const { name, status } = account;
          const reason = status.reason === null ? '' : `: ${status.reason}`;
          return toFinding(account, `The account ${name} is unavailable${reason}.`);
        }),
  },
  {
    kind: 'accounts-out',
    wayOut: 'See the accounts.',
    link: '/accounts',
    find({ accounts }) {
      const count = accounts.filter(isOut).length - MAX_ACCOUNTS;
      return when(count > 0, `${count} more accounts are unavailable.`, { about: { count } });
    },
  },
  {
    kind: 'account-doubtful',
    wayOut: 'See its page.',
    link: '/accounts',
    find: ({ accounts }) =>
      accounts
        .filter(({ status }) => status.kind === 'active' && status.reason !== null)
        .slice(0, MAX_ACCOUNTS)
        .map((account) =>
          toFinding(account, `The credential of the account ${account.name} was refused.`),
        ),
  },
  {
    kind: 'model-unserved',
    wayOut: 'See why each account is unavailable, or add another.',
    link: '/accounts',
    find: findUnserved,
  },
  {
    kind: 'quota-low',
    wayOut: 'Wait for its reset, map its models to others, or add an account.',
    link: '/routing',
    find: ({ quota }) =>
      quota
        .filter(({ percent }) => percent < LOW_PERCENT)
        .map(({ family, kind, percent }) => ({
          message: `The quota of ${family}${kind === 'image' ? ' (images)' : ''} is at ${percent}%.`,
          about: { family, quotaKind: kind, percent },
        })),
  },
  {
    kind: 'budget-spent',
    wayOut: 'Raise it, or wait for the next period.',
    link: '/keys?tab=budgets',
    find: ({ facts: { budgets = [] } }) => findBudgets(budgets, 'spent'),
  },
  {
    kind: 'budget-low',
    wayOut: 'See who uses it.',
    link: '/keys?tab=budgets',
    find: ({ facts: { budgets = [] } }) => findBudgets(budgets, 'warning'),
  },
  {
    kind: 'not-lasting',
    wayOut: 'Free disk space and restart the gateway.',
    link: '/logs?level=warn',
    find: ({ facts }) =>
      when(
        !facts.isLasting,
        'The disk had no space for the database: new data is kept in memory and lost when the gateway stops.',
      ),
  },
  {
    kind: 'database-lost',
    severity: 'error',
    wayOut:
      'Check PostgreSQL and the network. The gateway retries automatically. A restart now loses the request logs waiting in memory.',
    link: '/logs?level=warn',
    find: ({ facts: { database } }) =>
      when(
        database?.isReachable === false,
        'PostgreSQL cannot be reached: requests are served from memory, changes are refused.',
      ),
  },
  {
    kind: 'valkey-lost',
    wayOut: 'Check Valkey and the network. The gateway retries automatically.',
    link: '/logs?level=warn',
    find: ({ facts: { cluster } }) =>
      when(
        cluster?.isConnected === false && cluster.refusal === undefined,
        'Valkey cannot be reached: this replica works on its own and enforces key limits alone.',
      ),
  },
  {
    kind: 'valkey-refuses',
    wayOut: 'Check REDIS_URL and the state of Valkey. The gateway retries automatically.',
    link: '/logs?level=warn',
    find: ({ facts: { cluster: { refusal } = {} } }) =>
      when(
        refusal !== undefined,
        `Valkey refuses this replica (${refusal}): it works on its own and enforces key limits alone.`,
        { about: { reason: refusal ?? '' } },
      ),
  },
  {
    kind: 'records-unsaved',
    wayOut: 'See the log for the reason, usually a full disk. A restart now loses them.',
    link: '/logs?level=warn',
    find: ({ records: { unsaved } }) =>
      when(
        unsaved > 0,
        `The database is not writable: ${unsaved} request logs wait in memory. Requests are still served.`,
        { about: { count: unsaved } },
      ),
  },
  {
    kind: 'records-dropped',
    wayOut: 'See the log for the reason, usually a full disk.',
    link: '/logs?level=warn',
    find: ({ records: { dropped } }) =>
      when(dropped > 0, `${dropped} request logs could not be stored. Requests are still served.`, {
        about: { count: dropped },
      }),
  },
  {
    kind: 'newer-version',
    severity: 'info',
    wayOut: 'Run "isthmus update" to see how to get it.',
    link: '/settings',
    find: ({ facts: { newerVersion } }) =>
      newerVersion === undefined
        ? []
        : [{ message: `isthmus ${newerVersion} is published.`, about: { version: newerVersion } }],
  },
  {
    kind: 'sandbox',
    severity: 'info',
    wayOut: 'Add an account of a real upstream.',
    // Most people have a key; a sign-in wants an OAuth client first.
    link: '/accounts?add=key',
    find: ({ facts }) =>
      when(facts.isSandbox, 'Responses come from the built-in sandbox, not from a real model.'),
  },
];

/** Most severe first. */
export function findAttention(sources: AttentionSources): (Attention & AlertFacts)[] {
  return CONDITIONS.flatMap(({ find, kind, severity = 'warning', wayOut, link }) =>
    find(sources).map(({ message, ...found }) => {
      const row = { kind, severity, message, wayOut, link, about: {} };
      return { ...row, ...found };
    }),
  );
}

function when(holds: boolean, message: string, found: Partial<Attention> = {}): readonly Finding[] {
  return holds ? [{ message, ...found }] : [];
}

function toFinding({ id, name, kind, status }: JudgedAccount, message: string): Finding {
  return {
    message,
    ...(status.wayOut == null ? {} : { wayOut: status.wayOut }),
    link: `/accounts/${encodeURIComponent(id)}`,
    about: { account: name, accountKind: kind, reason: status.reason ?? '' },
  };
}

/** Whether some request could go to it now. */
function isUsable({ status, cooldowns }: JudgedAccount): boolean {
  return status.kind === 'active' && cooldowns.every(({ model }) => model !== null);
}

function isOut({ status: { kind, reason } }: JudgedAccount): boolean {
  return kind !== 'active' && reason !== 'manual' && reason !== 'standing-by';
}

function isFailing({ condition, status }: JudgedAccount): boolean {
  return condition.state === 'failing' || status.reason === 'invalid-key';
}

/** When every request fails, the accounts give the reason. */
function findFailingAccounts({ recent, accounts }: AttentionSources): readonly Finding[] {
  const failing = accounts.filter(isFailing);
  const [first, ...more] = failing;
  if (first === undefined) return [];
  const reasons = failing
    .slice(0, MAX_ACCOUNTS)
    .map(({ name, condition: { reason } }) => told`${name}: ${reason ?? 'failed'}`);
  const problems = listed(reasons);
  const isAll = recent.requests > 0 && recent.errors >= recent.requests;
  const inUse = accounts.filter(({ status }) => status.kind !== 'disabled');
  return [
    {
      message: isAll
        ? `Every request of the last ${RECENT_MINUTES} minutes was rejected: ${problems.text}`
        : `Failing accounts: ${problems.text}`,
      ...(isAll && { kind: 'all-refused' }),
      ...((isAll || failing.length === inUse.length) && { severity: 'error' }),
      ...(more.length === 0 && { link: `/accounts/${encodeURIComponent(first.id)}` }),
      about: { problems, count: RECENT_MINUTES },
      names: failing.map(({ id }) => id),
    },
  ];
}

function findErrors({ recent, lastMinute, accounts }: AttentionSources): readonly Finding[] {
  const { requests, errors } = recent;
  // Reported with its reason by the accounts.
  if (requests > 0 && errors >= requests && accounts.some(isFailing)) return [];
  return when(
    isNotable(errors, requests) || isNotable(...faultsOf(recent)),
    `${errors} of ${requests} requests failed in the last five minutes.`,
    { severity: severityOf(recent, lastMinute), about: { count: errors, total: requests } },
  );
}

/** One client that errs is no trouble of the others; where nothing succeeds, it may be more than the client. */
function severityOf(recent: Outcomes, lastMinute: Outcomes): Attention['severity'] {
  if ([recent, lastMinute].some(({ faults, ...all }) => faults >= MANY_ERRORS && isAll(all))) {
    return 'error';
  }
  const isOutage = recent.errors >= MANY_ERRORS && isAll(recent);
  return isOutage || isNotable(...faultsOf(recent)) ? 'warning' : 'info';
}

function isAll({ errors, requests }: Pick<Outcomes, 'errors' | 'requests'>): boolean {
  return errors >= requests;
}

/** Beside the requests that no client spoiled. */
function faultsOf({ faults, errors, requests }: Outcomes): [faults: number, requests: number] {
  return [faults, requests - errors + faults];
}

function isNotable(errors: number, requests: number): boolean {
  if (errors >= requests) return errors >= FEW_ERRORS_ALONE;
  const share = errors / requests;
  return (
    (errors >= MANY_ERRORS && share >= NOTABLE_SHARE) ||
    (errors >= SOME_ERRORS && share >= HIGH_SHARE)
  );
}

type NamedBudget = NonNullable<GatewayFacts['budgets']>[number];

/** All in one entry: many keys may have the same budget. One of the whole gateway stops everybody. */
function findBudgets(
  budgets: readonly NamedBudget[],
  level: NamedBudget['level'],
): readonly Finding[] {
  const found = budgets.filter((one) => one.level === level);
  if (found.length === 0) return [];
  const problems = listed(found.slice(0, MAX_ACCOUNTS).map(sayUsed));
  const stopsAll = found.some(
    ({ state: { budget } }) => level === 'spent' && budget.isHard && budget.scope === 'gateway',
  );
  return [
    {
      message:
        level === 'spent'
          ? `Budgets are used up: ${problems.text}`
          : `Budgets are almost used up: ${problems.text}`,
      ...(stopsAll && { severity: 'error' }),
      about: { problems, count: found.length },
      names: found.map(({ state: { budget } }) => budget.id),
    },
  ];
}

function sayUsed({ state: { budget, used }, subjectName }: NamedBudget): Sentence {
  const percent = budget.amount === 0 ? 100 : Math.floor((used / budget.amount) * 100);
  const amount = sayBudget(budget);
  if (budget.scope === 'gateway') return told`whole gateway, ${amount}: ${percent}%`;
  return budget.scope === 'team'
    ? told`team ${subjectName}, ${amount}: ${percent}%`
    : told`key ${subjectName}, ${amount}: ${percent}%`;
}

/** Said otherwise where no account serves anything, or where the quota of the models is used up. */
function findUnserved({ accounts, quota, unserved }: AttentionSources): readonly Finding[] {
  const usedUp = new Set(quota.flatMap(({ models, percent }) => (percent === 0 ? models : [])));
  const models = unserved.filter((model) => !usedUp.has(model));
  if (models.length === 0 || !accounts.some(isUsable)) return [];
  const names = models.slice(0, MAX_MODELS).join(', ');
  const problems = sayUnserved(names, models.length);
  return [{ message: problems.text, about: { problems, models: names }, names: models }];
}

function sayUnserved(names: string, count: number): Sentence {
  if (count === 1) return told`No account is available for the model ${names}.`;
  return count > MAX_MODELS
    ? told`No account is available for the models ${names} and others.`
    : told`No account is available for the models ${names}.`;
}

/** One entry per upstream: its accounts cool down together. */
function findOverloads({ accounts }: AttentionSources): readonly Finding[] {
  const cooling = new Map<string, Set<string>>();
  for (const { upstream, cooldowns } of accounts) {
    for (const { model, cause } of cooldowns) {
      if (cause !== 'overloaded' || model === null) continue;
      const models = cooling.get(upstream) ?? new Set();
      cooling.set(upstream, models.add(model));
    }
  }
  return Array.from(cooling, ([upstream, names]) => {
    const models = [...names].join(', ');
    return {
      message: `The upstream ${upstream} is overloaded; cooling down for ${models}.`,
      about: { upstream, models },
    };
  });
}

// `/api/alerts`: what webhooks were told, and a test of one.

const SEVERITY = { enum: ['warning', 'error'] } as const;

const DELIVERY = named('AlertDelivery', {
  at: TIME,
  channel: TEXT,
  kinds: list(TEXT, 'Of what it told.'),
  outcome: {
    enum: ['delivered', 'retried', 'failed'],
    description: '`retried`: it failed and is tried again; `failed`: it was given up.',
  },
  tries: COUNT,
  status: optional({ type: 'integer', description: 'HTTP; absent where nothing answered.' }),
  fault: optional(TEXT),
});

export const ALERTS_SCHEMA = named('Alerts', {
  channels: list(
    object({
      name: TEXT,
      host: { ...TEXT, description: 'Of its webhook, whose address is a secret.' },
      format: { enum: WEBHOOK_FORMATS },
      severity: SEVERITY,
    }),
  ),
  firing: list(
    object({ kind: TEXT, severity: SEVERITY, message: TEXT, since: TIME }),
    'What was told and is not over.',
  ),
  deliveries: list(DELIVERY, 'The last 50, the latest first.'),
});

const TEST_SCHEMA = object({ channel: { ...TEXT, minLength: 1, maxLength: 256 } });

interface AlertRouteOptions {
  readonly alerts: Pick<Alerts, 'check' | 'deliveries' | 'firing' | 'test'>;
  readonly settings: () => AlertSettings;
}

export function createAlertRoutes({ alerts, settings }: AlertRouteOptions): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/alerts',
      access: 'viewer',
      title: 'shows the webhooks of alerts and their last deliveries',
      answers: { 200: { description: 'Channels and deliveries.', schema: ALERTS_SCHEMA } },
      async run() {
        alerts.check();
        return answerJson({
          channels: Object.entries(settings().channels).map(
            ([name, { webhook, format, severity }]) => ({
              ...{ name, format, severity },
              host: new URL(webhook).host,
            }),
          ),
          firing: alerts
            .firing()
            .map(({ kind, severity, message, since }) => ({ kind, severity, message, since })),
          deliveries: alerts.deliveries(),
        });
      },
    }),
    defineRoute({
      at: 'POST /api/alerts/test',
      access: 'operator',
      shows: 'nothing',
      title: 'sends a test alert to one webhook',
      body: TEST_SCHEMA,
      answers: { 200: { description: 'How it went.', schema: DELIVERY } },
      async run({ body: { channel: name } }) {
        const channel = settings().channels[name];
        if (channel === undefined) {
          refuseUnknown(told`There is no channel of this name. GET /api/alerts lists them.`);
        }
        return answerJson(await alerts.test(name, channel));
      },
    }),
  ];
}

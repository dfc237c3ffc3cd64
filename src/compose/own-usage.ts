// `GET /v1/usage`: what the holder of a key used, its limits and budgets, with nothing but the key.

import type { AccessControl } from '../access/access.ts';
import type { BudgetState } from '../access/budgets.ts';
import { invalidRequest } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { UsageRow } from '../monitor/request-store.ts';
import { cutSpans } from '../monitor/usage.ts';
import { toDollars } from '../pricing/cost.ts';
import type { ServiceRoute } from '../server/service-route.ts';

interface OwnUsageOptions {
  readonly access: Pick<AccessControl, 'keys' | 'budgets'>;
  readonly monitor: Pick<Monitor, 'store'>;
  readonly models: { list(): Promise<readonly { readonly id: string }[]> };
  readonly clock: Pick<Clock, 'now'>;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 31;
const MAX_DAYS = 92;

export function createOwnUsageRoute(options: OwnUsageOptions): ServiceRoute {
  return {
    method: 'GET',
    path: '/v1/usage',
    title:
      'shows what the key of the request used, by day and model, with its limits, budgets and models',
    async run({ clientKeyId, query }) {
      const body = await writeOwnUsage(options, { keyId: clientKeyId, ...readQuery(query) });
      const text = JSON.stringify(body);
      const headers = ['content-type', 'application/json; charset=utf-8'];
      return { status: 200, headers, body: [text] };
    },
  };
}

interface Asked {
  readonly days: number;
  readonly timeZone: string;
}

function readQuery(query: URLSearchParams): Asked {
  const days = Number(query.get('days') ?? DEFAULT_DAYS);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
    throw invalidRequest('days', `days: must be a whole number from 1 to ${MAX_DAYS}.`);
  }
  return { days, timeZone: query.get('time_zone') ?? 'UTC' };
}

async function writeOwnUsage(
  { access, monitor, models, clock }: OwnUsageOptions,
  { keyId, days, timeZone }: Asked & { readonly keyId: string },
): Promise<JsonObject> {
  const { keys, budgets } = access;
  const now = clock.now();
  const key = keys.get(keyId)?.key;
  const span = { from: now - (days - 1) * DAY_MS, to: now + 1 };
  const spans = cutSpans({ ...span, step: 'day', timeZone, zoneField: 'time_zone' });
  const rows = await monitor.store.usage(spans, 'model', { key: keyId });
  const allowed = (await models.list()).filter(({ id }) => keys.allows(keyId, id));
  const { requests, tokens } = keys.limitStates(keyId);
  return {
    object: 'usage',
    key: {
      id: keyId,
      name: key?.name ?? null,
      owner: key?.owner ?? null,
      team: key?.team ?? null,
      tags: [...(key?.tags ?? [])],
      expires_at: key?.expiresAt === undefined ? null : writeTime(key.expiresAt),
    },
    currency: 'USD',
    time_zone: timeZone,
    days: spans.map(({ from }) => {
      const found = rows.filter(({ at }) => at === from);
      return {
        begins_at: writeTime(from),
        ...sumRows(found),
        models: found.map((row) => ({ model: row.group, ...sumRows([row]) })),
      };
    }),
    limits: {
      requests_per_minute: key?.requestsPerMinute ?? null,
      tokens_per_minute: key?.tokensPerMinute ?? null,
      concurrent_requests: key?.maxConcurrency ?? null,
      remaining_requests: requests?.remaining ?? null,
      remaining_tokens: tokens?.remaining ?? null,
    },
    budgets: budgets.listFor({ keyId, team: key?.team }).map(writeBudget),
    models: allowed.map(({ id }) => id),
  };
}

function sumRows(rows: readonly UsageRow[]): JsonObject {
  const sum = (figure: Exclude<keyof UsageRow, 'group' | 'groupName'>): number =>
    rows.reduce((total, row) => total + row[figure], 0);
  const isPriced = sum('pricedRequests') > 0;
  return {
    requests: sum('requests'),
    errors: sum('errors'),
    input_tokens: sum('inputTokens'),
    cached_tokens: sum('cachedTokens'),
    output_tokens: sum('outputTokens'),
    images: sum('images'),
    // Null where no price is known: that is no cost of 0.
    cost: isPriced ? toDollars(sum('costNanos') + sum('flatRateNanos')) : null,
  };
}

function writeBudget({ budget, from, until, used, reserved }: BudgetState): JsonObject {
  const { scope, unit, amount, period, timeZone, isHard } = budget;
  const shown = (value: number): number => (unit === 'money' ? toDollars(value) : value);
  return {
    ...{ scope, unit, period, time_zone: timeZone, hard: isHard },
    amount: shown(amount),
    used: shown(used),
    reserved: shown(reserved),
    remaining: shown(Math.max(0, amount - used - reserved)),
    begins_at: writeTime(from),
    ends_at: writeTime(until),
  };
}

function writeTime(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

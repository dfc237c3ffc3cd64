// `/api/quota`: the quota left, by model family and by account.

import type { XStatic } from 'typebox/schema';
import { groupOfModel } from '../canonical/model.ts';
import { mapInSteps } from '../lib/chunked-json.ts';
import { MESSAGE_SCHEMA } from '../lib/localized-message.ts';
import { compareCodePoints } from '../lib/names.ts';
import { list, named, object, partial } from '../lib/object-schema.ts';
import { percentOf } from '../quota/protection.ts';
import { inOrder, writeOptionalTime, writeQuotas } from './account-view.ts';
import { findAccount } from './accounts.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';
import { orNull, QUOTA_SCHEMA } from './schemas.ts';

const FAMILY_SCHEMA = named('QuotaFamily', {
  family: { type: 'string', description: 'The first word of the model ids.' },
  kind: { enum: ['text', 'image'] },
  models: list({ type: 'string' }),
  accounts: { type: 'integer', description: 'Accounts with a figure.' },
  accountsWithRoom: { type: 'integer', description: 'Accounts with something left, unprotected.' },
  percent: { type: 'number', description: 'The mean of all figures.' },
  resetsAt: { type: ['string', 'null'], format: 'date-time', description: 'The soonest reset.' },
});

const QUOTAS_SCHEMA = named('Quotas', {
  families: list(FAMILY_SCHEMA),
  accounts: list(
    object({
      id: { type: 'string' },
      label: { type: 'string' },
      upstream: { type: 'string' },
      tier: { type: ['string', 'null'] },
      quotas: list(QUOTA_SCHEMA),
    }),
  ),
});

const REFRESH_SCHEMA = partial({
  ids: {
    type: 'array',
    minItems: 1,
    maxItems: 100_000,
    items: { type: 'string' },
    description: 'Accounts; all that are not disabled when absent.',
  },
});

const REFRESHED_SCHEMA = named('QuotaRefresh', {
  results: list(
    object({
      id: { type: 'string' },
      outcome: { enum: ['read', 'not-reported', 'failed', 'gone'] },
      message: orNull(MESSAGE_SCHEMA),
    }),
  ),
});

type FamilyJson = XStatic<typeof FAMILY_SCHEMA>;

export function createQuotaRoutes({ book, isProtected, quota }: AdminOptions): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/quota',
      access: 'viewer',
      title: 'shows the quota left, by model family and by account',
      answers: { 200: { description: 'All known figures.', schema: QUOTAS_SCHEMA } },
      run: async () => {
        const facts = { book, isProtected };
        const families = sumFamilies(facts).map(({ resetsAt, ...family }) => ({
          ...family,
          resetsAt: writeOptionalTime(resetsAt),
        }));
        return answerJson({ families, accounts: await listQuotas(facts) });
      },
    }),
    defineRoute({
      at: 'POST /api/quota/refresh',
      access: 'operator',
      shows: 'nothing',
      title: 'reads the quota from the upstreams now',
      body: REFRESH_SCHEMA,
      answers: { 200: { description: 'What became of each account.', schema: REFRESHED_SCHEMA } },
      run: async ({ body }) => {
        const named = body.ids && (await Promise.all(body.ids.map((id) => findAccount(book, id))));
        const accounts =
          named ?? book.list().filter(({ health }) => health.status.kind !== 'disabled');
        const results = accounts.map(async ({ record: { id } }) => {
          const outcome = await quota.refreshNow(id);
          const message = outcome.kind === 'failed' ? outcome.message : null;
          return { id, outcome: outcome.kind, message };
        });
        return answerJson({ results: await Promise.all(results) });
      },
    }),
  ];
}

function listQuotas({ book, isProtected }: Pick<AdminOptions, 'book' | 'isProtected'>) {
  return mapInSteps(inOrder(book.list()), (account) => ({
    id: account.record.id,
    label: account.record.label,
    upstream: account.record.upstreamId,
    tier: account.record.tier ?? null,
    quotas: writeQuotas(account, isProtected),
  }));
}

interface QuotaFamily extends Omit<FamilyJson, 'resetsAt'> {
  /** Milliseconds since the epoch. */
  readonly resetsAt: number | undefined;
}

interface FamilySum extends Pick<FamilyJson, 'family' | 'kind'> {
  readonly models: Set<string>;
  readonly accounts: Set<string>;
  readonly withRoom: Set<string>;
  readings: number;
  /** Of all readings together. */
  percent: number;
  resetsAt: number | undefined;
}

/** By model family, text and images apart. Rates are not quotas; disabled accounts do not count. */
export function sumFamilies({
  book,
  isProtected,
}: Pick<AdminOptions, 'book' | 'isProtected'>): readonly QuotaFamily[] {
  const families = new Map<string, FamilySum>();
  const byModel = new Map<string, FamilySum>();
  for (const account of book.list()) {
    if (account.health.status.kind === 'disabled') continue;
    for (const [model, reading] of account.quotas) {
      if (reading.source === 'rate') continue;
      const sum = byModel.get(model) ?? addModel(model, families);
      byModel.set(model, sum);
      const percent = percentOf(reading);
      sum.readings += 1;
      sum.percent += percent;
      sum.accounts.add(account.record.id);
      if (percent > 0 && !isProtected(account, { modelId: model, routedModel: model })) {
        sum.withRoom.add(account.record.id);
      }
      // Zero stands for a time that never was.
      const { resetsAt = 0 } = reading;
      if (resetsAt > 0) sum.resetsAt = Math.min(sum.resetsAt ?? resetsAt, resetsAt);
    }
  }
  return Array.from(families.values(), toFamily).sort(
    (left, right) =>
      compareCodePoints(left.family, right.family) || compareCodePoints(right.kind, left.kind),
  );
}

function addModel(model: string, families: Map<string, FamilySum>): FamilySum {
  const group = groupOfModel(model);
  const key = `${group.family} ${group.kind}`;
  const sum = families.get(key) ?? {
    ...group,
    ...{ models: new Set(), accounts: new Set(), withRoom: new Set() },
    ...{ readings: 0, percent: 0, resetsAt: undefined },
  };
  families.set(key, sum);
  sum.models.add(model);
  return sum;
}

function toFamily({ models, accounts, withRoom, readings, percent, ...rest }: FamilySum) {
  return {
    ...rest,
    models: [...models].sort(compareCodePoints),
    accounts: accounts.size,
    accountsWithRoom: withRoom.size,
    percent: Math.round((percent / readings) * 10) / 10,
  };
}

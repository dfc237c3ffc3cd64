// `/api/quota`: the quota left, by model family and by account.

import type { XStatic } from 'typebox/schema';
import { groupOfModel } from '../canonical/model.ts';
import { MESSAGE_SCHEMA } from '../lib/localized-message.ts';
import { compareCodePoints } from '../lib/names.ts';
import { list, named, object, partial } from '../lib/object-schema.ts';
import { inOrder, type QuotaJson, writeQuotas } from './account-view.ts';
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
        return answerJson({ families: sumFamilies(facts), accounts: listQuotas(facts) });
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
  return inOrder(book.list()).map((account) => ({
    id: account.record.id,
    label: account.record.label,
    upstream: account.record.upstreamId,
    tier: account.record.tier ?? null,
    quotas: writeQuotas(account, isProtected),
  }));
}

interface FamilyReading extends QuotaJson, Pick<FamilyJson, 'family' | 'kind'> {
  readonly id: string;
}

/** By model family, text and images apart. Rates are not quotas; disabled accounts do not count. */
export function sumFamilies({
  book,
  isProtected,
}: Pick<AdminOptions, 'book' | 'isProtected'>): FamilyJson[] {
  const usable = book.list().filter(({ health }) => health.status.kind !== 'disabled');
  const readings = usable.flatMap((account) =>
    writeQuotas(account, isProtected)
      .filter(({ source }) => source !== 'rate')
      .map(
        (quota): FamilyReading => ({
          ...{ id: account.record.id, ...quota },
          ...groupOfModel(quota.model),
        }),
      ),
  );
  const families = Map.groupBy(readings, ({ family, kind }) => `${family} ${kind}`);
  return Array.from(families.values(), writeFamily).sort(
    (left, right) =>
      compareCodePoints(left.family, right.family) || compareCodePoints(right.kind, left.kind),
  );
}

function writeFamily(readings: FamilyReading[]): FamilyJson {
  const [{ family, kind } = groupOfModel('')] = readings;
  const withRoom = readings.filter(({ percent, isProtected }) => percent > 0 && !isProtected);
  const mean = readings.reduce((total, { percent }) => total + percent, 0) / readings.length;
  const resets = readings.map(({ resetsAt }) => resetsAt).filter((at) => at !== null);
  return {
    family,
    kind,
    models: [...new Set(readings.map(({ model }) => model))].sort(compareCodePoints),
    accounts: new Set(readings.map(({ id }) => id)).size,
    accountsWithRoom: new Set(withRoom.map(({ id }) => id)).size,
    percent: Math.round(mean * 10) / 10,
    // Times in UTC of one format sort as texts.
    resetsAt: resets.sort()[0] ?? null,
  };
}

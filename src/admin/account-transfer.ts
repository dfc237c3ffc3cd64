// `/api/accounts/import` and `/export`: many accounts in and out, credentials only with a passphrase.

import type { XStatic } from 'typebox/schema';
import { invalidRequest } from '../canonical/error.ts';
import { messageSchema, told } from '../lib/localized-message.ts';
import { list, named, object, optional } from '../lib/object-schema.ts';
import type { ImportResult } from '../oauth/imports.ts';
import { requireReauthentication } from './access/session.ts';
import { readAccountProxy, readUpstream } from './account-input.ts';
import { findAccount } from './accounts.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseMissing } from './route.ts';
import { orNull, PROXY_URL } from './schemas.ts';

export const IMPORT_SCHEMA = named('AccountImport', {
  format: {
    enum: ['export', 'refresh-tokens', 'service-accounts'],
    description:
      '`export`: what an export gave. `refresh-tokens`: one a line, with a label before it or not, ' +
      'or a JSON array. `service-accounts`: a key file or a JSON array of them.',
  },
  text: { type: 'string', minLength: 1, description: 'The file as it is.' },
  passphrase: optional({
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description: 'Of a sealed export.',
  }),
  upstream: optional({
    type: 'string',
    description: 'Upstream of the accounts; not needed for an export.',
  }),
  proxyUrl: optional(PROXY_URL),
});

export const IMPORTED_SCHEMA = named('ImportedAccounts', {
  added: { type: 'integer' },
  updated: { type: 'integer' },
  failed: { type: 'integer' },
  results: list(
    object({
      index: { type: 'integer', description: 'The place in the file, from 1.' },
      label: { type: ['string', 'null'] },
      outcome: { enum: ['added', 'updated', 'failed'] },
      accountId: { type: ['string', 'null'] },
      reason: orNull(messageSchema('Why it failed, or what is worth knowing.')),
    }),
  ),
});

const EXPORT_SCHEMA = object({
  passphrase: {
    type: 'string',
    maxLength: 1024,
    description: 'At least 12 characters; whoever knows it can use the accounts.',
  },
  password: optional({
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description:
      'The console password, needed again from a browser that is signed in; or in `x-isthmus-password`.',
  }),
  ids: optional({
    type: 'array',
    minItems: 1,
    maxItems: 100_000,
    items: { type: 'string' },
    description: 'Accounts; all stored ones when absent.',
  }),
});

export const EXPORTED_SCHEMA = named('ExportedAccounts', {
  sealed: { type: 'string' },
  count: { type: 'integer' },
  left: list(
    { type: 'string' },
    'Ids of accounts that come with the process and are not exported.',
  ),
});

export function createTransferRoutes(options: AdminOptions): readonly ApiRoute[] {
  const { book, access, transfer } = options;
  return [
    defineRoute({
      at: 'POST /api/accounts/import',
      access: 'operator',
      shows: '/api/accounts',
      title: 'imports many accounts at once; a failure does not stop the others',
      body: IMPORT_SCHEMA,
      answers: { 200: { description: 'What became of each.', schema: IMPORTED_SCHEMA } },
      run: async ({ body, signal }) =>
        answerJson(writeResults(await importAccounts(body, options, signal))),
    }),
    defineRoute({
      at: 'POST /api/accounts/export',
      access: 'owner',
      shows: 'nothing',
      title: 'exports the stored accounts with their credentials, encrypted with a passphrase',
      body: EXPORT_SCHEMA,
      asksAgain: true,
      answers: { 200: { description: 'The sealed accounts.', schema: EXPORTED_SCHEMA } },
      run: async ({ body: { passphrase, password, ids }, caller }) => {
        await requireReauthentication(access, caller, password);
        const named = ids && (await Promise.all(ids.map((id) => findAccount(book, id))));
        const wanted = named ?? book.list();
        const left = wanted.filter(({ origin }) => origin !== 'stored');
        const exported = await transfer.exportAccounts({ passphrase, accountIds: ids });
        return answerJson({ ...exported, left: left.map(({ record }) => record.id) });
      },
    }),
  ];
}

function importAccounts(
  body: XStatic<typeof IMPORT_SCHEMA>,
  { transfer, upstreams }: AdminOptions,
  signal: AbortSignal,
): Promise<readonly ImportResult[]> {
  const { format, text, passphrase } = body;
  if (format === 'export') {
    refuseField(body, 'upstream');
    refuseField(body, 'proxyUrl');
    return transfer.importAccounts({ text, passphrase });
  }
  refuseField(body, 'passphrase');
  const upstreamId = readUpstream(body.upstream ?? refuseMissing('upstream'), upstreams);
  const request = { upstreamId, text, proxyUrl: readAccountProxy(body.proxyUrl), signal };
  return format === 'refresh-tokens'
    ? transfer.importRefreshTokens(request)
    : transfer.importServiceAccounts(request);
}

/** What would have no effect is said, not dropped. */
function refuseField(
  body: XStatic<typeof IMPORT_SCHEMA>,
  field: 'passphrase' | 'upstream' | 'proxyUrl',
): void {
  if (body[field] === undefined) return;
  throw invalidRequest(field, told`${field}: does not go with the format ${body.format}.`);
}

function writeResults(results: readonly ImportResult[]): XStatic<typeof IMPORTED_SCHEMA> {
  const count = (outcome: ImportResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    added: count('added'),
    updated: count('updated'),
    failed: count('failed'),
    results: results.map(({ index, label, outcome, accountId, reason }) => ({
      index,
      label: label ?? null,
      outcome,
      accountId: accountId ?? null,
      reason: reason ?? null,
    })),
  };
}

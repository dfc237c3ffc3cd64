// Reads a new account from a request: upstream, label, credential.

import type { XStatic } from 'typebox/schema';
import { ACCOUNT_KINDS, type Account, isSameLabel, TIERS } from '../accounts/account.ts';
import { StoreError } from '../accounts/account-store.ts';
import type { Trial } from '../accounts/health.ts';
import { invalidRequest } from '../canonical/error.ts';
import { refusedKey } from '../config/upstreams.ts';
import { onField, told } from '../lib/localized-message.ts';
import { readProxyUrl } from '../lib/net.ts';
import { named, optionals } from '../lib/object-schema.ts';
import type { ImportResult } from '../oauth/imports.ts';
import { BILLINGS } from '../pricing/charges.ts';
import type { AdminOptions, UpstreamDirectory } from './options.ts';
import { refuseMissing } from './route.ts';
import { ADD_ANYWAY, LABEL, NOTES, PRIORITY, PROJECT, PROXY_URL, SECRET } from './schemas.ts';
import { TRY_SCHEMA, type TriedAccess, toTrial, tryAccess } from './try-account.ts';

export const NEW_ACCOUNT_SCHEMA = named('NewAccount', {
  upstream: { type: 'string', description: 'Id of a configured upstream.' },
  kind: { enum: ACCOUNT_KINDS },
  ...optionals({
    label: {
      ...LABEL,
      description: 'Unique within the upstream; by default the e-mail, or `key-1`, `key-2`, ….',
    },
    project: PROJECT,
    tier: { enum: TIERS },
    billing: { enum: BILLINGS },
    priority: PRIORITY,
    notes: NOTES,
    proxyUrl: PROXY_URL,
    key: { ...SECRET, description: 'Of the kind `api-key`.' },
    ...TRY_SCHEMA.properties,
    addAnyway: ADD_ANYWAY,
    refreshToken: { ...SECRET, description: 'Of the kind `oauth`.' },
    serviceAccount: {
      type: 'object',
      description: 'Of the kind `service-account`: the key file as it was downloaded.',
      required: ['type', 'client_email', 'private_key'],
      properties: {
        type: { const: 'service_account' },
        client_email: LABEL,
        private_key: SECRET,
        private_key_id: { type: 'string', maxLength: 256 },
        token_uri: { type: 'string', maxLength: 2048 },
        project_id: PROJECT,
      },
    },
  }),
});

export type NewAccountJson = XStatic<typeof NEW_ACCOUNT_SCHEMA>;

/** @returns isNew false when an account of the label got the credential. @throws GatewayError; StoreError */
export async function addAccount(
  json: NewAccountJson,
  options: AdminOptions,
  signal: AbortSignal,
): Promise<{ readonly account: Account; readonly isNew: boolean }> {
  const { book, upstreams } = options;
  const upstreamId = readUpstream(json.upstream, upstreams);
  const proxyUrl = readAccountProxy(json.proxyUrl);
  refuseOthers(json);
  switch (json.kind) {
    case 'api-key': {
      const { tier, billing, priority, notes, project: projectId } = json;
      const credential = { kind: 'api-key', key: readUpstreamKey(json.key, options) } as const;
      const label = json.label ?? freeLabel(book.list());
      const rest = { tier, billing, priority, notes, projectId, proxyUrl };
      const { trial, models } = await tryKey(
        { ...json, ...rest, key: credential.key },
        options,
        signal,
      );
      const account = await book.add({ upstreamId, label, credential, ...rest });
      const { id } = account.record;
      if (trial !== undefined) options.trials.note(id, trial);
      if (models !== undefined) book.setModels(id, models);
      return { account: book.find(id) ?? account, isNew: true };
    }
    case 'oauth':
    case 'service-account': {
      refuseTaken(json, book.list());
      const request = { upstreamId, proxyUrl, signal, text: writeItem(json) };
      const [result] =
        json.kind === 'oauth'
          ? await options.transfer.importRefreshTokens(request)
          : await options.transfer.importServiceAccounts(request);
      return finishImport(json, result, book);
    }
    default:
      return json.kind satisfies never;
  }
}

export interface NewKey {
  readonly upstream: string;
  readonly key: string;
  readonly projectId?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly generate?: boolean | undefined;
  readonly addAnyway?: boolean | undefined;
}

interface TriedKey {
  readonly trial: Trial | undefined;
  readonly models: Account['models'];
}

const REFUSALS: readonly (string | undefined)[] = [
  ...['unauthenticated', 'credential-revoked', 'forbidden', 'model-forbidden'],
];

/** Tries a key before it is stored. @throws GatewayError when the upstream refuses it, unless `addAnyway` */
export async function tryKey(
  { upstream, key, projectId, proxyUrl, generate = false, addAnyway = false }: NewKey,
  options: AdminOptions,
  signal: AbortSignal,
): Promise<TriedKey> {
  let models: Account['models'];
  const access = {
    accountId: '',
    credential: key,
    credentialKind: 'api-key',
    projectId,
    proxyUrl,
  } as const;
  const accessOf = async () => access;
  const onModels: TriedAccess['onModels'] = (listed) => {
    models = listed;
  };
  const tried = { upstreamId: upstream, accessOf, generate, onModels };
  const last = (await tryAccess(tried, options, signal)).at(-1);
  if (last === undefined) return { trial: undefined, models };
  if (REFUSALS.includes(last.failure) && !addAnyway) {
    throw invalidRequest(
      'key',
      told`key: the upstream refuses it, so it was not stored. ${last.message} Correct it, or add it anyway (addAnyway).`,
      'key-refused',
    );
  }
  return { trial: toTrial(last, options.clock.now()), models };
}

function writeItem({ kind, refreshToken, serviceAccount, label }: NewAccountJson): string {
  if (kind === 'service-account') {
    return JSON.stringify(serviceAccount ?? refuseMissing('serviceAccount'));
  }
  return JSON.stringify([{ refresh_token: readSecret(refreshToken, 'refreshToken'), label }]);
}

/** What the import does not take is put to the account afterwards. */
async function finishImport(
  json: NewAccountJson,
  result: ImportResult | undefined,
  book: AdminOptions['book'],
): ReturnType<typeof addAccount> {
  const { outcome, accountId, reason = told`the import gave no answer` } = result ?? {};
  const field = SECRET_FIELDS[json.kind];
  if (accountId === undefined || outcome === 'failed') {
    throw invalidRequest(
      field,
      reason.text.endsWith('.') ? told`${field}: ${reason}` : onField(field, reason),
    );
  }
  const { label, tier, billing, priority, notes, project: projectId } = json;
  const change = { label, tier, billing, priority, notes, projectId };
  const isEmpty = Object.values(change).every((value) => value === undefined);
  const account = isEmpty ? book.find(accountId) : await book.change(accountId, change);
  if (account === undefined)
    throw new StoreError('missing', told`The account was removed meanwhile.`);
  return { account, isNew: outcome === 'added' };
}

/** Said before a token is presented, which may use it up. */
function refuseTaken(
  { label, upstream, kind }: NewAccountJson,
  accounts: readonly Account[],
): void {
  if (label === undefined) return;
  const holder = accounts.find(
    ({ record }) => record.upstreamId === upstream && isSameLabel(record.label, label),
  );
  if (holder === undefined || holder.record.kind === kind) return;
  throw new StoreError(
    'conflict',
    told`The upstream ${upstream} has an account ${label} of another kind.`,
  );
}

/** @throws GatewayError naming those there are. */
export function readUpstream(id: string, upstreams: Pick<UpstreamDirectory, 'list'>): string {
  const ids = upstreams.list().map((upstream) => upstream.id);
  if (ids.includes(id)) return id;
  const known = ids.length === 0 ? told`None is configured` : told`There are: ${ids.join(', ')}`;
  throw invalidRequest(
    'upstream',
    told`upstream: there is no upstream "${id}". ${known}. Others are added under "upstreams" of the config file.`,
  );
}

/** @throws GatewayError; the address is never repeated. */
export function readAccountProxy(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const reading = readProxyUrl(text);
  if (reading.kind === 'good') return text;
  throw invalidRequest('proxyUrl', onField('proxyUrl', reading.problem));
}

/** @throws GatewayError for what is plainly no key of an upstream; the key is never repeated. */
export function readUpstreamKey(
  text: string | undefined,
  { ownKeys }: Pick<AdminOptions, 'ownKeys'>,
): string {
  const key = readSecret(text, 'key');
  // Placeholders need no list here: the upstream is asked before the key is stored.
  const reason = refusedKey(key, { ownKeys: ownKeys(), isPublic: false });
  if (reason !== undefined) throw invalidRequest('key', onField('key', reason));
  return key;
}

/** One line without blanks. @throws GatewayError; the secret is never repeated. */
function readSecret(text: string | undefined, field: string): string {
  const secret = text?.trim() ?? refuseMissing(field);
  if (/^[^\s\p{Cc}]+$/u.test(secret)) return secret;
  throw invalidRequest(field, told`${field}: must be one line without blanks.`);
}

const SECRET_FIELDS = {
  'api-key': 'key',
  oauth: 'refreshToken',
  'service-account': 'serviceAccount',
} as const;

/** A credential of another kind would be dropped without a word. */
function refuseOthers(json: NewAccountJson): void {
  const own = SECRET_FIELDS[json.kind];
  for (const field of Object.values(SECRET_FIELDS)) {
    if (field === own || json[field] === undefined) continue;
    throw invalidRequest(
      field,
      told`${field}: does not belong to an account of kind ${json.kind}.`,
    );
  }
}

/** Of all upstreams: people tell accounts apart by their names alone. */
function freeLabel(accounts: readonly Account[]): string {
  const taken = new Set(accounts.map(({ record }) => record.label.toLowerCase()));
  for (let index = 1; ; index += 1) {
    if (!taken.has(`key-${index}`)) return `key-${index}`;
  }
}

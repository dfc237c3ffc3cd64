// Accounts in and out in bulk: refresh tokens, key files, and our own export.

import { type Account, isSameLabel } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { invalidRequest } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { inParallel } from '../lib/concurrency.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import {
  type ExportedAccount,
  type FiledAccount,
  failed,
  type ImportResult,
  readAccount,
  readAccountFile,
  readImportJson,
  requireObject,
  succeeded,
  writeAccountFile,
} from './account-file.ts';
import type { OAuthTokenSource } from './account-tokens.ts';
import { createIdentityReader, type Identity, type IdentityReader } from './identity.ts';
import {
  createTokenEndpoint,
  type OAuthDirectory,
  OAuthFault,
  type OAuthFetch,
  type OAuthLog,
  type OAuthSettings,
  type TokenEndpoint,
  type TokenReply,
} from './oauth-client.ts';
import { type AccountPlacer, createAccountPlacer } from './place-account.ts';
import { readServiceAccountKey } from './service-account-key.ts';

/** Every import answers item by item, and throws GatewayError `invalid-request` when it reads none. */
export interface AccountTransfer {
  importRefreshTokens(request: ImportRequest): Promise<readonly ImportResult[]>;
  importServiceAccounts(request: ImportRequest): Promise<readonly ImportResult[]>;
  importAccounts(request: ImportAccountsRequest): Promise<readonly ImportResult[]>;
  /** @throws GatewayError `invalid-request` for an unusable passphrase; StoreError */
  exportAccounts(request: ExportRequest): Promise<Export>;
}

interface ExportRequest {
  readonly passphrase: string;
  /** Undefined for all stored ones; those of the environment and the sandbox are never in it. */
  readonly accountIds?: readonly string[] | undefined;
}

interface Export {
  readonly sealed: string;
  readonly count: number;
}

export function createAccountTransfer(options: AccountTransferOptions): AccountTransfer {
  const endpoint = createTokenEndpoint(options);
  const parts = {
    options,
    endpoint,
    identities: createIdentityReader({ endpoint, clock: options.clock }),
    placer: createAccountPlacer({
      book: options.book,
      onCredentialReplaced: (id) => options.tokens.forget(id),
    }),
  };
  return {
    importRefreshTokens: (request) => importRefreshTokens(parts, request),
    importServiceAccounts: (request) => importServiceAccounts(parts, request),
    importAccounts: (request) => importAccounts(parts, request),
    exportAccounts: (request) => exportAccounts(options, request),
  };
}

async function exportAccounts(
  { book, sealing }: AccountTransferOptions,
  { passphrase, accountIds }: ExportRequest,
): Promise<Export> {
  const accounts: ExportedAccount[] = [];
  for (const account of book.list()) {
    const { id } = account.record;
    if (account.origin !== 'stored' || accountIds?.includes(id) === false) continue;
    const stored = await book.readCredential(id);
    if (stored !== undefined) accounts.push({ account, stored, proxyUrl: book.proxyUrl(id) });
  }
  try {
    const sealed = await sealing.sealWithPassphrase(writeAccountFile(accounts), passphrase);
    return { sealed, count: accounts.length };
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest('passphrase', error.message);
    throw error;
  }
}

interface ImportAccountsRequest {
  readonly text: string;
  /** Needed when the text is sealed. */
  readonly passphrase?: string | undefined;
}

/**
 * Nothing is asked of providers: a refresh would rotate tokens that the place they come from may
 * still use. An account of the same label in its upstream is updated.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
async function importAccounts(
  parts: ImportParts,
  request: ImportAccountsRequest,
): Promise<readonly ImportResult[]> {
  const accounts = readAccountFile(readImportJson(await openText(parts, request), 'file'));
  const results: ImportResult[] = [];
  for (const [at, value] of accounts.entries()) {
    results.push(await importAccount(parts, at + 1, value));
  }
  return results;
}

async function openText(
  { options: { sealing } }: ImportParts,
  { text, passphrase }: ImportAccountsRequest,
): Promise<string> {
  const trimmed = text.trim();
  if (!trimmed.startsWith('sealed-export:')) return trimmed;
  if (passphrase === undefined || passphrase === '') {
    throw invalidRequest(
      'passphrase',
      told`This export is sealed: give its passphrase.`,
      'missing-field',
    );
  }
  try {
    return await sealing.openWithPassphrase(trimmed, passphrase);
  } catch {
    throw invalidRequest(
      'passphrase',
      told`The export does not open: the passphrase is wrong, or the file is damaged.`,
    );
  }
}

async function importAccount(
  parts: ImportParts,
  index: number,
  value: JsonValue,
): Promise<ImportResult> {
  let label: string | undefined;
  try {
    const filed = readAccount(value);
    label = filed.label;
    return await placeFiled(parts, index, filed);
  } catch (error) {
    return failed({ index, label }, error);
  }
}

async function placeFiled(
  { options: { book, hasUpstream }, placer }: ImportParts,
  index: number,
  filed: FiledAccount,
): Promise<ImportResult> {
  const { id, credentialVersion, ...account } = filed;
  const item = { index, label: filed.label };
  if (!hasUpstream(filed.upstreamId)) {
    throw invalidRequest(
      'upstream',
      told`There is no upstream "${filed.upstreamId}"; add it to the configuration first.`,
    );
  }
  const existing = placer.find(filed.upstreamId, filed.label);
  if (existing === undefined) return succeeded(item, await placer.place(account));
  const isNewerHere = await hasNewerCredential(book, existing, { id, credentialVersion });
  if (!isNewerHere) await placer.reauthenticate(existing, filed.credential);
  const { projectId, tier, priority, notes, proxyUrl } = filed;
  const changed = await book.change(existing.record.id, {
    projectId,
    priority,
    notes,
    proxyUrl,
    ...(tier === undefined ? {} : { tier }),
  });
  const reason = isNewerHere ? told`the stored credential is newer and was kept` : undefined;
  return succeeded(item, { kind: 'reauthenticated', account: changed }, reason);
}

/** A token that was rotated since the export is void; putting it back would end the sign-in. */
async function hasNewerCredential(
  book: ImportParts['options']['book'],
  { record }: Account,
  filed: Pick<FiledAccount, 'id' | 'credentialVersion'>,
): Promise<boolean> {
  if (record.id !== filed.id || filed.credentialVersion === undefined) return false;
  const stored = await book.readCredential(record.id);
  return stored !== undefined && stored.version > filed.credentialVersion;
}

interface ListedToken {
  /** Place in the list, from 1. */
  readonly index: number;
  readonly label: string | undefined;
  /** Undefined when the item holds no usable token. */
  readonly refreshToken: string | undefined;
}

const MAX_TOKENS = 1000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
const TOKEN = /^[\x21-\x7e]{8,16384}$/;
const LABEL = /^[^\p{Cc}]{1,200}$/u;

/**
 * Lines are `token`, or a label and a token with a blank, tab or comma between; empty ones and `#`
 * comments are left out. Array items are strings or `{refresh_token, label | email}`.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
function readRefreshTokens(text: string): readonly ListedToken[] {
  if (text.length > MAX_CHARACTERS)
    throw invalidRequest('tokens', told`The list is larger than 4 MB.`);
  const items = /^\s*[[{]/.test(text) ? readArray(text) : readLines(text);
  if (items.length === 0) throw invalidRequest('tokens', told`There is no token in this list.`);
  if (items.length > MAX_TOKENS) {
    throw invalidRequest('tokens', told`At most ${MAX_TOKENS} tokens are imported at once.`);
  }
  return items;
}

function readLines(text: string): ListedToken[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line, at) => {
      const [token = '', ...before] = line.split(/[\s,]+/).reverse();
      return listed(at + 1, token, before.reverse().join(' '));
    });
}

function readArray(text: string): ListedToken[] {
  const value = readImportJson(text, 'tokens');
  const array = Array.isArray(value) ? value : [value];
  return array.map((item, at) => {
    if (!isJsonObject(item)) return listed(at + 1, item, undefined);
    return listed(
      at + 1,
      item.refresh_token ?? item.refreshToken,
      item.label ?? item.email ?? undefined,
    );
  });
}

function listed(index: number, token: JsonValue | undefined, label: JsonValue | undefined) {
  return {
    index,
    label: typeof label === 'string' && LABEL.test(label.trim()) ? label.trim() : undefined,
    refreshToken: typeof token === 'string' && TOKEN.test(token) ? token : undefined,
  };
}

const MAX_AT_ONCE = 4;
/** A token that was presented may be rotated: its answer is waited for, whoever left. */
const NEVER = new AbortController().signal;

interface Batch {
  readonly parts: ImportParts;
  readonly request: ImportRequest;
  readonly settings: OAuthSettings;
  /** Accounts of this upstream by the refresh token they have now. */
  readonly holders: ReadonlyMap<string, Account>;
  readonly first: ReadonlyMap<string, number>;
}

/** @throws GatewayError `invalid-request` when nothing of it could be tried */
async function importRefreshTokens(
  parts: ImportParts,
  request: ImportRequest,
): Promise<readonly ImportResult[]> {
  const settings = parts.options.oauth.get(request.upstreamId);
  if (settings === undefined) {
    throw invalidRequest(
      'upstreamId',
      told`This upstream has no OAuth settings to refresh tokens with.`,
    );
  }
  const items = readRefreshTokens(request.text);
  const holders = await findHolders(parts, request.upstreamId);
  const batch: Batch = { parts, request, settings, holders, first: firstPlaces(items) };
  return inParallel(items, MAX_AT_ONCE, (item) =>
    importRefreshToken(batch, item).catch((error: unknown) => failed(item, error)),
  );
}

async function importRefreshToken(batch: Batch, item: ListedToken): Promise<ImportResult> {
  const { refreshToken } = item;
  if (refreshToken === undefined) {
    throw invalidRequest('refresh_token', told`this item holds no refresh token`);
  }
  const first = batch.first.get(refreshToken);
  // Presenting a token twice may make a provider revoke it.
  if (first !== undefined && first !== item.index) {
    throw invalidRequest('refresh_token', told`this is the token of item ${first}`);
  }
  if (batch.request.signal.aborted)
    throw invalidRequest('tokens', told`the import was stopped before`);
  const holder = batch.holders.get(refreshToken);
  if (holder === undefined) return importNew(batch, item, refreshToken);
  return renewHolder(batch, item, holder);
}

/** The token source alone presents the tokens of known accounts. */
async function renewHolder(
  { parts }: Batch,
  item: ListedToken,
  account: Account,
): Promise<ImportResult> {
  const { book, tokens } = parts.options;
  await tokens.accessFor(account, { refresh: true, signal: NEVER });
  book.apply(account.record.id, { kind: 'reauthenticated' });
  const placed = { kind: 'reauthenticated', account } as const;
  return succeeded(item, placed, told`this account had the token already`);
}

async function importNew(
  batch: Batch,
  item: ListedToken,
  refreshToken: string,
): Promise<ImportResult> {
  const { parts, request, settings } = batch;
  const { upstreamId, proxyUrl } = request;
  const sentAt = parts.options.clock.now();
  const reply = await parts.endpoint.refresh(settings, refreshToken, { signal: NEVER, proxyUrl });
  const identity = await identify(batch, reply);
  const { label, reason } = nameAccount(parts, { item, upstreamId, identity });
  const placed = await parts.placer.place({
    upstreamId,
    label,
    proxyUrl,
    credential: {
      kind: 'oauth',
      refreshToken: reply.refreshToken ?? refreshToken,
      accessToken: reply.accessToken,
      expiresAt: sentAt + reply.lifetimeMs,
      scopes: reply.scopes,
    },
  });
  return succeeded(item, placed, reason);
}

/** The token is proven and perhaps rotated: not knowing whose it is must not lose it. */
async function identify({ parts, request, settings }: Batch, reply: TokenReply): Promise<Identity> {
  const reach = { signal: NEVER, proxyUrl: request.proxyUrl };
  try {
    return await parts.identities.read({ settings, reply, reach });
  } catch (error) {
    if (error instanceof OAuthFault) return { kind: 'rejected', reason: error.message };
    throw error;
  }
}

interface Naming {
  readonly item: ListedToken;
  readonly upstreamId: string;
  readonly identity: Identity;
}

function nameAccount(
  { placer, options }: ImportParts,
  { item, upstreamId, identity }: Naming,
): { readonly label: string; readonly reason?: string } {
  if (identity.kind !== 'email') {
    const reason =
      identity.kind === 'rejected'
        ? told`the provider does not say whose account this is: ${identity.reason}`
        : told`the provider does not say whose account this is`;
    return { label: item.label ?? options.createId('imported-'), reason };
  }
  const { email } = identity;
  if (item.label === undefined || isSameLabel(item.label, email)) return { label: email };
  if (item.label.includes('@')) {
    return { label: email, reason: told`the list says ${item.label}, the provider ${email}` };
  }
  return { label: placer.find(upstreamId, email) === undefined ? item.label : email };
}

function firstPlaces(items: readonly ListedToken[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { index, refreshToken } of items) {
    if (refreshToken !== undefined && !places.has(refreshToken)) places.set(refreshToken, index);
  }
  return places;
}

async function findHolders(
  { options: { book } }: ImportParts,
  upstreamId: string,
): Promise<ReadonlyMap<string, Account>> {
  const holders = new Map<string, Account>();
  for (const account of book.list()) {
    const { id, kind, upstreamId: upstream } = account.record;
    if (kind !== 'oauth' || upstream !== upstreamId) continue;
    // One that cannot be read cannot be renewed either, so nobody else presents its token.
    const stored = await book.readCredential(id).catch(() => undefined);
    if (stored?.credential.kind === 'oauth') holders.set(stored.credential.refreshToken, account);
  }
  return holders;
}

const MAX_KEYS = 100;

/**
 * One key file, or a JSON array of them.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
async function importServiceAccounts(
  parts: ImportParts,
  request: ImportRequest,
): Promise<readonly ImportResult[]> {
  const value = readImportJson(request.text, 'keys');
  const files = Array.isArray(value) ? value : [value];
  if (files.length === 0 || files.length > MAX_KEYS) {
    throw invalidRequest('keys', told`1 to ${MAX_KEYS} key files are imported at once.`);
  }
  const items = files.map((file, at) => ({ index: at + 1, label: undefined, file }));
  return inParallel(items, MAX_AT_ONCE, (item) =>
    importServiceAccount(parts, request, item).catch((error: unknown) => failed(item, error)),
  );
}

async function importServiceAccount(
  { options, endpoint, placer }: ImportParts,
  { upstreamId, proxyUrl, signal }: ImportRequest,
  item: { readonly index: number; readonly label: undefined; readonly file: JsonValue },
): Promise<ImportResult> {
  if (signal.aborted) throw invalidRequest('keys', told`the import was stopped before`);
  const { credential, projectId } = readServiceAccountKey(requireObject(item.file, 'key'));
  const label = credential.clientEmail;
  try {
    await endpoint.tradeAssertion(options.oauth.get(upstreamId), credential, { signal, proxyUrl });
    const placed = await placer.place({ upstreamId, label, projectId, proxyUrl, credential });
    return succeeded(item, placed);
  } catch (error) {
    return failed({ index: item.index, label }, error);
  }
}

interface ImportParts {
  readonly options: AccountTransferOptions;
  readonly endpoint: TokenEndpoint;
  readonly identities: IdentityReader;
  readonly placer: AccountPlacer;
}

/** What the imports are built of. */
export interface AccountTransferOptions {
  readonly book: AccountBook;
  readonly oauth: OAuthDirectory;
  readonly tokens: Pick<OAuthTokenSource, 'accessFor' | 'forget'>;
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly log: OAuthLog;
  /** Whether an upstream of that id is configured. */
  readonly hasUpstream: (id: string) => boolean;
  readonly sealing: PassphraseSealing;
}

/** @see src/sealing/seal.ts */
export interface PassphraseSealing {
  /** @throws RangeError when the passphrase is too short or too long */
  sealWithPassphrase(plain: string, passphrase: string): Promise<string>;
  /** @throws Error with a message for people when it does not open */
  openWithPassphrase(sealed: string, passphrase: string): Promise<string>;
}

interface ImportRequest {
  readonly upstreamId: string;
  readonly text: string;
  /** For the verification, and for the accounts from then on. */
  readonly proxyUrl?: string | undefined;
  /** Stops before the next item; what was begun is finished. */
  readonly signal: AbortSignal;
}

// Accounts in and out in bulk: refresh tokens, key files, and our own export.

import { type Account, isSameLabel } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { mapLimit } from '../lib/concurrency.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { asSentence, type Sentence, SpokenError, told } from '../lib/localized-message.ts';
import {
  type ExportedAccount,
  readAccount,
  readAccountFile,
  readImportJson,
  readServiceAccountKey,
  requireObject,
  writeAccountFile,
} from './account-file.ts';
import type { OAuthTokenSource } from './account-tokens.ts';
import {
  type EndpointOptions,
  NEVER,
  type OAuthDirectory,
  OAuthFault,
  type OAuthSettings,
  TokenEndpoint,
  toCredential,
} from './oauth-client.ts';
import { AccountPlacer, type Identity, type Placed, readIdentity } from './place-account.ts';

interface AccountTransferOptions extends EndpointOptions {
  readonly book: AccountBook;
  readonly oauth: OAuthDirectory;
  readonly tokens: Pick<OAuthTokenSource, 'accessFor' | 'forget'>;
  readonly createId: (prefix: string) => string;
  /** Whether an upstream of that id is configured. */
  readonly hasUpstream: (id: string) => boolean;
  readonly sealing: PassphraseSealing;
}

/** @see src/sealing/seal.ts */
interface PassphraseSealing {
  /** @throws SpokenError when the passphrase is too short or too long */
  sealWithPassphrase(plain: string, passphrase: string): Promise<string>;
  /** @throws Error with a message for people when it does not open */
  openWithPassphrase(sealed: string, passphrase: string): Promise<string>;
}

interface ImportRequest {
  readonly upstreamId: string;
  readonly text: string;
  /** For the verification, and for the accounts from then on. */
  readonly proxyUrl?: string | undefined;
  /** Stops before the next item; an item that was begun is finished. */
  readonly signal: AbortSignal;
}

interface ImportAccountsRequest {
  readonly text: string;
  /** Needed when the text is sealed. */
  readonly passphrase?: string | undefined;
}

interface ExportRequest {
  readonly passphrase: string;
  /** Undefined for all stored ones; those of the environment and the sandbox are never in it. */
  readonly accountIds?: readonly string[] | undefined;
}

export interface ImportResult {
  /** Place in the input, from 1. */
  readonly index: number;
  /** The account's label once it is known; never a token. */
  readonly label: string | undefined;
  readonly outcome: 'added' | 'updated' | 'failed';
  readonly accountId?: string | undefined;
  /** Why it failed, or a note on what went well. */
  readonly reason?: Sentence | undefined;
}

/** Every import answers item by item, and throws GatewayError `invalid-request` when it reads none. */
export type AccountTransfer = ReturnType<typeof createAccountTransfer>;

export function createAccountTransfer(options: AccountTransferOptions) {
  const { book, oauth, tokens, clock, createId, hasUpstream, sealing } = options;
  const placer = new AccountPlacer({ book, onCredentialReplaced: (id) => tokens.forget(id) });
  const endpoint = new TokenEndpoint(options);
  return {
    /** Each token is proven by one refresh, and a rotated token is kept. */
    async importRefreshTokens(request: ImportRequest): Promise<readonly ImportResult[]> {
      const { upstreamId } = request;
      const settings = oauth.get(upstreamId);
      if (settings === undefined) {
        const message = told`This upstream has no OAuth settings to refresh tokens with.`;
        throw invalidRequest('upstreamId', message);
      }
      const listed = readRefreshTokens(request.text);
      const holders = await findHolders(upstreamId);
      const places = listed.map(({ refreshToken }, at) => [refreshToken, at + 1] as const);
      const first = new Map(places.reverse());
      return importEach(listed, MAX_AT_ONCE, async (item) => {
        const { refreshToken, label } = item.value;
        item.label = label;
        if (refreshToken === undefined) {
          throw invalidRequest('refresh_token', told`this item holds no refresh token`);
        }
        const firstIndex = first.get(refreshToken);
        // Presenting a token twice may make a provider revoke it.
        if (firstIndex !== undefined && firstIndex !== item.index) {
          throw invalidRequest('refresh_token', told`this is the token of item ${firstIndex}`);
        }
        refuseStopped(request);
        const holder = holders.get(refreshToken);
        return holder === undefined
          ? prove({ ...request, settings, refreshToken, listedLabel: label })
          : renew(holder);
      });
    },

    /** One key file, or a JSON array of them; each is proven by trading one assertion for a token. */
    async importServiceAccounts(request: ImportRequest): Promise<readonly ImportResult[]> {
      const { upstreamId, text, proxyUrl, signal } = request;
      const files = listOf(readImportJson(text, 'keys'));
      if (files.length === 0 || files.length > MAX_KEYS) {
        throw invalidRequest('keys', told`1 to ${MAX_KEYS} key files are imported at once.`);
      }
      return importEach(files, MAX_AT_ONCE, async (item) => {
        refuseStopped(request);
        const { credential, projectId } = readServiceAccountKey(requireObject(item.value, 'key'));
        const label = credential.clientEmail;
        item.label = label;
        await endpoint.tradeAssertion(oauth.get(upstreamId), credential, { signal, proxyUrl });
        return placer.place({ upstreamId, label, projectId, proxyUrl, credential });
      });
    },

    /** Our own exports, plain or sealed. Nothing is renewed: the source may still use its tokens. */
    async importAccounts(request: ImportAccountsRequest): Promise<readonly ImportResult[]> {
      const accounts = readAccountFile(readImportJson(await openText(request), 'file'));
      return importEach(accounts, 1, importAccount);
    },

    /** @throws GatewayError `invalid-request` for an unusable passphrase; StoreError */
    async exportAccounts({ passphrase, accountIds }: ExportRequest) {
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
        if (error instanceof SpokenError) throw invalidRequest('passphrase', error.sentence);
        throw error;
      }
    },
  };

  /** Accounts of an upstream by the refresh token they have now. */
  async function findHolders(upstreamId: string): Promise<ReadonlyMap<string, Account>> {
    const holders = new Map<string, Account>();
    for (const account of book.list()) {
      const { id, kind, upstreamId: upstream } = account.record;
      if (kind !== 'oauth' || upstream !== upstreamId) continue;
      // An account that cannot be read cannot be renewed, so its token is not in use.
      const stored = await book.readCredential(id).catch(() => undefined);
      if (stored?.credential.kind === 'oauth') holders.set(stored.credential.refreshToken, account);
    }
    return holders;
  }

  /** The token source alone presents the tokens of known accounts. */
  async function renew(holder: Account): Promise<Proven> {
    await tokens.accessFor(holder, { refresh: true, signal: NEVER });
    book.apply(holder.record.id, { kind: 'reauthenticated' });
    const reason = told`this account had the token already`;
    return { kind: 'reauthenticated', account: holder, reason };
  }

  async function prove(token: ProvedToken): Promise<Proven> {
    const { settings, refreshToken, upstreamId, proxyUrl } = token;
    const sentAt = clock.now();
    // A token that was presented may be rotated: its answer is awaited even when the client left.
    const reach = { signal: NEVER, proxyUrl };
    const reply = await endpoint.refresh(settings, refreshToken, reach);
    // The token is proven and perhaps rotated: an unknown identity must not lose it.
    const identity = await readIdentity(endpoint, clock.now(), { settings, reply, reach }).catch(
      (error: unknown): Identity => {
        if (error instanceof OAuthFault) return { kind: 'rejected', reason: error.sentence };
        throw error;
      },
    );
    const { label, reason } = nameAccount(token, identity);
    const credential = toCredential(reply, { refreshToken, scopes: undefined }, sentAt);
    return { ...(await placer.place({ upstreamId, label, proxyUrl, credential })), reason };
  }

  function nameAccount(
    { listedLabel, upstreamId }: ProvedToken,
    identity: Identity,
  ): { readonly label: string; readonly reason?: Sentence } {
    if (identity.kind !== 'email') {
      const reason =
        identity.kind === 'rejected'
          ? told`the provider does not say whose account this is: ${identity.reason}`
          : told`the provider does not say whose account this is`;
      return { label: listedLabel ?? createId('imported-'), reason };
    }
    const { email } = identity;
    if (listedLabel === undefined || isSameLabel(listedLabel, email)) return { label: email };
    if (listedLabel.includes('@')) {
      return { label: email, reason: told`the list says ${listedLabel}, the provider ${email}` };
    }
    return { label: placer.find(upstreamId, email) === undefined ? listedLabel : email };
  }

  async function openText({ text, passphrase }: ImportAccountsRequest): Promise<string> {
    const trimmed = text.trim();
    if (!trimmed.startsWith('sealed-export:')) return trimmed;
    if (passphrase === undefined || passphrase === '') {
      const message = told`This export is sealed: give its passphrase.`;
      throw invalidRequest('passphrase', message, 'missing-field');
    }
    try {
      return await sealing.openWithPassphrase(trimmed, passphrase);
    } catch {
      const message = told`The export does not open: the passphrase is wrong, or the file is damaged.`;
      throw invalidRequest('passphrase', message);
    }
  }

  async function importAccount(item: ImportItem<JsonValue>): Promise<Proven> {
    const { id, credentialVersion, ...account } = readAccount(item.value);
    const { upstreamId, label, credential, projectId, tier, billing, ...rest } = account;
    const { priority, notes, proxyUrl } = rest;
    item.label = label;
    if (!hasUpstream(upstreamId)) {
      const message = told`There is no upstream "${upstreamId}"; add it to the configuration first.`;
      throw invalidRequest('upstream', message);
    }
    const existing = placer.find(upstreamId, label);
    if (existing === undefined) return placer.place(account);
    const isSame = existing.record.id === id && credentialVersion !== undefined;
    const stored = isSame ? await book.readCredential(id) : undefined;
    // A token that was rotated since the export is void; restoring it would end the sign-in.
    const isNewerHere = stored !== undefined && stored.version > (credentialVersion ?? 0);
    if (!isNewerHere) await placer.reauthenticate(existing, credential);
    const change = {
      ...{ projectId, priority, notes, proxyUrl },
      ...(tier !== undefined && { tier }),
      ...(billing !== undefined && { billing }),
    };
    const changed = await book.change(existing.record.id, change);
    const reason = isNewerHere ? told`the stored credential is newer and was kept` : undefined;
    return { kind: 'reauthenticated', account: changed, reason };
  }
}

/** A token of a list, presented for the first time. */
interface ProvedToken extends ImportRequest {
  readonly settings: OAuthSettings;
  readonly refreshToken: string;
  readonly listedLabel: string | undefined;
}

function refuseStopped({ signal }: ImportRequest): void {
  if (signal.aborted) throw invalidRequest('tokens', told`the import was stopped before`);
}

/** One item on its way: a prover may set the label as soon as it knows it. */
interface ImportItem<Value> {
  readonly index: number;
  readonly value: Value;
  label: string | undefined;
}

type Proven = Placed & { readonly reason?: Sentence | undefined };

/** Proves and places each item, at most `limit` at once; an item that fails ends no other. */
function importEach<Value>(
  values: readonly Value[],
  limit: number,
  prove: (item: ImportItem<Value>) => Promise<Proven>,
): Promise<readonly ImportResult[]> {
  const items = values.map((value, at): ImportItem<Value> => {
    return { index: at + 1, value, label: undefined };
  });
  return mapLimit(items, limit, async (item) => {
    const { index } = item;
    try {
      const { kind, account, reason } = await prove(item);
      const outcome = kind === 'added' ? 'added' : 'updated';
      const { id: accountId, label } = account.record;
      return { index, label, outcome, accountId, ...(reason === undefined ? {} : { reason }) };
    } catch (error) {
      return { index, label: item.label, outcome: 'failed', reason: reasonOf(error) };
    }
  });
}

function reasonOf(error: unknown): Sentence {
  if (error instanceof OAuthFault) return error.sentence;
  if (error instanceof GatewayError) return asSentence(error.failure?.detail ?? error.sentence);
  if (error instanceof StoreError) return STORE_WORDS[error.fault];
  return told`an unexpected fault of the gateway`;
}

const STORE_WORDS: Readonly<Record<StoreError['fault'], Sentence>> = {
  conflict: told`another account has this label`,
  stale: told`the account was changed at the same moment; try again`,
  missing: told`the account was removed meanwhile; try again`,
  unreadable: told`the stored account cannot be read with this secret key`,
  unavailable: told`the account could not be stored; look at the disk, then try again`,
};

interface ListedToken {
  readonly label: string | undefined;
  /** Undefined when the item holds no usable token. */
  readonly refreshToken: string | undefined;
}

const MAX_AT_ONCE = 4;
const MAX_KEYS = 100;
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
    .map((line) => {
      const [token = '', ...before] = line.split(/[\s,]+/).reverse();
      return listed(token, before.reverse().join(' '));
    });
}

function readArray(text: string): ListedToken[] {
  return listOf(readImportJson(text, 'tokens')).map((item) =>
    isJsonObject(item)
      ? listed(item.refresh_token ?? item.refreshToken, item.label ?? item.email ?? undefined)
      : listed(item, undefined),
  );
}

function listed(token: JsonValue | undefined, label: JsonValue | undefined): ListedToken {
  return {
    label: typeof label === 'string' && LABEL.test(label.trim()) ? label.trim() : undefined,
    refreshToken: typeof token === 'string' && TOKEN.test(token) ? token : undefined,
  };
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

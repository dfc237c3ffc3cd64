// Imports refresh tokens in bulk: each is proven by one refresh, and what that rotated is kept.

import type { Account } from '../accounts/account.ts';
import { isSameLabel } from '../accounts/label-key.ts';
import { invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { Identity } from './identity.ts';
import type { ImportParts, ImportRequest } from './import-parts.ts';
import { failed, type ImportResult, succeeded } from './import-result.ts';
import { inParallel } from './in-parallel.ts';
import { OAuthFault } from './oauth-fault.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { type ListedToken, readRefreshTokens } from './refresh-token-list.ts';
import type { TokenReply } from './token-endpoint.ts';

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
export async function importRefreshTokens(
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
    importOne(batch, item).catch((error: unknown) => failed(item, error)),
  );
}

async function importOne(batch: Batch, item: ListedToken): Promise<ImportResult> {
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

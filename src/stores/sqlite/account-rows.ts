// Rows of the account tables as accounts, read tolerantly: a damaged row keeps its account out, no more.

import type { AccountKind, AccountRecord, QuotaReading, Tier } from '../../accounts/account.ts';
import type { NewStoredAccount, StoredAccount } from '../../accounts/account-store.ts';
import { type AccountHealth, HEALTHY } from '../../accounts/health.ts';
import { readHealth } from '../../accounts/health-json.ts';
import { labelKey } from '../../accounts/label-key.ts';
import type { JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/told.ts';
import { SealError, type Vault } from '../../sealing/vault.ts';
import type { AccountRow, QuotaRow } from './schema.ts';

export interface AccountRows {
  readonly account: AccountRow;
  /** Undefined when the row is gone. */
  readonly sealedCredential: string | undefined;
  readonly health: string | undefined;
  readonly quotas: readonly QuotaRow[];
}

const KINDS: readonly AccountKind[] = ['oauth', 'api-key', 'service-account'];
const TIERS: readonly Tier[] = ['ultra', 'pro', 'free'];

/** What seals a credential: bound to its account, so that no other's can stand in for it. */
export function credentialPlace(accountId: string): string {
  return `credentials/${accountId}/sealed`;
}

export function proxyPlace(accountId: string): string {
  return `accounts/${accountId}/proxy_url`;
}

export function toAccountRow({ record, proxyUrl }: NewStoredAccount, vault: Vault): AccountRow {
  return {
    id: record.id,
    upstream_id: record.upstreamId,
    kind: record.kind,
    label: record.label,
    label_key: labelKey(record.label),
    project_id: record.projectId ?? null,
    tier: record.tier ?? null,
    priority: record.priority,
    notes: record.notes ?? null,
    proxy_url: proxyUrl === undefined ? null : vault.seal(proxyUrl, proxyPlace(record.id)),
    created_at: record.createdAt,
    revision: 1,
  };
}

/** `reportDamage` hears what could not be read, in plain words. */
export function toStoredAccount(
  rows: AccountRows,
  vault: Vault,
  reportDamage: (what: string) => void,
): StoredAccount {
  const damages: string[] = [];
  const { account, quotas } = rows;
  const record = toRecord(account, damages);
  const proxyUrl = openProxyUrl(account, vault, damages);
  const health = parseHealth(rows.health, damages);
  checkCredential(rows, vault, damages);
  for (const what of damages) reportDamage(what);
  return {
    record,
    proxyUrl,
    health: damages.length === 0 ? health : keepOut(health, damages),
    quotas: new Map(quotas.flatMap(toReading)),
  };
}

function toRecord(row: AccountRow, damages: string[]): AccountRecord {
  const kind = KINDS.find((known) => known === row.kind);
  if (kind === undefined) damages.push(told`its kind is none that is known`);
  return {
    id: row.id,
    upstreamId: row.upstream_id,
    kind: kind ?? 'api-key',
    label: row.label,
    projectId: row.project_id ?? undefined,
    tier: TIERS.find((known) => known === row.tier),
    priority: row.priority,
    notes: row.notes ?? undefined,
    createdAt: row.created_at,
    revision: row.revision,
  };
}

/** Without the proxy it is set to, an account must not be used at all. */
function openProxyUrl(row: AccountRow, vault: Vault, damages: string[]): string | undefined {
  if (row.proxy_url === null) return undefined;
  const proxyUrl = tryOpen(vault, row.proxy_url, proxyPlace(row.id));
  if (proxyUrl === undefined) damages.push(told`its proxy address cannot be opened: set it again`);
  return proxyUrl;
}

function checkCredential(rows: AccountRows, vault: Vault, damages: string[]): void {
  const { account, sealedCredential } = rows;
  if (sealedCredential === undefined) {
    damages.push(told`its credential is gone: sign in or give the key again`);
  } else if (tryOpen(vault, sealedCredential, credentialPlace(account.id)) === undefined) {
    damages.push(told`its credential cannot be opened: sign in or give the key again`);
  }
}

function tryOpen(vault: Vault, sealed: string, place: string): string | undefined {
  try {
    return vault.open(sealed, place);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function parseHealth(text: string | undefined, damages: string[]): AccountHealth {
  if (text === undefined) return HEALTHY;
  try {
    return readHealth(JSON.parse(text) as JsonValue);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    damages.push(told`its stored state is damaged: look at it and enable it again`);
    return HEALTHY;
  }
}

/** A state that already keeps the account out stays as it is. */
function keepOut(health: AccountHealth, damages: readonly string[]): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const detail = told`The stored account is damaged: ${damages.join('; ')}.`;
  return { ...health, status: { kind: 'disabled', reason: 'manual', since: 0, detail } };
}

function toReading(row: QuotaRow): readonly (readonly [string, QuotaReading])[] {
  const { source } = row;
  if (source !== 'upstream' && source !== 'estimated') return [];
  const reading: QuotaReading = {
    remainingFraction: Math.min(Math.max(row.remaining_fraction, 0), 1),
    resetsAt: row.resets_at ?? undefined,
    source,
    fetchedAt: row.fetched_at,
  };
  return [[row.model_id, reading]];
}

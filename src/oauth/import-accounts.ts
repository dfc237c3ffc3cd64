// Imports accounts from our own export, plain or sealed.

import type { Account } from '../accounts/account.ts';
import { invalidRequest } from '../canonical/error.ts';
import type { JsonValue } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import { type FiledAccount, readAccount, readAccountFile } from './account-file.ts';
import type { ImportParts } from './import-parts.ts';
import { failed, type ImportResult, readImportJson, succeeded } from './import-result.ts';

export interface ImportAccountsRequest {
  readonly text: string;
  /** Needed when the text is sealed. */
  readonly passphrase?: string | undefined;
}

/**
 * Nothing is asked of providers: a refresh would rotate tokens that the place they come from may
 * still use. An account of the same label in its upstream is updated.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
export async function importAccounts(
  parts: ImportParts,
  request: ImportAccountsRequest,
): Promise<readonly ImportResult[]> {
  const accounts = readAccountFile(readImportJson(await openText(parts, request), 'file'));
  const results: ImportResult[] = [];
  for (const [at, value] of accounts.entries()) {
    results.push(await importOne(parts, at + 1, value));
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

async function importOne(
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

// Accounts in and out in bulk: refresh tokens, key files, and our own export.

import { invalidRequest } from '../canonical/error.ts';
import { type ExportedAccount, writeAccountFile } from './account-file.ts';
import { createIdentityReader } from './identity.ts';
import { type ImportAccountsRequest, importAccounts } from './import-accounts.ts';
import type { AccountTransferOptions, ImportRequest } from './import-parts.ts';
import { importRefreshTokens } from './import-refresh-tokens.ts';
import type { ImportResult } from './import-result.ts';
import { importServiceAccounts } from './import-service-accounts.ts';
import { createAccountPlacer } from './place-account.ts';
import { createTokenEndpoint } from './token-endpoint.ts';

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

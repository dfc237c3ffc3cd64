// Imports service-account key files: each is proven by trading one assertion for a token.

import { invalidRequest } from '../canonical/error.ts';
import type { JsonValue } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import type { ImportParts, ImportRequest } from './import-parts.ts';
import {
  failed,
  type ImportResult,
  readImportJson,
  requireObject,
  succeeded,
} from './import-result.ts';
import { inParallel } from './in-parallel.ts';
import { readServiceAccountKey } from './service-account-key.ts';

const MAX_KEYS = 100;
const MAX_AT_ONCE = 4;

/**
 * One key file, or a JSON array of them.
 * @throws GatewayError `invalid-request` when the whole cannot be read
 */
export async function importServiceAccounts(
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
    importOne(parts, request, item).catch((error: unknown) => failed(item, error)),
  );
}

async function importOne(
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

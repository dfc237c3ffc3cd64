// The secrets of the config file: sealed when they are written there, opened where they are used.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { AccessControl } from '../access/access.ts';
import type { Change } from '../access/audit-log.ts';
import { hashPasswordIn, type PasswordHasher } from '../access/password-hash.ts';
import { showSettings } from '../admin/config/sections.ts';
import type { Bank } from '../cluster/cluster.ts';
import { mergePatch, valueAt, wrap } from '../config/file.ts';
import type { LiveConfig } from '../config/live.ts';
import { differenceOf, fieldNames } from '../lib/difference.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { LineLog } from '../lib/log.ts';
import type { Vault } from '../sealing/seal.ts';

interface ConfigSecretsOptions {
  readonly config: Pick<LiveConfig, 'raw' | 'reload' | 'preview' | 'update' | 'subscribe'>;
  /** Undefined where its key is lost at the end: then secrets stay plain until a start that seals them. */
  readonly vault: Vault | undefined;
  readonly log: LineLog;
}

export function createConfigSecrets({ config, vault, log }: ConfigSecretsOptions) {
  const sealFile = async (): Promise<void> => {
    if (sealCredentials(config.raw(), vault) === undefined) return;
    try {
      await config.update((raw) => sealCredentials(raw, vault));
    } catch (error) {
      log.warn({ error }, 'A credential in the config file could not be sealed.');
    }
  };
  const open = (text: string, context: string): string => openSealed(text, context, vault);
  return {
    /** Seals plain credentials in the file, now and after each change; logs when the file cannot be written. */
    async keepSealed(): Promise<void> {
      config.subscribe(() => void sealFile());
      await sealFile();
    },
    /** The client secret of an upstream, sealed or plain. @throws SealError */
    open: (text: string, upstreamId: string): string => open(text, contextOf(upstreamId)),
    /** The key of the external provider, sealed or plain. @throws SealError */
    openProviderKey: (text: string): string => open(text, PROVIDER_CONTEXT),
    /** The client secret at the provider that people sign in at, sealed or plain. @throws SealError */
    openSignInSecret: (text: string): string => open(text, SIGN_IN_CONTEXT),
    /** `user:password` of the proxy of the gateway, sealed or plain. @throws SealError */
    openProxyCredential: (text: string): string => openProxyCredential(text, vault),
    /** The configuration whose updates seal and hash before anything is written. */
    guard: (hasher: Pick<PasswordHasher, 'hash'>) => ({
      ...config,
      async update(patch: JsonObject) {
        const sealed = mergePatch(patch, sealCredentials(patch, vault) ?? {});
        return config.update(await hashPasswordIn(sealed, hasher));
      },
    }),
  };
}

const PROVIDER_CONTEXT = 'config proxy extprov api_key';
const SIGN_IN_CONTEXT = 'config proxy sign_in client_secret';
const PROXY_CONTEXT = 'config proxy outbound_proxy_credential';

/** `user:password` of the proxy of the gateway, sealed or plain. @throws SealError */
export function openProxyCredential(text: string, vault: Vault | undefined): string {
  return openSealed(text, PROXY_CONTEXT, vault);
}

function openSealed(text: string, context: string, vault: Vault | undefined): string {
  if (!isSealed(text)) return text;
  if (vault === undefined) throw new Error('The key that it was sealed with is missing.');
  return vault.open(text, context);
}

/** A merge patch, or nothing when no plain credential stands there. */
function sealCredentials(raw: JsonObject, vault: Vault | undefined): JsonObject | undefined {
  if (vault === undefined) return undefined;
  return patchCredentials(raw, (secret, context) =>
    secret.trim() === '' || isSealed(secret) ? undefined : vault.seal(secret, context),
  );
}

/** @param change of a credential and what its sealed text is bound to; undefined lets it stand */
function patchCredentials(
  raw: JsonObject,
  change: (secret: string, context: string, path: readonly string[]) => string | undefined,
): JsonObject | undefined {
  const ids = isJsonObject(raw.upstreams) ? Object.keys(raw.upstreams) : [];
  const places = [
    ...ids.map((id) => ({
      path: ['upstreams', id, 'oauth', 'client_secret'],
      context: contextOf(id),
    })),
    { path: ['proxy', 'extprov', 'api_key'], context: PROVIDER_CONTEXT },
    { path: ['proxy', 'outbound_proxy_credential'], context: PROXY_CONTEXT },
    { path: ['proxy', 'sign_in', 'client_secret'], context: SIGN_IN_CONTEXT },
  ];
  let patch: JsonObject = {};
  for (const { path, context } of places) {
    const secret = valueAt(raw, path);
    const changed = typeof secret === 'string' ? change(secret, context, path) : undefined;
    if (changed !== undefined) patch = mergePatch(patch, wrap(path, changed));
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A merge patch with the credentials sealed anew. @param onLost told of those that neither key opens */
export function resealCredentials(
  raw: JsonObject,
  { from, to }: { readonly from: Vault; readonly to: Vault },
  onLost: (path: string) => void,
): JsonObject | undefined {
  return patchCredentials(raw, (secret, context, path) => {
    if (!isSealed(secret) || opens(to, secret, context)) return undefined;
    if (opens(from, secret, context)) return to.seal(from.open(secret, context), context);
    onLost(path.join('.'));
    return undefined;
  });
}

function opens(vault: Vault, sealed: string, context: string): boolean {
  try {
    vault.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}

function isSealed(text: string): boolean {
  return text.startsWith('sealed:');
}

function contextOf(upstreamId: string): string {
  return `config upstreams ${upstreamId} oauth client_secret`;
}

// Tells the audit log of edits of the config file, also of those that were made while no gateway ran.

interface RecordEditsOptions {
  readonly config: Pick<LiveConfig, 'followEdits' | 'announceWrites'>;
  readonly audit: Pick<AccessControl['audit'], 'add'>;
  readonly path: string;
  /** Of those who have the same file; without it this process has it alone. */
  readonly bank?: Bank | undefined;
}

/** @returns what ends it */
export function recordEdits({
  config,
  audit,
  path,
  bank,
}: RecordEditsOptions): () => Promise<void> {
  let told = Promise.resolve();
  if (bank !== undefined) {
    config.announceWrites(async (raw) => void (await isFirstToName(raw, bank)));
  }
  const end = config.followEdits(({ before, after }) => {
    const differing = differenceOf(before, after);
    const names = [differing.before, differing.after].flatMap((side) => fieldNames(side));
    if (names.length === 0) return;
    const change: Change = {
      actor: 'file',
      action: 'file',
      subject: basename(path),
      status: 0,
      session: undefined,
      address: undefined,
      requestId: undefined,
      fields: [...new Set(names)],
      before: showSettings(before),
      after: showSettings(after),
    };
    told = told.then(async () => {
      if (bank === undefined || (await isFirstToName(after, bank))) await audit.add(change);
    });
  });
  return () => {
    end();
    return told;
  };
}

/** Each process sees what the others write as edits. Whoever is the first to name a text has written it, or records it. */
async function isFirstToName(raw: JsonObject, bank: Bank): Promise<boolean> {
  const digest = createHash('sha256').update(JSON.stringify(raw)).digest('base64url');
  const name = { counter: `config ${digest}`, window: 'minute' } as const;
  const { granted } = await bank.lease({ ...name, limit: 1, amount: 1, batch: 1, initial: 0 });
  return granted > 0;
}

// Seals the secrets that operators write into the config file, and opens them where they are used.

import type { Settings } from '../config/effective.ts';
import { mergePatch } from '../config/file.ts';
import type { ConfigLog, LiveConfig } from '../config/live.ts';
import { hashPasswordIn } from '../door/hash-password-setting.ts';
import type { PasswordHasher } from '../door/password-hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import type { Vault } from '../sealing/vault.ts';

export interface ConfigSecrets {
  /**
   * Puts a sealed text in place of each plain credential for others, now and after each change of the
   * file; one that cannot be written keeps them, and that is logged.
   */
  keepSealed(): Promise<void>;
  /** The client secret of an upstream, sealed or plain. @throws SealError */
  open(text: string, upstreamId: string): string;
  /** The configuration whose updates seal and hash before anything is written. */
  guard(hasher: Pick<PasswordHasher, 'hash'>): GuardedConfig;
}

type GuardedConfig = Pick<LiveConfig, 'raw' | 'reload' | 'preview'> & {
  update(patch: JsonObject): Promise<Settings>;
};

export interface ConfigSecretsOptions {
  readonly config: Pick<LiveConfig, 'raw' | 'reload' | 'preview' | 'update' | 'subscribe'>;
  /** Undefined where its key is lost at the end: then secrets stay plain until a start that seals them. */
  readonly vault: Vault | undefined;
  readonly log: ConfigLog;
}

export function createConfigSecrets({ config, vault, log }: ConfigSecretsOptions): ConfigSecrets {
  const sealFile = async (): Promise<void> => {
    if (sealCredentials(config.raw(), vault) === undefined) return;
    try {
      await config.update((raw) => sealCredentials(raw, vault));
    } catch (error) {
      log.warn({ error }, 'A credential in the config file could not be sealed.');
    }
  };
  return {
    async keepSealed() {
      config.subscribe(() => void sealFile());
      await sealFile();
    },
    open(text, upstreamId) {
      if (!isSealed(text)) return text;
      if (vault === undefined) throw new Error('The key that it was sealed with is missing.');
      return vault.open(text, contextOf(upstreamId));
    },
    guard: (hasher) => ({
      raw: () => config.raw(),
      reload: () => config.reload(),
      preview: (patch) => config.preview(patch),
      async update(patch) {
        const sealed = mergePatch(patch, sealCredentials(patch, vault) ?? {});
        return config.update(await hashPasswordIn(sealed, hasher));
      },
    }),
  };
}

/** A merge patch, or nothing when no plain credential stands there. */
function sealCredentials(
  { upstreams, proxy }: JsonObject,
  vault: Vault | undefined,
): JsonObject | undefined {
  if (vault === undefined) return undefined;
  const patch = {
    ...sealClientSecrets(upstreams, vault),
    ...sealProviderKey(proxy, vault),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function sealClientSecrets(upstreams: JsonValue | undefined, vault: Vault): JsonObject | undefined {
  if (!isJsonObject(upstreams)) return undefined;
  const sealed = Object.entries(upstreams).flatMap(([id, section]) => {
    const oauth = isJsonObject(section) ? section.oauth : undefined;
    const secret = isJsonObject(oauth) ? oauth.client_secret : undefined;
    if (!isPlain(secret)) return [];
    return [[id, { oauth: { client_secret: vault.seal(secret, contextOf(id)) } }] as const];
  });
  return sealed.length === 0 ? undefined : { upstreams: Object.fromEntries(sealed) };
}

function sealProviderKey(proxy: JsonValue | undefined, vault: Vault): JsonObject | undefined {
  const provider = isJsonObject(proxy) ? proxy.extprov : undefined;
  const key = isJsonObject(provider) ? provider.api_key : undefined;
  if (!isPlain(key)) return undefined;
  return { proxy: { extprov: { api_key: vault.seal(key, 'config proxy extprov api_key') } } };
}

function isPlain(secret: JsonValue | undefined): secret is string {
  return typeof secret === 'string' && secret.trim() !== '' && !isSealed(secret);
}

function isSealed(text: string): boolean {
  return text.startsWith('sealed:');
}

function contextOf(upstreamId: string): string {
  return `config upstreams ${upstreamId} oauth client_secret`;
}

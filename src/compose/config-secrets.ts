// Seals the secrets an operator writes into the config file, and opens them where they are used.

import type { LiveConfig } from '../config/live.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { Vault } from '../sealing/vault.ts';

export interface ConfigSecrets {
  /** Puts a sealed text in place of each plain client secret; other keys stay as they are. */
  sealPlain(): Promise<void>;
  /** The client secret of an upstream, sealed or plain. @throws SealError */
  open(text: string, upstreamId: string): string;
}

export function createConfigSecrets(
  config: Pick<LiveConfig, 'raw' | 'update'>,
  vault: Vault,
): ConfigSecrets {
  return {
    async sealPlain() {
      const patch = sealClientSecrets(config.raw(), vault);
      if (patch !== undefined) await config.update(patch);
    },
    open: (text, upstreamId) => (isSealed(text) ? vault.open(text, contextOf(upstreamId)) : text),
  };
}

/** A merge patch, or nothing when no plain secret stands there. */
function sealClientSecrets({ upstreams }: JsonObject, vault: Vault): JsonObject | undefined {
  if (!isJsonObject(upstreams)) return undefined;
  const sealed = Object.entries(upstreams).flatMap(([id, section]) => {
    const oauth = isJsonObject(section) ? section.oauth : undefined;
    const secret = isJsonObject(oauth) ? oauth.client_secret : undefined;
    if (typeof secret !== 'string' || secret === '' || isSealed(secret)) return [];
    return [[id, { oauth: { client_secret: vault.seal(secret, contextOf(id)) } }] as const];
  });
  return sealed.length === 0 ? undefined : { upstreams: Object.fromEntries(sealed) };
}

function isSealed(text: string): boolean {
  return text.startsWith('sealed:');
}

function contextOf(upstreamId: string): string {
  return `config upstreams ${upstreamId} oauth client_secret`;
}

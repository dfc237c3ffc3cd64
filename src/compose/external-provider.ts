// The external provider of `proxy.extprov`: an upstream of the Messages wire with one account, beside the pool.

import type { AccountBook, SeedAccount } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import { PROVIDER_ID } from '../config/upstreams.ts';
import type { ProviderRule } from '../dispatch/call-setup.ts';
import type { WarnLog } from '../lib/log.ts';
import { derived } from '../lib/once.ts';
import type { SecretIndex } from '../lib/redact.ts';
import type { UpstreamSettings } from '../upstreams/index.ts';

type ProviderSettings = Settings['externalProvider'];

/** The two flags every request to the provider has, beside those of its client (the contract of `extprov`). */
const BETAS = ['beta-code-20250219', 'interleaved-thinking-2025-05-14'];

/** Undefined while it is off, or lacks its address or key, which is plain or sealed as the file has it. */
function activeProvider({ enabled, baseUrl, apiKey, dispatchMode, mcp }: ProviderSettings) {
  const isAsked = dispatchMode !== 'off' || (mcp.enabled && mcp.visionEnabled);
  if (!enabled || !isAsked || !baseUrl || !apiKey) return undefined;
  return { baseUrl, apiKey };
}

/** What the upstream is built from; undefined while the provider takes part in nothing. */
export function providerUpstream({ externalProvider }: Settings): UpstreamSettings | undefined {
  const active = activeProvider(externalProvider);
  if (active === undefined) return undefined;
  const { baseUrl } = active;
  const profile = 'messages';
  const serves = { servesByNameOnly: true, servesUnlisted: true };
  return { id: PROVIDER_ID, profile, baseUrl, betas: BETAS, ...serves };
}

/** How it takes part in requests, as the settings are now. */
export function createProviderRule(current: () => Settings): () => ProviderRule {
  return derived(current, ({ externalProvider: settings }): ProviderRule => {
    const { dispatchMode: mode, modelMapping, models } = settings;
    // Where it looks at pictures alone, no name of a client leads to it.
    if (mode === 'off') return { upstreamId: PROVIDER_ID, mode };
    if (activeProvider(settings) === undefined) return undefined;
    return {
      upstreamId: PROVIDER_ID,
      mode,
      modelFor: (asked) => providerModel(asked, { modelMapping, models }),
    };
  });
}

const OWN_PREFIX = `${PROVIDER_ID}/`;

const FAMILIES = ['opus', 'sonnet', 'haiku'] as const;

/**
 * The exact entry of the mapping, else what follows the provider's own id, which is the provider's name of a model,
 * else the default of the family in the name, else the name as it is.
 */
function providerModel(
  asked: string,
  { modelMapping, models }: Pick<ProviderSettings, 'modelMapping' | 'models'>,
): string {
  const exact = Object.hasOwn(modelMapping, asked) ? modelMapping[asked] : undefined;
  if (exact !== undefined) return exact;
  if (asked.startsWith(OWN_PREFIX)) return asked.slice(OWN_PREFIX.length);
  const lower = asked.toLowerCase();
  const family = FAMILIES.find((word) => lower.includes(word));
  return family === undefined ? asked : models[family];
}

interface ProviderAccountOptions {
  readonly config: Pick<LiveConfig, 'current' | 'subscribe'>;
  readonly book: Pick<AccountBook, 'putSeed' | 'removeSeed'>;
  /** Opens a key that the file holds sealed. @throws Error */
  readonly openKey: (text: string) => string;
  readonly accountSecrets: Pick<SecretIndex, 'set' | 'delete'>;
  readonly log: WarnLog;
}

/** Keeps the provider's one account in the book while it takes part. */
export function keepProviderAccount(options: ProviderAccountOptions): void {
  const { config, book, openKey, accountSecrets, log } = options;
  let known = '';
  const settle = (): void => {
    const active = activeProvider(config.current().externalProvider);
    const state = active === undefined ? '' : `${active.baseUrl} ${active.apiKey}`;
    if (state === known) return;
    known = state;
    book.removeSeed(PROVIDER_ID);
    accountSecrets.delete(PROVIDER_ID);
    if (active === undefined) return;
    try {
      const key = openKey(active.apiKey);
      accountSecrets.set(PROVIDER_ID, [key]);
      book.putSeed(accountOf(key));
    } catch (error) {
      log.warn({ error: String(error) }, 'The sealed key of the external provider does not open.');
    }
  };
  config.subscribe(settle);
  settle();
}

function accountOf(key: string): SeedAccount {
  return {
    id: PROVIDER_ID,
    label: PROVIDER_ID,
    origin: 'settings',
    upstreamId: PROVIDER_ID,
    credential: { kind: 'api-key', key },
  };
}

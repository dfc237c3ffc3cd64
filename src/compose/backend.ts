// Builds the upstreams of the configuration, with the sandbox and the accounts of the environment.

import type { AccountBook, SeedAccount } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import { ADDRESSLESS, PROVIDER_ID, type UpstreamDefinition } from '../config/upstreams.ts';
import type { ProviderRule } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import { derived } from '../lib/once.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import type { SecretIndex } from '../lib/redact.ts';
import type { OAuthSettings } from '../oauth/oauth-client.ts';
import { createMapping } from '../routing/mapping.ts';
import type { AnswerRoom } from '../stream/held-memory.ts';
import { createUpstreamDirectory } from '../upstreams/directory.ts';
import type { UpstreamSettings } from '../upstreams/index.ts';

export type Backend = Awaited<ReturnType<typeof openBackend>>;

interface UpstreamChoice {
  readonly id: string;
  readonly profile: string;
  readonly oauth: OAuthSettings | undefined;
}

interface BackendOptions {
  readonly current: () => Settings;
  /** Calls back after each change of the settings. */
  readonly subscribe: (listener: () => void) => unknown;
  /** True when accounts are stored: those of the sandbox then rest. */
  readonly hasStoredAccounts: boolean;
  /** Opens a client secret that the file holds sealed. */
  readonly openSecret: (sealed: string, upstreamId: string) => string;
  readonly version: string;
  readonly clock: Clock;
  readonly answerRoom: AnswerRoom;
  /** The proxy of the gateway as it is now. */
  readonly proxyFor: ProxyChoice;
  readonly log: WarnLog;
}

const SANDBOX_ID = 'sandbox';
/** The sandbox over the other wires: these serve only who names them, `sandbox-messages/claude-haiku-4-5`. */
const SANDBOX_WIRES = [
  { id: 'sandbox-messages', label: 'messages@sandbox.example', profile: 'messages', path: '' },
  { id: 'sandbox-chat', label: 'chat@sandbox.example', profile: 'openai', path: '/v1' },
] as const;
const SANDBOX_IDS: readonly string[] = [SANDBOX_ID, ...SANDBOX_WIRES.map(({ id }) => id)];
const SANDBOX_SCOPES = ['models', 'email', 'profile'];

/** @throws Error when an upstream of the configuration cannot be built. */
export async function openBackend(options: BackendOptions) {
  const { current: settings, clock, version, answerRoom, proxyFor, log } = options;
  const environment = environmentSeeds(settings());
  const isNamed = namedUpstreams(settings()).length > 0;
  const isSandbox = environment.length === 0 && !options.hasStoredAccounts && !isNamed;
  const embedded =
    isSandbox || needsSandbox(settings(), options) ? await startSandbox(options) : undefined;
  const upstreams = createUpstreamDirectory({ clock, version, answerRoom, proxyFor });
  const build = (): void => upstreams.replace(upstreamSettings(settings(), embedded));
  build();
  options.subscribe(() => {
    try {
      build();
    } catch (error) {
      log.warn({ error: String(error) }, 'The upstreams stay as they were.');
    }
  });
  const choices = (): readonly UpstreamChoice[] => listChoices(options, embedded);
  return {
    upstreams,
    /** What accounts can be added to, in the order of the settings. */
    choices,
    oauth: { get: (id: string) => choices().find((choice) => choice.id === id)?.oauth },
    /** Accounts of the environment, and the sandbox's own: beside anything real they rest, and serve again when that is gone. */
    seeds: [...environment, ...(embedded?.seeds ?? [])],
    /** True when the accounts are the sandbox's, because none was configured. */
    isSandbox,
    /** Whether the built-in sandbox is what answers for this upstream; a sandbox that runs elsewhere may have its name. */
    isBuiltIn: (id: string): boolean =>
      embedded !== undefined &&
      SANDBOX_IDS.includes(id) &&
      !settings().upstreams.some((upstream) => upstream.id === id && !isEmbedded(upstream)),
    /** Upstreams of the settings that are not the built-in sandbox. */
    namedUpstreams: () => namedUpstreams(settings()),
    /** Those of them that have no address to be asked at. */
    unaddressed: (): readonly string[] =>
      settings()
        .upstreams.filter((one) => !isEmbedded(one) && settingsOf(one) === undefined)
        .map(({ id }) => id),
    async close(): Promise<void> {
      await upstreams.close();
      await embedded?.close();
    },
  };
}

type EmbeddedSandbox = Awaited<ReturnType<typeof startSandbox>>;

async function startSandbox({ current, clock }: BackendOptions) {
  const redirectUrls = current().upstreams.flatMap(({ profile, oauth }) =>
    profile === 'sandbox' && oauth?.redirectUrl !== undefined ? [oauth.redirectUrl] : [],
  );
  // Loaded here alone: where it does not serve, its code takes no memory.
  const { createDefaultAccounts, createSandbox } = await import('@isthmus/sandbox');
  const sandbox = createSandbox({ accounts: createDefaultAccounts(), clock, redirectUrls });
  const { url, oauth } = await sandbox.start();
  return {
    url,
    oauth: { ...oauth, scopes: SANDBOX_SCOPES },
    seeds: [
      ...sandbox.accounts.map(
        ({ email, tier, project, key }): SeedAccount => ({
          id: email,
          label: email,
          origin: 'sandbox',
          tier,
          projectId: project,
          upstreamId: SANDBOX_ID,
          credential: { kind: 'api-key', key },
        }),
      ),
      ...sandbox.accounts.slice(0, 1).flatMap(({ tier, key }) =>
        SANDBOX_WIRES.map(
          ({ id, label }): SeedAccount => ({
            ...{ id: label, label, tier, upstreamId: id, origin: 'sandbox' },
            credential: { kind: 'api-key', key },
          }),
        ),
      ),
    ],
    close: (): Promise<void> => sandbox.close(),
  };
}

/** Accounts stored with the embedded sandbox, or an operator who names it, want it to run. */
function needsSandbox(settings: Settings, { hasStoredAccounts }: BackendOptions): boolean {
  const sandbox = settings.upstreams.find(({ id }) => id === SANDBOX_ID);
  return sandbox === undefined ? hasStoredAccounts : isEmbedded(sandbox);
}

function namedUpstreams({ upstreams }: Settings): readonly string[] {
  return upstreams.filter((upstream) => !isEmbedded(upstream)).map(({ id }) => id);
}

function isEmbedded({ profile, baseUrl }: UpstreamDefinition): boolean {
  return profile === 'sandbox' && baseUrl === undefined;
}

function environmentSeeds({ upstreamSeeds }: Settings): readonly SeedAccount[] {
  let count = 0;
  return upstreamSeeds.flatMap(({ profile, apiKeys, projectId }) =>
    apiKeys.map((key, index) => ({
      id: `env-${profile}-${index + 1}`,
      label: `key-${++count}@env`,
      origin: 'environment' as const,
      upstreamId: profile,
      projectId,
      credential: { kind: 'api-key' as const, key },
    })),
  );
}

/** What an upstream is built from; undefined where its profile has no address of its own and none is given. */
function settingsOf(described: UpstreamDefinition): UpstreamSettings | undefined {
  const { profile, baseUrl } = described;
  if (isEmbedded(described) || (ADDRESSLESS.includes(profile) && baseUrl === undefined))
    return undefined;
  const { id, vocabulary, auth, quotaPath, location } = described;
  const { keyHeader, headers, query, paths, quirks, endpoints, endsWith, extraBody } = described;
  return {
    ...{ id, profile, baseUrl, vocabulary, auth, quotaPath, location },
    ...{ keyHeader, headers, query, paths, quirks, endpoints, endsWith, extraBody },
  };
}

function upstreamSettings(
  settings: Settings,
  embedded: EmbeddedSandbox | undefined,
): readonly UpstreamSettings[] {
  const configured = settings.upstreams.flatMap((definition) => settingsOf(definition) ?? []);
  const provider = providerUpstream(settings);
  if (provider !== undefined) configured.push(provider);
  if (embedded === undefined) return configured;
  const { url } = embedded;
  const offered: readonly UpstreamSettings[] = [
    { profile: 'sandbox', id: SANDBOX_ID, baseUrl: url },
    ...SANDBOX_WIRES.map(({ id, profile, path }) => ({
      ...{ id, profile, baseUrl: url + path, servesByNameOnly: true, isSandbox: true },
    })),
  ];
  const own = configured.map(({ id }) => id);
  return [...configured, ...offered.filter(({ id }) => !own.includes(id))];
}

function listChoices(
  { current, openSecret, log }: BackendOptions,
  embedded: EmbeddedSandbox | undefined,
): readonly UpstreamChoice[] {
  const configured = current()
    .upstreams.filter((definition) => settingsOf(definition) !== undefined)
    .map(({ id, profile, oauth }): UpstreamChoice => {
      if (oauth?.clientSecret === undefined) return { id, profile, oauth };
      try {
        const clientSecret = openSecret(oauth.clientSecret, id);
        return { id, profile, oauth: { ...oauth, clientSecret } };
      } catch (error) {
        log.warn({ upstream: id, error: String(error) }, 'The sealed client secret does not open.');
        return { id, profile, oauth: undefined };
      }
    });
  if (embedded === undefined || configured.some(({ id }) => id === SANDBOX_ID)) return configured;
  return [...configured, { id: SANDBOX_ID, profile: 'sandbox', oauth: embedded.oauth }];
}

// The external provider of `proxy.extprov`: an upstream of the Messages wire with one account, beside the pool.

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
function providerUpstream({ externalProvider }: Settings): UpstreamSettings | undefined {
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
    const { dispatchMode: mode, models } = settings;
    // Where it looks at pictures alone, no name of a client leads to it.
    if (mode === 'off') return { upstreamId: PROVIDER_ID, mode };
    if (activeProvider(settings) === undefined) return undefined;
    const mapping = createMapping(settings.modelMapping);
    const modelFor = (asked: string): string =>
      mapping.findExact(asked)?.target ?? unmappedModel(asked, models);
    return { upstreamId: PROVIDER_ID, mode, modelFor };
  });
}

const OWN_PREFIX = `${PROVIDER_ID}/`;

const FAMILIES = ['opus', 'sonnet', 'haiku'] as const;

/** The provider's name of a model, else the default of the family in the name, else the name as it is. */
function unmappedModel(asked: string, models: ProviderSettings['models']): string {
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

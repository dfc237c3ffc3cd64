// `isthmus serve`: runs the gateway until it is stopped.

import type { App } from '../app.ts';
import { joinSiblings } from '../compose/cluster.ts';
import { createOutboundFetch } from '../compose/outbound.ts';
import type { Flags, Settings } from '../config/effective.ts';
import { readEnvironment, readSurroundings } from '../config/env.ts';
import type { LiveConfig } from '../config/live.ts';
import { createSystemClock } from '../lib/clock.ts';
import { messageOf } from '../lib/localized-message.ts';
import { shareMemory } from '../lib/memory-limit.ts';
import { isEveryAddress, isLoopbackHost } from '../lib/net.ts';
import { escapeLine } from '../monitor/log-files.ts';
import type { AccountView } from '../pool/pool.ts';
import { outliveOutput } from './log.ts';
import { openGateway } from './open-gateway.ts';
import { PUBLISHED } from './package-name.ts';
import { explainListening } from './start-checks.ts';
import {
  openUpdateCheck,
  type RegistryOptions,
  reasonNotToAsk,
  sayUpdate,
  type UpdateCheck,
} from './update-check.ts';
import { channelToParent, isSpokesman, reportListening } from './worker.ts';
import { takeFromParent } from './worker-connections.ts';

export type RunningServer = Awaited<ReturnType<typeof serve>>;

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags) {
  outliveOutput();
  const environment = readEnvironment();
  const channel = channelToParent();
  // It means the parent, which replaces its workers; one process has nothing to reload. A terminal that closes means the end.
  if (channel !== undefined || process.stdout.isTTY !== true) process.on('SIGHUP', () => undefined);
  shareMemory(environment.workers ?? 1);
  let updates: UpdateCheck | undefined;
  const { app, config, log, newKeyFile, close } = await openGateway({
    ...{ environment, flags, onLogFault, newerVersion: () => updates?.newer() },
    output: { isTerminal: process.stderr.isTTY === true },
    joinParent:
      channel &&
      ((name, log) => {
        const siblings = joinSiblings(channel, { name, clock: createSystemClock(), log });
        return { siblings, incoming: takeFromParent() };
      }),
  });
  // Before the error output writes its rest at the same moment.
  process.prependOnceListener('exit', () => log.flush());
  updates = await watchUpdates(config, createOutboundFetch(app.proxyFor));
  let isReplaced = false;
  return {
    /** Resolves when it listens and the banner is printed. @throws Error with the way out when it cannot listen there. */
    async listen(): Promise<void> {
      const { url } = await app.server.listen().catch((error: unknown) => {
        throw explainListening(error, config.current());
      });
      const { version, isSandbox } = app;
      const settings = config.current();
      log.info({ version, url }, 'The gateway listens.');
      const certificate = app.server.certificate();
      const facts = { version, url, settings, isSandbox, newKeyFile, certificate };
      const links = { accounts: accountsAtWork(app), signInUrl: signInUrl(app, url, settings) };
      if (isSpokesman()) console.log(writeBanner({ ...facts, ...links, updates }));
      app.start();
      updates?.start();
      reportListening(() => {
        isReplaced = true;
        process.kill(process.pid, 'SIGTERM');
      });
    },
    close(): Promise<void> {
      updates?.close();
      return close({ isReplaced });
    },
  };
}

/** What the log itself cannot tell goes to the error output alone. */
function onLogFault(error: unknown): void {
  process.stderr.write(`The log cannot be written to its files: ${escapeLine(messageOf(error))}\n`);
}

/** Undefined where the registry is not asked. */
async function watchUpdates(
  config: LiveConfig,
  fetch: RegistryOptions['fetch'],
): Promise<UpdateCheck | undefined> {
  const { updateCheck: setting, dataDir } = config.current();
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const reason = reasonNotToAsk({ ...readSurroundings(), setting, isTerminal });
  if (reason !== undefined || !isSpokesman()) return undefined;
  const onNewer = (version: string): void => console.log(sayNewer(version));
  return openUpdateCheck({ dataDir, clock: createSystemClock(), fetch, onNewer });
}

/** On this machine alone, and only where there is a password to go without. */
function signInUrl({ access }: App, url: string, settings: Settings): string | undefined {
  const { host, consolePassword } = settings;
  const isWanted = settings.console.hasSignInLink && consolePassword !== undefined;
  if (!isWanted || !isLoopbackHost(host)) return undefined;
  return `${url}/sign-in?token=${access.login.createLink()}`;
}

/** Without those of the sandbox that rest beside others. */
function accountsAtWork({ book, pool }: App): readonly AccountView[] {
  return pool.accounts().filter(({ id }) => {
    const account = book.find(id);
    return account?.origin !== 'sandbox' || account.health.status.kind !== 'disabled';
  });
}

// The start banner: address, keys, accounts, and an example request for each protocol.

interface BannerFacts {
  readonly version: string;
  readonly url: string;
  readonly settings: Pick<Settings, 'authMode' | 'apiKey' | 'host' | 'dataDir' | 'upstreams'>;
  readonly accounts: readonly Pick<AccountView, 'label'>[];
  /** True when the accounts are the sandbox's, because none was configured. */
  readonly isSandbox: boolean;
  /** The file a fresh key was just written to. */
  readonly newKeyFile: string | undefined;
  readonly updates?: { readonly isFirst: boolean; newer(): string | undefined } | undefined;
  /** Of HTTPS; undefined where the gateway listens in plain HTTP. */
  readonly certificate?:
    | { readonly names: readonly string[]; readonly expiresAt: number }
    | undefined;
  /** Signs a browser of this machine in once; undefined where none is wanted. */
  readonly signInUrl?: string | undefined;
}

/** More than these are counted. */
const MAX_NAMED = 5;

export function writeBanner(facts: BannerFacts): string {
  const { version, url } = facts;
  const others = isEveryAddress(facts.settings.host)
    ? ' and every other address of this machine'
    : '';
  const lines = [
    `isthmus ${version} listens on ${url}${others}`,
    '',
    `  Console   ${describeConsole(facts)}`,
    `  Keys      ${describeKeys(facts)}`,
    `  Accounts  ${describeAccounts(facts)}`,
    `  Settings  ${facts.settings.dataDir}`,
    ...describeUpdates(facts),
    ...describeCertificate(facts),
    '',
    'Try it, one line for each protocol:',
    '',
    ...tries(facts).map((line) => `  ${line}`),
    '',
  ];
  return lines.join('\n');
}

function describeUpdates({ updates }: BannerFacts): readonly string[] {
  if (updates === undefined) return [];
  const newer = updates.newer();
  if (newer !== undefined) return [`  Update    ${sayNewer(newer)}`];
  if (!updates.isFirst) return [];
  const { hostname } = new URL(PUBLISHED.registry);
  return [
    `  Updates   once a day ${hostname} is asked whether a newer version is published;
            "update_check": "off" under "proxy" of the settings, or ISTHMUS_UPDATE_CHECK=off, ends that`,
  ];
}

export function sayNewer(version: string): string {
  return `isthmus ${version} is published; get it with ${sayUpdate()}`;
}

function describeConsole({ url, signInUrl }: BannerFacts): string {
  if (signInUrl === undefined) return `${url}/`;
  return `${signInUrl}
            (signs a browser of this machine in once, within ten minutes; else ${url}/)`;
}

function describeKeys({ settings, newKeyFile }: BannerFacts): string {
  const { authMode, apiKey } = settings;
  const who = hasLocalRequests(settings) ? 'other machines' : 'everyone';
  if (newKeyFile !== undefined) {
    return `required from ${who}; a new key was made and stored as api_key in ${newKeyFile}`;
  }
  switch (authMode) {
    case 'off':
      return 'not required from anyone (AUTH_MODE=off is for development only)';
    case 'strict':
      return apiKey === undefined
        ? 'required from everyone, but none is set: set API_KEY'
        : 'required from everyone';
    case 'auto':
      if (!hasLocalRequests(settings))
        return 'required from everyone, as nobody comes over loopback';
      return apiKey === undefined
        ? 'none set; requests from this machine need none, others are refused until API_KEY is set'
        : 'required from other machines; requests from this machine need none';
    default:
      return authMode satisfies never;
  }
}

function describeCertificate({ certificate }: BannerFacts): readonly string[] {
  if (certificate === undefined) return [];
  const { names, expiresAt } = certificate;
  const until = new Date(expiresAt).toISOString().slice(0, 10);
  return [`  TLS       certificate for ${nameSome(names)}, until ${until}`];
}

/** At an address of the network this machine is a client like any other. */
function hasLocalRequests({ host }: BannerFacts['settings']): boolean {
  return isLoopbackHost(host) || isEveryAddress(host);
}

function describeAccounts({ accounts, isSandbox, settings }: BannerFacts): string {
  const names = nameSome(accounts.map(({ label }) => label));
  if (isSandbox) {
    return `${accounts.length} of the built-in sandbox (${names}), because none is configured. For a real
            upstream set GEMINI_API_KEY, or run isthmus accounts add --upstream anthropic (or openai,
            gemini-api; others are named under "upstreams" of the settings first).`;
  }
  if (accounts.length > 0) return `${accounts.length} (${names})`;
  const upstreams = settings.upstreams.filter(({ profile }) => profile !== 'sandbox');
  return `none for ${nameSome(upstreams.map(({ id }) => id))}: requests are refused until there is one. Set
            UPSTREAM_API_KEYS for an upstream that the environment names, or run isthmus accounts add.`;
}

/** The banner is read at a glance, however many there are. */
function nameSome(labels: readonly string[]): string {
  const others = labels.length - MAX_NAMED;
  return others < 1
    ? labels.join(', ')
    : `${labels.slice(0, MAX_NAMED).join(', ')} and ${others} more`;
}

function tries({ url, settings }: BannerFacts): readonly string[] {
  const { authMode } = settings;
  const needsKey = authMode === 'strict' || (authMode === 'auto' && !hasLocalRequests(settings));
  const key = needsKey ? ` -H "authorization: Bearer $API_KEY"` : '';
  const curl = (path: string, body: unknown): string =>
    `curl ${url}${path}${key} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const messages = [{ role: 'user', content: 'Hello' }];
  const contents = [{ parts: [{ text: 'Hello' }] }];
  return [
    curl('/v1/chat/completions', { model: 'alpha-3-flash', messages }),
    curl('/v1/messages', { model: 'beta-sonnet-4-6', max_tokens: 200, messages }),
    curl('/v1beta/models/alpha-3-flash:generateContent', { contents }),
  ];
}

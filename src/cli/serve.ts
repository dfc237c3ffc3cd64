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
import { isLoopbackHost } from '../lib/net.ts';
import { escapeLine } from '../monitor/log-files.ts';
import type { AccountView } from '../pool/pool.ts';
import { sayNewer, writeBanner } from './banner.ts';
import { takeFromParent } from './handover.ts';
import { outliveOutput } from './log.ts';
import { openGateway } from './open-gateway.ts';
import { explainListening } from './start-checks.ts';
import {
  openUpdateCheck,
  type RegistryOptions,
  reasonNotToAsk,
  type UpdateCheck,
} from './update-check.ts';
import { channelToParent, countWorkers, isSpokesman, reportListening } from './worker.ts';

export type RunningServer = Awaited<ReturnType<typeof serve>>;

/** Builds the gateway; it can be closed from here on. @throws ConfigError */
export async function serve(flags: Flags) {
  outliveOutput();
  const environment = readEnvironment();
  const channel = channelToParent();
  shareMemory(countWorkers(environment.workers ?? 1));
  let updates: UpdateCheck | undefined;
  const { app, config, log, newKeyFile, close } = await openGateway({
    ...{ environment, flags, onLogFault, newerVersion: () => updates?.newer() },
    output: { isTerminal: process.stderr.isTTY === true },
    joinParent:
      channel &&
      ((name, log) => {
        // It means the parent, which replaces its workers then.
        process.on('SIGHUP', () => undefined);
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
    /** Drains and closes; resolves when everything is closed. */
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

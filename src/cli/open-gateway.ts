// Opens a gateway on its data folder: settings, log and all that serves; `isthmus serve` does, and programs that embed one.

import { hostname } from 'node:os';
import { join } from 'node:path';
import { type AppOptions, createApp } from '../app.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { openCluster } from '../compose/cluster.ts';
import { openSharedDatabase } from '../compose/shared-database.ts';
import { configPath, type Flags, resolveDataDir, type Settings } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import type { ConfigSource } from '../config/file.ts';
import { createLiveConfig, gatewaySecrets, type LiveConfig } from '../config/live.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { isLoopbackHost } from '../lib/net.ts';
import { LogFiles } from '../monitor/log-files.ts';
import type { CloseOptions } from '../server/create-server.ts';
import type { Log } from '../server/settings.ts';
import { claimFolder, makeDataDir, SHARED_FOLDER } from './data-folder.ts';
import { createLog, type LogOptions } from './log.ts';
import { readOpenFiles, warnOfFewFiles } from './start-checks.ts';

interface Parent extends Pick<AppOptions, 'incoming'> {
  readonly siblings: Cluster;
}

interface OpenGatewayOptions extends Pick<AppOptions, 'newerVersion'> {
  readonly environment: Environment;
  readonly flags: Flags;
  /** Where the settings are kept instead of the config file; a database that is shared goes before it. */
  readonly source?: ConfigSource | undefined;
  /** How lines of the log leave this process, beside the files of the data folder. */
  readonly output: Pick<LogOptions, 'isTerminal' | 'output'>;
  /** Told of what the log cannot tell itself. */
  readonly onLogFault: (error: unknown) => void;
  /** Joins the other workers of this machine, under this name; absent in a process that is none. */
  readonly joinParent?: ((name: string, log: Log) => Parent) | undefined;
}

/** It can be closed from here on. @throws ConfigError */
export async function openGateway(options: OpenGatewayOptions) {
  const { environment, flags, joinParent, newerVersion } = options;
  const clock = createSystemClock();
  const dataDir = resolveDataDir(flags, environment);
  const folderWarning = makeDataDir(dataDir);
  let secrets: readonly string[] = [];
  const { replicaName: name = hostname(), redisUrl, databaseUrl } = environment;
  const isAlone = !joinParent && redisUrl === undefined && databaseUrl === undefined;
  const folder = join(dataDir, 'logs');
  const logFiles = new LogFiles({ folder, clock, onFault: options.onLogFault });
  const log = createLog({
    ...{ ...options.output, files: logFiles, clock },
    replica: isAlone ? undefined : name,
    secrets: () => secrets,
  });
  const path = configPath(dataDir);
  const { random } = Math;
  const shared = await openSharedDatabase({ environment, dataDir, clock, random, log });
  const source = shared?.source ?? options.source;
  const config = await createLiveConfig({ path, source, environment, flags, clock, log });
  const follow = (settings: Settings): void => {
    log.level = settings.logLevel;
    secrets = gatewaySecrets(settings);
  };
  config.subscribe(follow);
  follow(config.current());
  if (folderWarning !== undefined) log.warn({ dataDir }, folderWarning);
  for (const warning of config.current().warnings) log.warn({}, warning.text);
  const openFiles = readOpenFiles();
  warnOfFewFiles(openFiles, log);
  const newKeyFile = (await ensureKey(config)) ? (source?.path ?? path) : undefined;
  const { siblings, incoming } = joinParent?.(name, log) ?? {};
  const cluster = await openCluster({ redisUrl, siblings, name, clock, log });
  const parts = { clock, log, logFiles, openFiles, incoming, random };
  // The parent of workers holds it for them.
  const claim = siblings === undefined ? claimFolder(dataDir) : undefined;
  const isInUse = claim?.isOurs === false;
  const context = { ...parts, config, shared, cluster, siblings, isInUse, newerVersion };
  const app = await createApp(context).catch((error: unknown) => {
    claim?.release();
    throw error;
  });
  if (isInUse) log.warn({ dataDir }, SHARED_FOLDER);
  return {
    app,
    config,
    log,
    /** Where the key stands that was made because other machines can reach this one. */
    newKeyFile,
    async close(how: CloseOptions = {}): Promise<void> {
      log.info({}, 'The gateway stops.');
      await app.close(how);
      await cluster.close();
      await siblings?.close();
      claim?.release();
      log.flush();
      await logFiles.close();
    },
  };
}

/** A gateway that other machines can reach is never open by omission: it gets a key of its own. */
async function ensureKey(config: LiveConfig): Promise<boolean> {
  const { host, apiKey, authMode } = config.current();
  if (apiKey !== undefined || authMode === 'off' || isLoopbackHost(host)) return false;
  // Of several gateways that share their settings, the first one makes the key of all.
  const made = createId('sk-');
  const settings = await config.update((raw) =>
    raw.api_key === undefined ? { api_key: made } : {},
  );
  return settings.apiKey === made;
}

// `isthmus update`: whether a newer version is published, and how to get it.

import { Option } from 'commander';
import { openProxyCredential } from '../compose/config-secrets.ts';
import { createOutboundChoice, createOutboundFetch } from '../compose/outbound.ts';
import { configPath, resolveDataDir, resolveSettings } from '../config/effective.ts';
import { type Environment, readEnvironment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createVault } from '../sealing/seal.ts';
import { loadSecretKey } from '../sealing/secret-key.ts';
import { type AddCommand, type LocalContext, localCommand } from './command.ts';
import { PUBLISHED, VERSION } from './package-name.ts';
import type { Said, Terminal } from './terminal.ts';
import { findLatest, isNewer, type RegistryOptions, sayUpdate } from './update-check.ts';

type UpdateFlags = Said<'dataDir', string>;

export const addUpdateCommand: AddCommand = localCommand<UpdateFlags>({
  name: 'update',
  description: 'say whether a newer version is published, and how to get it; changes nothing',
  options: [
    new Option('--data-dir <folder>', 'folder whose settings name the proxy to go through'),
  ],
  examples: [
    ['update', 'Ends with 5 when there is a newer version, with 0 when this is the newest.'],
  ],
  load: async () => async (context, _argument, flags) => {
    const proxyFor = await readProxyChoice(flags, readEnvironment(), context.terminal);
    return sayNewest(context, { fetch: createOutboundFetch(proxyFor) });
  },
});

/** The proxy that calls of the gateway go through. @throws ConfigError */
export async function readProxyChoice(
  flags: UpdateFlags,
  environment: Environment,
  terminal: Pick<Terminal, 'note'>,
): Promise<ProxyChoice> {
  const dataDir = resolveDataDir(flags, environment);
  const { config: file } = await loadConfig(configPath(dataDir));
  const settings = resolveSettings({ flags, environment, file });
  return createOutboundChoice({
    current: () => settings,
    openCredential: (text) =>
      openProxyCredential(
        text,
        createVault(loadSecretKey({ dataDir, environmentKey: settings.secretKey })),
      ),
    log: { warn: (_fields, message) => terminal.note(message) },
  });
}

export async function sayNewest(
  { terminal, answer }: Pick<LocalContext, 'terminal' | 'answer'>,
  options: RegistryOptions & { readonly current?: string },
): Promise<void> {
  const { current = VERSION, published = PUBLISHED } = options;
  const { version, node } = await findLatest(options);
  const isThere = isNewer(version, current);
  if (isThere) terminal.setAttention();
  const wayOut = isThere ? sayUpdate(published.name) : null;
  answer({ current, latest: version, isNewer: isThere, node: node ?? null, wayOut }, () => {
    if (!isThere) return terminal.print(`isthmus ${current} is the newest version.`);
    terminal.print(`isthmus ${version} is published; this is ${current}. Get it with ${wayOut}.`);
    if (node !== undefined) terminal.note(`It needs node ${node}.`);
  });
}

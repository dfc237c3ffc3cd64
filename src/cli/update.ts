// `isthmus update`: whether a newer version is published, and how to get it.

import { Option } from 'commander';
import { createOutboundFetch } from '../compose/outbound.ts';
import { readEnvironment } from '../config/env.ts';
import { type AddCommand, localCommand } from './command.ts';
import type { Said } from './terminal.ts';
import { readProxyChoice, sayNewest } from './update-check.ts';

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

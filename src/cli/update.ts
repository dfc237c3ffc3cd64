// `isthmus update`: whether a newer version is published, and how to get it.

import { type AddCommand, type LocalContext, localCommand } from './command.ts';
import { PUBLISHED, VERSION } from './package-name.ts';
import { findLatest, isNewer, type RegistryOptions, sayUpdate } from './update-check.ts';

export const addUpdateCommand: AddCommand = localCommand({
  name: 'update',
  description: 'say whether a newer version is published, and how to get it; changes nothing',
  examples: [
    ['update', 'Ends with 5 when there is a newer version, with 0 when this is the newest.'],
  ],
  load: async () => (context) => sayNewest(context, { fetch }),
});

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

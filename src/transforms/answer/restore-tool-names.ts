// Gives the calls of tools that went upstream under another name the names their client knows.

import { acceptedToolNames, type NamedTools } from '../../canonical/tool-names.ts';
import type { CallRule } from './call-rule.ts';

/** Exact: the name that was sent comes back as the name that was declared. */
export function restoreToolNames(request: NamedTools): CallRule {
  let own: ReadonlyMap<string, string> | undefined;
  return (opening) => {
    own ??= ownNames(request);
    const name = own.get(opening.name);
    return name === undefined ? opening : { ...opening, name };
  };
}

function ownNames(request: NamedTools): ReadonlyMap<string, string> {
  return new Map([...acceptedToolNames(request)].map(([name, sent]) => [sent, name]));
}

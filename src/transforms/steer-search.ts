// Tells the model which domains a search may use, where the client lists them.

import type { TextPart, Tool } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

type SearchTool = Extract<Tool, { kind: 'web-search' }>;

/** Upstream searches take no such lists; `filterSources` keeps other sources out of the answer. */
export const steerSearch: Transform = (request, { receipt }) => {
  const asked: TextPart[] = [];
  for (const tool of request.tools) {
    if (tool.kind !== 'web-search') continue;
    const text = wish(tool);
    if (text === '') continue;
    asked.push({ kind: 'text', text });
    const reason = 'The model is told the domains, and other sources are left out of the answer.';
    receipt.add('approximated', tool.path ?? 'tools', reason);
  }
  return asked.length === 0 ? request : { ...request, system: [...request.system, ...asked] };
};

function wish({ allowedDomains = [], blockedDomains = [] }: SearchTool): string {
  const only = `When you search the web, use only pages of these domains: ${allowedDomains.join(', ')}.`;
  const never = `When you search the web, use no pages of these domains: ${blockedDomains.join(', ')}.`;
  return [
    ...(allowedDomains.length === 0 ? [] : [only]),
    ...(blockedDomains.length === 0 ? [] : [never]),
  ].join('\n');
}

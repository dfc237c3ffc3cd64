// Reads tools that are declared by a dated type: those of the real service, and those clients run by its schema.

import { type Receipt, told } from '../../canonical/receipt.ts';
import type { Tool } from '../../canonical/request.ts';
import { PLACE_KEYS, type UserLocation } from '../../canonical/user-location.ts';
import { builtInTool } from './built-in-tools.ts';
import {
  bracketPath,
  note,
  optionalObjectAt,
  optionalStringAt,
  optionalStringsAt,
  pathOf,
  type Scope,
} from './fields.ts';
import { readToolHints } from './read-tool-hints.ts';

/** A date follows, which changes often and which some clients leave out. */
export const TOOL_KINDS = [
  'web_search',
  'web_fetch',
  'code_execution',
  'tool_search_tool',
  'bash',
  'text_editor',
  'memory',
] as const;

type ToolKind = (typeof TOOL_KINDS)[number];

export function toolKindOf(type: string): ToolKind | undefined {
  return TOOL_KINDS.find((kind) => type === kind || type.startsWith(`${kind}_`));
}

/** What limits fetches of the real service, or shapes what they give. */
const FETCH_OPTIONS = [
  'max_uses',
  'max_content_tokens',
  'allowed_domains',
  'blocked_domains',
  'url_sources',
];

interface TypedTool {
  readonly kind: ToolKind;
  readonly name: string;
  readonly receipt: Receipt;
}

/** Undefined for a tool without a counterpart, which the receipt names. */
export function readTypedTool(scope: Scope, { kind, name, receipt }: TypedTool): Tool | undefined {
  switch (kind) {
    case 'web_search':
      noteIgnored(scope, { keys: ['max_uses'], receipt });
      return readWebSearch(scope);
    case 'web_fetch':
      noteIgnored(scope, { keys: FETCH_OPTIONS, receipt });
      if (optionalObjectAt(scope, 'citations')?.value.enabled === true) {
        noteIgnored(scope, { keys: ['citations'], receipt });
      }
      return { kind: 'url-context' };
    case 'code_execution':
      return { kind: 'code-execution' };
    case 'tool_search_tool': {
      const reason = told`Every tool is declared at once, so there is nothing to search for.`;
      note(receipt, 'dropped', { path: scope.path, reason });
      return undefined;
    }
    case 'bash':
    case 'text_editor':
    case 'memory': {
      noteIgnored(scope, { keys: ['max_characters'], receipt });
      const tool = builtInTool(kind, name);
      return { ...tool, ...readToolHints(scope, { description: tool.description, receipt }) };
    }
    default:
      return kind satisfies never;
  }
}

function readWebSearch(scope: Scope): Tool {
  const allowedDomains = optionalStringsAt(scope, 'allowed_domains');
  const blockedDomains = optionalStringsAt(scope, 'blocked_domains');
  const userLocation = readUserLocation(scope);
  return {
    kind: 'web-search',
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
    ...(userLocation === undefined ? {} : { userLocation }),
  };
}

function readUserLocation(scope: Scope): UserLocation | undefined {
  const location = optionalObjectAt(scope, 'user_location');
  if (location === undefined) return undefined;
  const words = PLACE_KEYS.flatMap((key): [string, string][] => {
    const word = optionalStringAt(location, key)?.trim() ?? '';
    return word === '' ? [] : [[key, word]];
  });
  if (words.length === 0) return undefined;
  return { path: bracketPath(location.path), ...Object.fromEntries(words) };
}

/** Options of a tool that change its answers, but nothing upstream. */
function noteIgnored(
  scope: Scope,
  { keys, receipt }: { readonly keys: readonly string[]; readonly receipt: Receipt },
): void {
  for (const key of keys) {
    if (scope.value[key] === undefined || scope.value[key] === null) continue;
    const reason = told`The upstream has no counterpart for this option.`;
    note(receipt, 'dropped', { path: pathOf(scope, key), reason });
  }
}

// The Messages wire format: its names and words, for clients that speak it and for upstreams.
//
// Source: `@anthropic-ai/sdk` 1.11, `resources/messages/messages.d.ts`; platform.claude.com, "Errors", "Versions".

/** Name of the wire; client calls of it are relayed to upstreams of it. */
export const MESSAGES_WIRE = 'messages';

/** The version of the wire that is spoken upstream where no client names one. */
export const MESSAGES_VERSION = '2023-06-01';

/** Flags of the beta header under their neutral words, and the real ones that go upstream. */
const BETA_WORDS: ReadonlyMap<string, string> = new Map([
  ['beta-code-20250219', 'claude-code-20250219'],
]);

/** The flags of several beta headers as the value of one: real words, each once, in the order they came. */
export function mergeBetas(values: readonly (string | undefined)[]): string {
  const words = values
    .flatMap((value) => value?.split(',') ?? [])
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .map((word) => BETA_WORDS.get(word) ?? word);
  return [...new Set(words)].join(',');
}

/** What the real service runs itself: tools by the prefix of their type, a date follows. */
export const SERVER_TOOLS = {
  'web-search': { type: 'web_search_20250305', name: 'web_search' },
  'url-context': { type: 'web_fetch_20250910', name: 'web_fetch' },
  'code-execution': { type: 'code_execution_20250825', name: 'code_execution' },
} as const;

/** The HTTP status each type of error stands for, also where it comes inside a stream. */
export const ERROR_TYPE_STATUS: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

// The pairs of neutral and vendor words. Both are accepted everywhere; only this module knows them.

/** Request and response headers, lower case: every accepted spelling of one meaning, official one first. */
export const HEADER_SPELLINGS = {
  generateApiKey: ['x-goog-api-key', 'x-vendora-api-key'],
  generateApiClient: ['x-goog-api-client', 'x-vendora-api-client'],
  messagesVersion: ['anthropic-version', 'vendorb-version'],
  messagesBeta: ['anthropic-beta', 'vendorb-beta'],
  codingCliSession: ['x-claude-code-session-id', 'x-beta-code-session-id'],
} as const;

type HeaderMeaning = keyof typeof HEADER_SPELLINGS;

/** The value of a header under any of its spellings; undefined when absent or empty. */
export function readHeader(
  headers: Readonly<Record<string, string | undefined>>,
  meaning: HeaderMeaning,
): string | undefined {
  for (const name of HEADER_SPELLINGS[meaning]) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Which spelling of a vendor's words an upstream speaks. */
export type Vocabulary = 'neutral' | 'real';

/** JSON keys, camelCase, real word → neutral word. Snake case and values are the readers' business. */
const NEUTRAL_KEYS: ReadonlyMap<string, string> = new Map([
  ['googleSearch', 'vendoraSearch'],
  ['googleSearchRetrieval', 'vendoraSearchRetrieval'],
  ['googleMaps', 'vendoraMaps'],
]);

/** The word `vocabulary` has for a camelCase key given in its real spelling. */
export function keyIn(vocabulary: Vocabulary, key: string): string {
  return vocabulary === 'neutral' ? (NEUTRAL_KEYS.get(key) ?? key) : key;
}

/** Keys of the vendor extension object in chat messages and requests, official one first. */
export const CHAT_EXTENSION_KEYS = ['google', 'vendora'] as const;

const MODEL_PREFIX_PAIRS: readonly (readonly [real: string, neutral: string])[] = [
  ['gemini-', 'alpha-'],
  ['claude-', 'beta-'],
];

/** A model name in the neutral vocabulary: `gemini-3-flash` → `alpha-3-flash`; others unchanged. */
export function neutralModelName(name: string): string {
  return swapPrefix(name, 0, 1);
}

/** A model name in the real vocabulary: `alpha-3-flash` → `gemini-3-flash`; others unchanged. */
export function realModelName(name: string): string {
  return swapPrefix(name, 1, 0);
}

/** The listing path segment that stands for the Messages model list. */
export const MESSAGES_LIST_IDS: readonly string[] = ['claude', 'beta'];

/** True for names the Messages protocol's own clients recognise, in either vocabulary. */
export function isMessagesFamily(name: string): boolean {
  return name.startsWith('claude-') || name.startsWith('beta-');
}

function swapPrefix(name: string, from: 0 | 1, to: 0 | 1): string {
  for (const pair of MODEL_PREFIX_PAIRS) {
    if (name.startsWith(pair[from])) return pair[to] + name.slice(pair[from].length);
  }
  return name;
}

/** Paths of Ollama's own protocol, which is not spoken here (docs.ollama.com/api). The admin API has none of them. */
export const FOREIGN_API = /^\/api\/(?:chat|generate|embed|embeddings|tags|show|ps|pull|version)$/;

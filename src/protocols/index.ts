// The registry of client protocols, and which of them answers a path that several share or none has.

import { CHAT_SURFACES, GENERATE_SURFACES } from '../surfaces/index.ts';
import { MESSAGES_LIST_IDS, readHeader } from '../wire/vocabulary.ts';
import { createChatProtocol } from './chat/index.ts';
import { createGenerateProtocol } from './generate/index.ts';
import { createMessagesProtocol } from './messages/index.ts';
import type { ClientProtocol, ProtocolName, RequestHeaders } from './protocol.ts';

export interface Protocols {
  readonly all: readonly ClientProtocol[];
  readonly byName: Readonly<Record<ProtocolName, ClientProtocol>>;
  /** The protocol whose error shape suits a path, known or not, and the client that asks for it. */
  protocolForPath(path: string, headers: RequestHeaders, query: URLSearchParams): ClientProtocol;
  /** The protocol that answers `GET /v1/models` and `GET /v1/models/{model}`. */
  pickListProtocol(headers: RequestHeaders, query: URLSearchParams): ClientProtocol;
}

const GENERATE_QUERY_KEYS = ['key', 'pageSize', 'pageToken'];
/** Also those of the vendor's versions and uploads that are not served. */
const GENERATE_VERSION = /^(?:\/upload)?\/v1(?:alpha|beta)\d*(?:\/|$)/;
/** `/v1/models/{model}:verb` with the colon possibly encoded, or the verb as a segment. */
const GENERATE_VERB = /^\/v1\/models\/.+(?::|%3A)[A-Za-z]+$|^\/v1\/models\/.+\/countTokens$/i;

export function createProtocols(): Protocols {
  const byName = {
    chat: createChatProtocol(CHAT_SURFACES),
    messages: createMessagesProtocol(),
    generate: createGenerateProtocol(GENERATE_SURFACES),
  };
  // The first two segments of the paths this protocol shares with no other: `/v1/chat`, `/v1/images`.
  const surfaces = new Set(byName.chat.routes.map(({ path }) => path.split('/', 3).join('/')));
  surfaces.delete('/v1/models');
  return {
    all: Object.values(byName),
    byName,
    protocolForPath(path, headers, query) {
      const name = protocolNameForPath(path);
      const isShared = name === 'chat' && !surfaces.has(path.split('/', 3).join('/'));
      return byName[isShared ? pickListProtocolName(headers, query) : name];
    },
    pickListProtocol: (headers, query) => byName[pickListProtocolName(headers, query)],
  };
}

/** `path` without its query string. Paths none of the protocols has are chat's. */
function protocolNameForPath(path: string): ProtocolName {
  if (isAtOrBelow(path, '/v1beta/openai')) return 'chat';
  if (GENERATE_VERSION.test(path)) return 'generate';
  if (isAtOrBelow(path, '/v1/messages')) return 'messages';
  if (MESSAGES_LIST_IDS.some((id) => path === `/v1/models/${id}`)) return 'messages';
  return GENERATE_VERB.test(path) ? 'generate' : 'chat';
}

/**
 * An API key header does not tell Messages clients apart: clients of the chat protocol send
 * `x-api-key` too. Generate-Content clients are known by their headers or by query parameters only
 * they have, Messages clients by their version header; everyone else speaks chat.
 */
function pickListProtocolName(headers: RequestHeaders, query: URLSearchParams): ProtocolName {
  if (readHeader(headers, 'generateApiKey') !== undefined) return 'generate';
  if (readHeader(headers, 'generateApiClient') !== undefined) return 'generate';
  if (GENERATE_QUERY_KEYS.some((key) => query.has(key))) return 'generate';
  return readHeader(headers, 'messagesVersion') === undefined ? 'chat' : 'messages';
}

function isAtOrBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

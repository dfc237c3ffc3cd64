// The Messages wire format as types: what its clients are answered with. No behaviour.
// Source: Messages API reference and Streaming; the TypeScript SDK's `resources/messages/messages.d.ts`.

export type MessagesReply = {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: MessagesBlock[];
  stop_reason: MessagesStopReason | null;
  stop_sequence: string | null;
  stop_details: MessagesStopDetails | null;
  usage: MessagesUsage;
};

/** The answer to the wish for a summary. */
export type MessagesCompactionReply = Omit<MessagesReply, 'content' | 'stop_reason'> & {
  content: MessagesCompactionBlock[];
  stop_reason: MessagesStopReason | 'compaction';
};

export type MessagesCompactionBlock = {
  type: 'compaction';
  /** Null when no summary came about. */
  content: string | null;
  encrypted_content: null;
};

export type MessagesBlock =
  | MessagesTextBlock
  | MessagesThinkingBlock
  | MessagesToolUseBlock
  | MessagesServerToolUseBlock
  | MessagesWebSearchResultBlock
  | MessagesWebFetchResultBlock
  | MessagesImageBlock;

export type MessagesTextBlock = {
  type: 'text';
  text: string;
  citations?: MessagesCitation[];
};

export type MessagesCitation = {
  type: 'web_search_result_location';
  url: string;
  title: string;
  /** An opaque reference of the real service; clients take an empty one. */
  encrypted_index: string;
  cited_text: string;
};

type MessagesThinkingBlock = {
  type: 'thinking';
  /** Empty when the client asked for `display:"omitted"`. */
  thinking: string;
  signature: string;
};

type MessagesToolUseBlock = {
  type: 'tool_use';
  id: string;
  name: string;
  input: Record<string, MessagesJson>;
  /** Extension: the signature of a call no thinking block vouches for. */
  signature?: string;
};

/** Who made a call: required on blocks of server tools (`@anthropic-ai/sdk` messages.d.ts; `anthropic-java` validates it). */
type MessagesCaller = { type: 'direct' };

type MessagesServerToolUseBlock = {
  type: 'server_tool_use';
  id: string;
  caller: MessagesCaller;
} & (
  | { name: 'web_search'; input: { query: string } }
  | { name: 'web_fetch'; input: { url: string } }
);

type MessagesWebSearchResultBlock = {
  type: 'web_search_tool_result';
  tool_use_id: string;
  caller: MessagesCaller;
  content: MessagesWebSearchResult[];
};

export type MessagesWebSearchResult = {
  type: 'web_search_result';
  url: string;
  title: string;
  encrypted_content: string;
  page_age: null;
};

type MessagesWebFetchResultBlock = {
  type: 'web_fetch_tool_result';
  tool_use_id: string;
  caller: MessagesCaller;
  content: MessagesWebFetchResult;
};

export type MessagesWebFetchResult =
  | {
      type: 'web_fetch_result';
      url: string;
      retrieved_at: null;
      content: {
        type: 'document';
        source: { type: 'text'; media_type: 'text/plain'; data: string };
        title: null;
        citations: { enabled: boolean };
      };
    }
  | {
      type: 'web_fetch_tool_result_error';
      error_code: 'url_not_accessible' | 'url_not_allowed' | 'unavailable';
    };

/** Extension: the official protocol has no images in answers. */
export type MessagesImageBlock = {
  type: 'image';
  source: { type: 'base64'; media_type: string; data: string };
};

export type MessagesStopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'refusal';

export type MessagesStopDetails = {
  type: 'refusal';
  category: null;
  explanation: string | null;
};

/** Cached tokens are not part of `input_tokens`: the whole prompt is the sum of the three. */
export type MessagesUsage = MessagesFinalUsage & { service_tier: 'standard' };

/** The usage of `message_delta`: the cumulative truth, whatever `message_start` said. */
export type MessagesFinalUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details?: { thinking_tokens: number };
  server_tool_use?: { web_search_requests: number; web_fetch_requests: number };
};

export type MessagesErrorBody = {
  type: 'error';
  error: { type: MessagesErrorType; message: string; details?: MessagesErrorDetails };
  request_id?: string;
};

export type MessagesErrorDetails = { error_code: string; unsupported?: string[] };

export type MessagesErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error';

/** A model as this protocol lists it, with the keys the chat protocol's parsers read beside them. */
export type MessagesModel = {
  type: 'model';
  id: string;
  display_name: string;
  /** RFC 3339. */
  created_at: string;
  max_input_tokens: number;
  max_tokens: number;
  lifecycle: 'active';
  line: null;
  capabilities: null;
  deprecated_at: null;
  retires_at: null;
  object: 'model';
  /** Seconds since the epoch. */
  created: number;
  owned_by: string;
};

export type MessagesModelList = {
  object: 'list';
  data: MessagesModel[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
};

/** JSON as the wire carries it. */
type MessagesJson =
  | string
  | number
  | boolean
  | null
  | MessagesJson[]
  | { [key: string]: MessagesJson };

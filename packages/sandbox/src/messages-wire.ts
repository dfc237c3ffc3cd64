// The requests of the Messages wire: their shape as data, and their types once that was checked.
// Sources: the types of `@anthropic-ai/sdk` (resources/messages); platform.claude.com, "Messages API".

import type { JsonObject, JsonValue } from './json.ts';
import {
  ANY,
  FLAG,
  fields,
  listOf,
  OBJECT,
  type Shape,
  type Shapes,
  TEXT,
  tagged,
  textOr,
  WHOLE,
  words,
} from './shapes.ts';

export interface MessagesRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly MessagesTool[];
  readonly tool_choice?: {
    readonly type: 'auto' | 'any' | 'tool' | 'none';
    readonly name?: string;
    readonly disable_parallel_tool_use?: boolean;
  };
  readonly thinking?: {
    readonly type: 'enabled' | 'adaptive' | 'between_tools' | 'disabled';
    readonly budget_tokens?: number;
    readonly display?: 'summarized' | 'omitted' | null;
  };
  readonly output_config?: { readonly effort?: string | null; readonly format?: Format | null };
  readonly output_format?: Format;
  readonly cache_control?: CacheControl | null;
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

interface Format {
  readonly schema: JsonObject;
}

interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

/** One of any type: which fields it has, its type tells. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly citations?: JsonValue;
  readonly source?: Source;
  readonly title?: string | null;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: JsonObject;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
  readonly is_error?: boolean;
  readonly cache_control?: CacheControl | null;
  readonly url?: string;
  readonly encrypted_content?: string;
  readonly tool_name?: string;
}

interface Source {
  readonly type: 'base64' | 'url' | 'file' | 'text' | 'content';
  readonly media_type?: string;
  readonly data?: string;
  readonly url?: string;
  readonly content?: string | readonly Block[];
}

export interface MessagesTool {
  readonly type?: string | null;
  readonly name: string;
  readonly description?: string;
  readonly input_schema?: JsonObject;
  readonly strict?: boolean;
  readonly allowed_domains?: readonly string[] | null;
  readonly blocked_domains?: readonly string[] | null;
  readonly cache_control?: CacheControl | null;
  readonly defer_loading?: boolean;
}

const CACHED: Shapes = {
  cache_control: tagged({ ephemeral: fields({ type: ANY }, { ttl: words('5m', '1h') }) }),
};
const CALLED: Shapes = { caller: OBJECT };
const CALL_ID: Shape = { kind: 'text', pattern: /^[a-zA-Z0-9_-]+$/ };
const SERVER_ID: Shape = { kind: 'text', pattern: /^srvtoolu_[a-zA-Z0-9_]+$/ };

/** A block with a type: what it must, may, and may as null hold beside it. */
function block(required: Shapes, optional: Shapes = {}, nullable: Shapes = {}): Shape {
  return fields({ type: ANY, ...required }, optional, nullable);
}

const PLACED: Shapes = { cited_text: TEXT, document_index: WHOLE };
const OF_DOCUMENT: Shapes = { document_title: TEXT, file_id: TEXT };
const CITATION = tagged({
  char_location: block(
    { ...PLACED, start_char_index: WHOLE, end_char_index: WHOLE },
    {},
    OF_DOCUMENT,
  ),
  page_location: block(
    { ...PLACED, start_page_number: WHOLE, end_page_number: WHOLE },
    {},
    OF_DOCUMENT,
  ),
  content_block_location: block(
    { ...PLACED, start_block_index: WHOLE, end_block_index: WHOLE },
    {},
    OF_DOCUMENT,
  ),
  web_search_result_location: block(
    { cited_text: TEXT, encrypted_index: TEXT, url: TEXT },
    {},
    { title: TEXT },
  ),
  search_result_location: block(
    {
      ...{ cited_text: TEXT, search_result_index: WHOLE, source: TEXT },
      ...{ start_block_index: WHOLE, end_block_index: WHOLE },
    },
    {},
    { title: TEXT },
  ),
});
const TEXT_BLOCK = block({ text: TEXT }, {}, { ...CACHED, citations: listOf(CITATION) });
const IMAGE_TYPES = words('image/jpeg', 'image/png', 'image/gif', 'image/webp');
const BY_URL = block({ url: TEXT });
const BY_FILE = block({ file_id: TEXT });
const IMAGE_BLOCK = block(
  {
    source: tagged({
      base64: block({ media_type: IMAGE_TYPES, data: TEXT }),
      url: BY_URL,
      file: BY_FILE,
    }),
  },
  {},
  CACHED,
);
const CITES = fields({}, { enabled: FLAG });
const DOCUMENT_BLOCK = block(
  {
    source: tagged({
      base64: block({ media_type: words('application/pdf'), data: TEXT }),
      text: block({ media_type: words('text/plain'), data: TEXT }),
      content: block({ content: textOr(listOf(tagged({ text: TEXT_BLOCK, image: IMAGE_BLOCK }))) }),
      url: BY_URL,
      file: BY_FILE,
    }),
  },
  {},
  { ...CACHED, citations: CITES, context: TEXT, title: TEXT },
);
const SEARCH_RESULT = block(
  { source: TEXT, title: TEXT, content: listOf(tagged({ text: TEXT_BLOCK })) },
  { citations: CITES },
  CACHED,
);
const IN_RESULT = tagged({
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  document: DOCUMENT_BLOCK,
  search_result: SEARCH_RESULT,
  tool_reference: block({ tool_name: TEXT }, {}, CACHED),
});
const WEB_RESULT = tagged({
  web_search_result: block(
    { url: TEXT, title: TEXT, encrypted_content: TEXT },
    {},
    { page_age: TEXT },
  ),
});
const SERVER_RESULT = block({ tool_use_id: SERVER_ID, content: ANY }, CALLED, CACHED);
const BLOCKS: Shapes = {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  document: DOCUMENT_BLOCK,
  search_result: SEARCH_RESULT,
  thinking: block({ thinking: TEXT, signature: TEXT }),
  redacted_thinking: block({ data: TEXT }),
  tool_use: block(
    { id: CALL_ID, name: { kind: 'text', min: 1, max: 200 }, input: OBJECT },
    CALLED,
    CACHED,
  ),
  tool_result: block(
    { tool_use_id: CALL_ID },
    { content: textOr(listOf(IN_RESULT)), is_error: FLAG },
    CACHED,
  ),
  server_tool_use: block(
    {
      id: SERVER_ID,
      name: words('web_search', 'web_fetch', 'code_execution', 'bash_code_execution'),
      input: OBJECT,
    },
    CALLED,
    CACHED,
  ),
  web_search_tool_result: block(
    { tool_use_id: SERVER_ID, content: { kind: 'any' } },
    CALLED,
    CACHED,
  ),
  web_fetch_tool_result: SERVER_RESULT,
  code_execution_tool_result: SERVER_RESULT,
  bash_code_execution_tool_result: SERVER_RESULT,
};

/** What the content of a `web_search_tool_result` is, unless it is an error. */
export const WEB_RESULTS: Shape = listOf(WEB_RESULT);
export const WEB_ERROR: Shape = tagged({
  web_search_tool_result_error: block({
    error_code: words(
      ...['invalid_tool_input', 'unavailable', 'max_uses_exceeded'],
      ...['too_many_requests', 'query_too_long', 'request_too_large'],
    ),
  }),
});

const MESSAGE = fields({
  role: words('user', 'assistant', 'system'),
  content: textOr(listOf(tagged(BLOCKS))),
});

const OF_TOOLS: Shapes = { defer_loading: FLAG, strict: FLAG, allowed_callers: listOf(TEXT) };
const DOMAINS: Shapes = {
  allowed_domains: listOf(TEXT),
  blocked_domains: listOf(TEXT),
  max_uses: { kind: 'whole', min: 1 },
};
const LOCATION = fields(
  { type: words('approximate') },
  {},
  { city: TEXT, country: TEXT, region: TEXT, timezone: TEXT },
);

function builtIn(name: string, optional: Shapes = {}, nullable: Shapes = {}): Shape {
  return block({ name: words(name) }, { ...OF_TOOLS, ...optional }, { ...CACHED, ...nullable });
}

const SEARCHED: Shapes = { ...DOMAINS, user_location: LOCATION };
const FETCHED: Shapes = {
  ...{ ...DOMAINS, citations: CITES },
  ...{ max_content_tokens: WHOLE, url_sources: OBJECT },
};
const WEB_SEARCH = builtIn('web_search', {}, SEARCHED);
const WEB_FETCH = builtIn('web_fetch', {}, FETCHED);
const CODE_EXECUTION = builtIn('code_execution');
const REGEX_SEARCH = builtIn('tool_search_tool_regex');
const BM25_SEARCH = builtIn('tool_search_tool_bm25');
const INCLUSION: Shapes = { response_inclusion: words('full', 'excluded') };
const EXAMPLES: Shapes = { input_examples: listOf(OBJECT) };
const TOOL = tagged(
  {
    custom: fields(
      {
        name: { kind: 'text', pattern: /^[a-zA-Z0-9_-]{1,128}$/ },
        input_schema: OBJECT,
      },
      { ...OF_TOOLS, ...EXAMPLES, description: TEXT },
      { ...CACHED, type: ANY, eager_input_streaming: FLAG },
    ),
    bash_20250124: builtIn('bash', EXAMPLES),
    memory_20250818: builtIn('memory', EXAMPLES),
    text_editor_20250124: builtIn('str_replace_editor', EXAMPLES),
    text_editor_20250429: builtIn('str_replace_based_edit_tool', EXAMPLES),
    text_editor_20250728: builtIn('str_replace_based_edit_tool', EXAMPLES, {
      max_characters: WHOLE,
    }),
    web_search_20250305: WEB_SEARCH,
    web_search_20260209: WEB_SEARCH,
    web_search_20260318: builtIn('web_search', INCLUSION, SEARCHED),
    web_fetch_20250910: WEB_FETCH,
    web_fetch_20260209: WEB_FETCH,
    web_fetch_20260309: builtIn('web_fetch', { use_cache: FLAG }, FETCHED),
    web_fetch_20260318: builtIn('web_fetch', { use_cache: FLAG, ...INCLUSION }, FETCHED),
    code_execution_20250522: CODE_EXECUTION,
    code_execution_20250825: CODE_EXECUTION,
    code_execution_20260120: CODE_EXECUTION,
    code_execution_20260521: CODE_EXECUTION,
    tool_search_tool_regex: REGEX_SEARCH,
    tool_search_tool_regex_20251119: REGEX_SEARCH,
    tool_search_tool_bm25: BM25_SEARCH,
    tool_search_tool_bm25_20251119: BM25_SEARCH,
  },
  { untagged: 'custom' },
);
const SERIAL: Shapes = { disable_parallel_tool_use: FLAG };
const FORMAT = fields({ type: words('json_schema'), schema: OBJECT });
const SHOWN: Shapes = { display: words('summarized', 'omitted') };

const COUNTED: Shapes = {
  system: textOr(listOf(tagged({ text: TEXT_BLOCK }))),
  tools: listOf(TOOL),
  tool_choice: tagged({
    auto: block({}, SERIAL),
    any: block({}, SERIAL),
    tool: block({ name: TEXT }, SERIAL),
    none: block({}),
  }),
  thinking: tagged({
    enabled: block({ budget_tokens: { kind: 'whole', min: 1024 } }, {}, SHOWN),
    adaptive: block({}, {}, SHOWN),
    between_tools: block({}, {}, SHOWN),
    disabled: block({}),
  }),
  output_config: fields(
    {},
    {},
    { effort: words('low', 'medium', 'high', 'xhigh', 'max'), format: FORMAT },
  ),
};
const CREATED: Shapes = {
  stream: FLAG,
  stop_sequences: listOf(TEXT),
  temperature: { kind: 'number' },
  top_p: { kind: 'number' },
  top_k: { kind: 'whole', min: 0 },
  metadata: fields({}, {}, { user_id: { kind: 'text', max: 256 } }),
  service_tier: words('auto', 'standard_only'),
};
/** Fields that only a flag in `anthropic-beta` makes known. */
const OF_BETAS: readonly (readonly [flag: RegExp, field: string, shape: Shape])[] = [
  [/^(?:context-management|compact)-/, 'context_management', OBJECT],
  [/^mcp-client-/, 'mcp_servers', listOf(OBJECT)],
  [/^structured-outputs-/, 'output_format', FORMAT],
];

/** The shape of a request to answer, or to count. */
export function requestShape(kind: 'create' | 'count', betas: readonly string[]): Shape {
  const known = OF_BETAS.filter(([flag]) => betas.some((beta) => flag.test(beta)));
  const required: Shapes = { model: { kind: 'text', min: 1 }, messages: listOf(MESSAGE) };
  return fields(
    kind === 'count' ? required : { ...required, max_tokens: { kind: 'whole', min: 1 } },
    {
      ...COUNTED,
      ...(kind === 'create' && CREATED),
      ...Object.fromEntries(known.map(([, field, shape]) => [field, shape])),
    },
    { ...CACHED, ...(kind === 'create' && { container: ANY, inference_geo: TEXT }) },
  );
}

export function blocksOf(content: string | readonly Block[] | undefined): readonly Block[] {
  if (typeof content !== 'string') return content ?? [];
  return content === '' ? [] : [{ type: 'text', text: content }];
}

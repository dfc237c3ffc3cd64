// The fields a Messages body may hold, at any depth: what is read, and what no answer changes without.
// Source: SDK `resources/beta/messages/messages.d.ts`.

import {
  ANYTHING,
  extendShape,
  objectShape,
  type Shape,
  taggedShape,
} from '../../canonical/field-shapes.ts';
import { BUDGET_KEYS, LEVEL_KEYS } from '../../canonical/thinking-words.ts';
import { PLACE_KEYS } from '../../canonical/user-location.ts';
import { toolKindOf } from './read-typed-tool.ts';

/** Hints on caching stand everywhere. */
const BLOCK = ['type', 'cache_control'];

const SOURCE_FIELDS = ['type', 'media_type', 'data', 'url', 'file_id'];

const TEXT = objectShape([...BLOCK, 'text', 'citations']);
const IMAGE = objectShape([...BLOCK, 'transformations'], { source: objectShape(SOURCE_FIELDS) });
const DOCUMENT = objectShape([...BLOCK, 'title', 'context', 'citations'], {
  source: objectShape(SOURCE_FIELDS, {
    content: taggedShape('type', { text: TEXT, image: IMAGE }),
  }),
});
const SEARCH_RESULT = objectShape([...BLOCK, 'source', 'title', 'citations'], { content: TEXT });
const CALL = objectShape([...BLOCK, 'id', 'name', 'input', 'caller', 'toolset_name', 'signature']);

/** Results of the real service's own tools and blocks of later dates are read tolerantly, as a whole. */
const CONTENT = taggedShape('type', {
  text: TEXT,
  image: IMAGE,
  document: DOCUMENT,
  search_result: SEARCH_RESULT,
  thinking: objectShape([...BLOCK, 'thinking', 'signature']),
  redacted_thinking: objectShape([...BLOCK, 'data']),
  tool_use: CALL,
  server_tool_use: CALL,
  mcp_tool_use: extendShape(CALL, ['server_name']),
  tool_result: objectShape([...BLOCK, 'tool_use_id', 'is_error', 'toolset_name'], {
    content: taggedShape('type', {
      text: TEXT,
      image: IMAGE,
      document: DOCUMENT,
      search_result: SEARCH_RESULT,
      tool_reference: objectShape([...BLOCK, 'tool_name']),
    }),
  }),
});

/** What an answer is made of besides comes back with it in some clients, and asks for nothing. */
const ECHOED = ['id', 'type', 'model', 'stop_reason', 'stop_sequence', 'stop_details', 'usage'];
const MESSAGE = objectShape(['role', 'clear_at', ...ECHOED, 'container', 'context_management'], {
  output_config: objectShape(['effort']),
  content: CONTENT,
});

const TOOL_FIELDS = [
  ...['type', 'name', 'description', 'cache_control', 'strict', 'defer_loading'],
  ...['allowed_callers', 'input_examples', 'eager_input_streaming'],
];
const CLIENT_TOOL = objectShape([...TOOL_FIELDS, 'input_schema']);
/** Options of the real service's tools are told where they are read. */
const TYPED_TOOL = objectShape(
  [
    ...[...TOOL_FIELDS, 'max_uses', 'max_content_tokens', 'allowed_domains', 'blocked_domains'],
    ...['citations', 'url_sources', 'use_cache', 'response_inclusion', 'max_characters'],
  ],
  { user_location: objectShape(['type', ...PLACE_KEYS]) },
);

const FORMAT = objectShape(['type', 'schema', 'name', 'description', 'strict']);

/** Hints on caching, trimming and delivery, without which no answer changes. */
export const BODY_SHAPE: Shape = objectShape(
  [
    ...['model', 'max_tokens', 'stream', 'stop_sequences', 'metadata', 'temperature', 'top_p'],
    ...['top_k', 'tools', 'thread', 'mcp_servers', 'size', 'quality', 'imageSize', 'betas'],
    ...['service_tier', 'speed', 'cache_control', 'container', 'context_management', 'diagnostics'],
  ],
  {
    messages: MESSAGE,
    system: TEXT,
    tool_choice: objectShape(['type', 'name', 'disable_parallel_tool_use']),
    thinking: objectShape([
      ...['type', 'display', 'effort', 'block_binding', ...BUDGET_KEYS, ...LEVEL_KEYS],
    ]),
    output_config: objectShape(['effort', 'task_budget'], { format: FORMAT }),
    output_format: FORMAT,
    compaction: objectShape(['type', 'instructions']),
  },
);

/** A tool of `tools`, or one that is declared in mid-conversation. */
export function toolShapeOf(type: string): Shape {
  if (type === 'custom') return CLIENT_TOOL;
  return toolKindOf(type) === undefined ? ANYTHING : TYPED_TOOL;
}

// How services of this wire refuse a field, and what of a request may be left out.

import type { JsonObject } from '../../lib/json.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import { objectOf } from '../../lib/read-values.ts';
import type { FieldRules } from '../refused-fields.ts';

/** "`temperature` is deprecated for this model.", "messages.65.content.1.tool_use.text: Extra inputs are not permitted". */
const REFUSALS = [
  /\b(?<path>[\w.]+): Extra inputs are not permitted/,
  /(?<path>\w+)[`'"]? is (?:deprecated|not supported) (?:for|by|with) this model\b/,
  /[`'"](?<path>top_p)[`'"]? cannot both be specified\b/,
];

const NEEDED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'tools', 'tool_choice', 'thread'],
  ...['output_format', 'mcp_servers', 'container', 'inference_geo', 'role', 'content', 'type'],
  ...['id', 'name', 'input', 'input_schema', 'tool_use_id', 'is_error', 'source', 'signature'],
  ...['data', 'title', 'context', 'url', 'description', 'citations'],
  // Where a tool of the service may look, and how often.
  ...['allowed_domains', 'blocked_domains', 'max_uses'],
]);

/** Services know less than the newest clients say: hints on caching and editing of context, settings of sampling. */
export const MESSAGES_FIELDS: FieldRules = {
  wire: MESSAGES_WIRE,
  codes: [],
  refusals: REFUSALS,
  otherNames: new Map(),
  places:
    /^(?:(?:messages\[\](?:\.content\[\]){0,2}|system\[\]|tools\[\])(?:\.cache_control)?\.|(?:context_management|output_config|metadata|cache_control)\.)?\w+$/,
  // A text and a thought are in the field that is called like their type.
  isNeeded: (field: string, holder: JsonObject) =>
    NEEDED.has(field) ||
    holder.type === field ||
    // The form of an answer.
    field === 'format' ||
    objectOf(holder[field])?.format !== undefined,
  ruleWord: (place) => (/^output_config\b/.test(place) ? 'thinking' : undefined),
};

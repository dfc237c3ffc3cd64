// The fields a Messages body may hold, at any depth: what is read, and what no answer changes without.
// Source: SDK `resources/beta/messages/messages.d.ts`.

import { BUDGET_KEYS, LEVEL_KEYS } from '../../canonical/effort.ts';
import { type GatewayError, invalidRequest } from '../../canonical/error.ts';
import {
  type ClientNames,
  memberPath,
  type Receipt,
  type ReceiptAction,
} from '../../canonical/receipt.ts';
import { PLACE_KEYS } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import {
  ANYTHING,
  createFieldReader,
  extendShape,
  type NumberFault,
  type NumberRange,
  noteUnknownFields,
  objectShape,
  type Shape,
  taggedShape,
} from '../body-schema.ts';

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

export type ToolKind = (typeof TOOL_KINDS)[number];

export function toolKindOf(type: string): ToolKind | undefined {
  return TOOL_KINDS.find((kind) => type === kind || type.startsWith(`${kind}_`));
}

/** Client field names that receipts and errors use. */
const NAMES: ClientNames = {
  redacted_thinking: 'messages',
  stop: 'stop_sequences',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  tool_calls: 'content.tool_use',
  answer: 'content.text',
};

/** Of several names for one field the client's own. */
export function clientNamesOf(
  body: Scope,
  { hasTurnEffort }: { readonly hasTurnEffort: boolean },
): ClientNames {
  const config = optionalObjectAt(body, 'output_config');
  const says = (key: string, scope = config): boolean =>
    scope !== undefined && fieldAt(scope, key) !== undefined;
  const effortPath = says('effort') ? 'output_config.effort' : 'model';
  const wishPath = hasTurnEffort ? 'messages' : effortPath;
  const formatPath = says('format') ? 'output_config.format' : 'output_format';
  return {
    ...NAMES,
    // Without any field it was the model's name that asked.
    thinking: fieldAt(body, 'thinking') === undefined ? wishPath : 'thinking',
    response_format: formatPath,
    response_schema: `${formatPath}.schema`,
    size: ['size', 'imageSize', 'quality'].find((key) => says(key, body)) ?? 'size',
  };
}

/** An object of the request and where it stands, as a dotted path; '' is the body itself. */
export interface Scope {
  readonly value: JsonObject;
  readonly path: string;
}

const TYPE_WORDS = {
  string: 'a valid string',
  boolean: 'a valid boolean',
  object: 'a valid dictionary',
  array: 'a valid list',
} as const;

const fields = createFieldReader({
  wrongType: (path, expected) => wrongType(path, TYPE_WORDS[expected]),
  wrongNumber,
});

/** The dotted path of a field of `scope`, such as `messages.0.content`. */
export function pathOf(scope: Scope, key: string | number): string {
  return memberPath(scope.path, String(key));
}

/** A 400 worded `<dotted path>: <what is wrong>`. */
export function fieldError(
  path: string,
  text: string,
  reason: 'missing-field' | 'invalid-value' | 'invalid-type' | 'unsupported' = 'invalid-value',
): GatewayError {
  return invalidRequest(bracketPath(path), `${path}: ${text}`, reason);
}

/** Writes receipt entries with the path in bracket form, as every protocol does. */
export function note(
  receipt: Receipt,
  action: ReceiptAction,
  entry: { readonly path: string; readonly reason: Sentence },
): void {
  receipt.add(action, bracketPath(entry.path), entry.reason);
}

/** Tells every field of `scope` that its shape does not have, at any depth. */
export function noteUnknown(scope: Scope, shape: Shape, receipt: Receipt): void {
  const reason = told`The gateway has no counterpart for this field.`;
  noteUnknownFields(scope.value, {
    shape,
    path: bracketPath(scope.path),
    note: (path) => receipt.add('dropped', path, reason),
  });
}

/** The value of a field; null counts as absent, as it does for the real service's optional fields. */
export function fieldAt(scope: Scope, key: string): JsonValue | undefined {
  const value = scope.value[key];
  return value === null ? undefined : value;
}

export function stringAt(scope: Scope, key: string): string {
  const text = optionalStringAt(scope, key);
  if (text === undefined) throw missing(pathOf(scope, key));
  return text;
}

export function nonEmptyStringAt(scope: Scope, key: string): string {
  const text = stringAt(scope, key);
  if (text === '') {
    throw fieldError(pathOf(scope, key), 'String should have at least 1 character');
  }
  return text;
}

export function optionalStringAt(scope: Scope, key: string): string | undefined {
  return fields.string(scope.value, key, scope.path);
}

export function optionalBooleanAt(scope: Scope, key: string): boolean | undefined {
  return fields.boolean(scope.value, key, scope.path);
}

/** @throws GatewayError unless the field is absent or an integer inside the inclusive range. */
export function optionalIntegerAt(
  scope: Scope,
  key: string,
  range: NumberRange,
): number | undefined {
  return fields.number(scope.value[key], pathOf(scope, key), { ...range, integer: true });
}

/** @throws GatewayError unless the field is absent or a number inside the inclusive range. */
export function optionalNumberAt(
  scope: Scope,
  key: string,
  range: NumberRange,
): number | undefined {
  return fields.number(scope.value[key], pathOf(scope, key), range);
}

export function optionalObjectAt(scope: Scope, key: string): Scope | undefined {
  const value = fields.object(scope.value, key, scope.path);
  return value && { value, path: pathOf(scope, key) };
}

export function objectAt(scope: Scope, key: string): Scope {
  const object = optionalObjectAt(scope, key);
  if (object === undefined) throw missing(pathOf(scope, key));
  return object;
}

export function optionalArrayAt(scope: Scope, key: string): readonly JsonValue[] | undefined {
  return fields.array(scope.value, key, scope.path);
}

export function optionalStringsAt(scope: Scope, key: string): readonly string[] | undefined {
  return optionalArrayAt(scope, key)?.map((item, index) => {
    if (typeof item === 'string') return item;
    throw wrongType(`${pathOf(scope, key)}.${index}`, TYPE_WORDS.string);
  });
}

/** One of a closed set of words; undefined when the field is absent. */
export function optionalWordAt<Word extends string>(
  scope: Scope,
  key: string,
  words: readonly Word[],
): Word | undefined {
  const text = optionalStringAt(scope, key);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw unknownWord(pathOf(scope, key), words);
}

/** The object at `path` as a scope. */
export function asScope(value: JsonValue | undefined, path: string): Scope {
  if (isJsonObject(value)) return { value, path };
  throw wrongType(path, TYPE_WORDS.object);
}

/** The `type` of a tagged object. */
export function tagOf(scope: Scope): string {
  return stringAt(scope, 'type');
}

/** The 400 for a `type` nobody here knows: its content would be lost. */
export function unknownTag(scope: Scope, expected: string): GatewayError {
  const tag = JSON.stringify(tagOf(scope).slice(0, 60));
  return fieldError(pathOf(scope, 'type'), `Input tag ${tag} is not supported; use ${expected}`);
}

export function missing(path: string): GatewayError {
  return fieldError(path, 'Field required', 'missing-field');
}

export function wrongType(path: string, expected: string): GatewayError {
  return fieldError(path, `Input should be ${expected}`, 'invalid-type');
}

/** The 400 for a word outside a closed list. */
export function unknownWord(path: string, words: readonly string[]): GatewayError {
  return fieldError(path, `Input should be ${listWords(words)}`);
}

/** `'a', 'b' or 'c'`. */
export function listWords(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

function wrongNumber(path: string, fault: NumberFault, range: NumberRange): GatewayError {
  switch (fault) {
    case 'not-a-number':
      return wrongType(path, 'a valid number');
    case 'not-an-integer':
      return wrongType(path, 'a valid integer');
    case 'too-small':
      return fieldError(path, `Input should be greater than or equal to ${range.min}`);
    case 'too-large':
      return fieldError(path, `Input should be less than or equal to ${range.max}`);
    default:
      return fault satisfies never;
  }
}

export function bracketPath(path: string): string {
  return path.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
}

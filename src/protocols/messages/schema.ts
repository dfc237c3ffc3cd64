// The fields a Messages body may hold, at any depth: what they have to be, and what no answer changes without.
// Source: SDK `resources/beta/messages/messages.d.ts`.

import { BUDGET_KEYS, LEVEL_KEYS } from '../../canonical/effort.ts';
import { type GatewayError, invalidRequest } from '../../canonical/error.ts';
import {
  type ClientNames,
  memberPath,
  type Receipt,
  type ReceiptAction,
} from '../../canonical/receipt.ts';
import { readNumber } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { usedKey } from '../../lib/read-values.ts';
import {
  ANYTHING,
  BOOLEAN,
  type Checked,
  checkShape,
  type Fault,
  FILLED,
  FREE,
  findNumberFault,
  listOf,
  type NumberRange,
  needed,
  numberIn,
  objectOf,
  openObjectOf,
  PUBLIC_URL,
  type Shape,
  type ShapesByName,
  STRING,
  taggedShape,
  textOrListOf,
  type ValueOf,
  wordOf,
} from '../body-schema.ts';

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Source: TypeScript SDK `resources/beta/messages/messages.d.ts`, BetaCacheControlEphemeral. */
const CACHE = {
  cache_control: openObjectOf({
    type: needed(wordOf(['ephemeral'])),
    ttl: wordOf(['5m', '1h']),
  }),
};

/** Hints on caching stand everywhere. */
function block<Fields extends ShapesByName, const Known extends string = never>(
  fields: Fields,
  known: readonly Known[] = [],
) {
  return objectOf({ ...fields, ...CACHE }, ['type', ...known]);
}

const SOURCE_FIELDS = ['type', 'media_type', 'data', 'url', 'file_id'] as const;
const IMAGE_SOURCE = taggedShape(
  'type',
  {
    base64: objectOf({ media_type: needed(FILLED), data: needed(FILLED) }, SOURCE_FIELDS),
    url: objectOf({ url: needed(PUBLIC_URL) }, SOURCE_FIELDS),
  },
  objectOf({}, SOURCE_FIELDS),
);
/** Some clients leave out a text that is empty. */
const TEXT = block({ text: STRING }, ['citations']);
const IMAGE = block({ source: needed(IMAGE_SOURCE) });

const DOCUMENT_SOURCE_FIELDS = [...SOURCE_FIELDS, 'content'] as const;
const PASSAGES = textOrListOf(taggedShape('type', { text: TEXT, image: IMAGE }));
const DOCUMENT_SOURCE = taggedShape(
  'type',
  {
    base64: objectOf({ media_type: STRING, data: needed(FILLED) }, DOCUMENT_SOURCE_FIELDS),
    url: objectOf({ url: needed(PUBLIC_URL) }, DOCUMENT_SOURCE_FIELDS),
    text: objectOf({ data: needed(STRING) }, DOCUMENT_SOURCE_FIELDS),
    content: objectOf({ content: PASSAGES }, SOURCE_FIELDS),
  },
  objectOf({}, DOCUMENT_SOURCE_FIELDS),
);
const DOCUMENT = block({ source: needed(DOCUMENT_SOURCE), title: STRING, context: STRING }, [
  'citations',
]);
const SEARCH_RESULT = block(
  { title: needed(STRING), source: needed(STRING), content: listOf(TEXT) },
  ['citations'],
);

const CALL = { id: needed(FILLED), name: needed(FILLED), input: FREE };
const CALL_HINTS = ['caller', 'toolset_name', 'signature'] as const;
const UNREAD = openObjectOf({});
const RESULT = taggedShape('type', {
  text: TEXT,
  image: IMAGE,
  document: DOCUMENT,
  search_result: SEARCH_RESULT,
  tool_reference: block({ tool_name: needed(FILLED) }),
  browser_state: UNREAD,
});

const NAMED = openObjectOf({ name: needed(STRING) });
const TOOL_CHANGE = openObjectOf({
  type: needed(STRING),
  tool: needed(
    taggedShape(
      'type',
      {
        tool_definition: openObjectOf({ definition: needed(NAMED) }),
        mcp_toolset_reference: openObjectOf({ server_name: needed(STRING) }),
        mcp_tool_reference: NAMED,
        tool_reference: NAMED,
      },
      NAMED,
    ),
  ),
});

/** Results of the real service's own tools and blocks of later dates are read tolerantly, as a whole. */
const BLOCK = taggedShape('type', {
  text: TEXT,
  image: IMAGE,
  document: DOCUMENT,
  search_result: SEARCH_RESULT,
  thinking: block({ thinking: STRING, signature: STRING }),
  redacted_thinking: block({ data: needed(STRING) }),
  tool_use: block({ ...CALL, signature: STRING }, CALL_HINTS),
  server_tool_use: block(CALL, CALL_HINTS),
  mcp_tool_use: block(CALL, [...CALL_HINTS, 'server_name']),
  tool_result: block(
    { tool_use_id: needed(FILLED), is_error: BOOLEAN, content: textOrListOf(RESULT) },
    ['toolset_name'],
  ),
  compaction: openObjectOf({
    content: STRING,
    tool_changes: listOf(TOOL_CHANGE),
    ...CACHE,
  }),
  container_upload: UNREAD,
  fallback: UNREAD,
  mcp_tool_listing: UNREAD,
});
const INSTRUCTION = taggedShape('type', {
  text: TEXT,
  tool_addition: TOOL_CHANGE,
  tool_removal: TOOL_CHANGE,
});

/** What an answer is made of besides comes back with it in some clients, and asks for nothing. */
const ECHOED = [
  ...(['id', 'type', 'model', 'stop_reason', 'stop_sequence', 'stop_details', 'usage'] as const),
  ...(['role', 'container', 'context_management'] as const),
];
/** Only a system message says how its turn is answered, and for how long it counts. */
const TURN = objectOf({ content: needed(textOrListOf(BLOCK)) }, [
  ...(['clear_at', 'output_config'] as const),
  ...ECHOED,
]);
const MESSAGE = taggedShape('role', {
  user: TURN,
  assistant: TURN,
  system: objectOf(
    {
      content: textOrListOf(INSTRUCTION),
      clear_at: wordOf(['next_user_message', 'never']),
      output_config: objectOf({ effort: wordOf(EFFORTS) }),
    },
    ECHOED,
  ),
});

const FORMAT = objectOf({}, ['type', 'schema', 'name', 'description', 'strict']);
const SHARE = numberIn({ min: 0, max: 1 });
const COUNT = numberIn({ min: 0, integer: true });
const SERIAL = { disable_parallel_tool_use: BOOLEAN };
const CHOICE = objectOf(SERIAL, ['type', 'name']);

/** What is known and not read: hints on caching, trimming and delivery, without which no answer changes. */
export const BODY = objectOf(
  {
    model: needed(FILLED),
    messages: needed(listOf(MESSAGE)),
    system: textOrListOf(taggedShape('type', { text: TEXT })),
    thread: FREE,
    mcp_servers: listOf(ANYTHING),
    max_tokens: COUNT,
    temperature: SHARE,
    top_p: SHARE,
    top_k: COUNT,
    stream: BOOLEAN,
    stop_sequences: listOf(STRING),
    metadata: openObjectOf({ user_id: STRING }),
    tools: listOf(ANYTHING),
    tool_choice: taggedShape(
      'type',
      {
        auto: CHOICE,
        any: CHOICE,
        none: CHOICE,
        tool: objectOf({ name: needed(FILLED), ...SERIAL }, ['type']),
      },
      CHOICE,
    ),
    thinking: objectOf({ type: needed(STRING), display: STRING, effort: wordOf(EFFORTS) }, [
      'block_binding',
      ...BUDGET_KEYS,
      ...LEVEL_KEYS,
    ]),
    output_config: objectOf({ effort: wordOf(EFFORTS), format: FORMAT }, ['task_budget']),
    output_format: FORMAT,
    service_tier: STRING,
    compaction: objectOf({ type: needed(STRING), instructions: STRING }),
    size: STRING,
    quality: STRING,
    imageSize: STRING,
    ...CACHE,
  },
  [...(['betas', 'container', 'context_management', 'diagnostics'] as const), 'speed' as const],
);

export type Body = ValueOf<typeof BODY>;
export type Message = ValueOf<typeof MESSAGE>;
export type Block = ValueOf<typeof BLOCK>;
export type BlockOf<Tag extends Block['type']> = Extract<Block, { readonly type: Tag }>;
export type ToolChangeBlock = ValueOf<typeof TOOL_CHANGE>;

/** Results of tools of the real service are told tolerantly; their content is history. */
export const SERVER_RESULT = openObjectOf({
  type: needed(STRING),
  tool_use_id: needed(FILLED),
  content: ANYTHING,
  is_error: ANYTHING,
});

/** What is asked of a tool before anything else: those without a name are left out where others are left. */
export const TOOL_HEAD = openObjectOf({ type: STRING, name: STRING });

const HINTS = {
  strict: BOOLEAN,
  input_examples: listOf(ANYTHING),
  allowed_callers: listOf(ANYTHING),
  ...CACHE,
};
const DELIVERY = ['type', 'defer_loading', 'eager_input_streaming'] as const;
export const CLIENT_TOOL = objectOf(
  { name: needed(FILLED), description: STRING, input_schema: needed(FREE), ...HINTS },
  DELIVERY,
);

/** Options of the real service's tools are told where they are read. */
export const TYPED_TOOL = objectOf(
  {
    name: needed(FILLED),
    allowed_domains: listOf(STRING),
    blocked_domains: listOf(STRING),
    user_location: objectOf({ city: STRING, region: STRING, country: STRING, timezone: STRING }, [
      'type',
    ]),
    citations: openObjectOf({ enabled: ANYTHING }),
    ...HINTS,
  },
  [
    ...([...DELIVERY, 'description', 'max_uses', 'max_content_tokens', 'url_sources'] as const),
    ...(['use_cache', 'response_inclusion', 'max_characters'] as const),
  ],
);

/** Client field names that receipts and errors use; of several names for one field the client's own. */
export function clientNamesOf(body: Body, hasTurnEffort: boolean): ClientNames {
  const config = body.output_config ?? {};
  const format = (config.format ?? null) === null ? 'output_format' : 'output_config.format';
  // Without any field it was the model's name that asked.
  let thinking = (config.effort ?? null) === null ? 'model' : 'output_config.effort';
  if (hasTurnEffort) thinking = 'messages';
  if ((body.thinking ?? null) !== null) thinking = 'thinking';
  return {
    redacted_thinking: 'messages',
    stop: 'stop_sequences',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
    tool_calls: 'content.tool_use',
    answer: 'content.text',
    thinking,
    response_format: format,
    response_schema: `${format}.schema`,
    size:
      (body.imageSize ?? body.quality ?? null) === null
        ? 'size'
        : (usedKey(body, ['size', 'imageSize', 'quality']) ?? 'size'),
  };
}

/** A value of the request and where it stands, as a dotted path such as `messages.0.content.2`. */
export interface Scope<Value> {
  readonly value: Value;
  readonly path: string;
}

/** @throws GatewayError 400 worded `<dotted path>: <what is wrong>` */
export function check<Value>({ value, path }: Scope<unknown>, shape: Shape<Value>): Checked<Value> {
  return checkShape(value, shape, (fault) => refusal(fault, path));
}

function refusal({ path: inner, shape, value }: Fault, parent: string): GatewayError {
  const path = inner === '' || parent === '' ? parent + inner : `${parent}.${inner}`;
  if (value === undefined) return fieldError(path, 'Field required', 'missing-field');
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') return wrongType(path, 'a valid string');
      if (shape.words !== undefined) return unknownWord(path, shape.words);
      if (shape.isPublic === true && value !== '')
        return fieldError(path, 'Input should be a public http or https address');
      return fieldError(path, 'String should have at least 1 character');
    case 'number':
      return wrongNumber(path, value, shape.range);
    case 'list':
      return wrongType(path, shape.takesText ? 'a valid string or a valid list' : 'a valid list');
    default:
      return wrongType(path, shape.kind === 'boolean' ? 'a valid boolean' : 'a valid dictionary');
  }
}

function wrongNumber(path: string, value: unknown, range: NumberRange): GatewayError {
  switch (findNumberFault(readNumber(value), range)) {
    case 'too-small':
      return fieldError(path, `Input should be greater than or equal to ${range.min}`);
    case 'too-large':
      return fieldError(path, `Input should be less than or equal to ${range.max}`);
    case 'not-an-integer':
      return wrongType(path, 'a valid integer');
    default:
      return wrongType(path, 'a valid number');
  }
}

function wrongType(path: string, expected: string): GatewayError {
  return fieldError(path, `Input should be ${expected}`, 'invalid-type');
}

/** A 400 worded `<dotted path>: <what is wrong>`. */
export function fieldError(
  path: string,
  text: string,
  reason: 'missing-field' | 'invalid-value' | 'invalid-type' | 'unsupported' = 'invalid-value',
): GatewayError {
  return invalidRequest(bracketPath(path), `${path}: ${text}`, reason);
}

/** The 400 for a `type` nobody here knows: its content would be lost. */
export function unknownTag(
  { type }: { readonly type: string },
  path: string,
  expected: string,
): GatewayError {
  const tag = JSON.stringify(type.slice(0, 60));
  return fieldError(`${path}.type`, `Input tag ${tag} is not supported; use ${expected}`);
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

/** Writes a receipt entry with the path in bracket form, as every protocol does. */
export function note(
  receipt: Receipt,
  action: ReceiptAction,
  path: string,
  reason: Sentence,
): void {
  receipt.add(action, bracketPath(path), reason);
}

export const NO_COUNTERPART = told`The gateway has no counterpart for this field.`;

/** Tells every field outside the shapes of the value at `path`, in bracket form, or of the body. */
export function noteUnknown({ unknown }: Checked<unknown>, path: string, receipt: Receipt): void {
  for (const field of unknown ?? []) {
    receipt.add('dropped', memberPath(bracketPath(path), field), NO_COUNTERPART);
  }
}

export function bracketPath(path: string): string {
  return path.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
}

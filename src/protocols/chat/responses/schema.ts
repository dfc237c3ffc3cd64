// What a Responses body and its items may hold, and the tools of one request by both of their names.
// Source: `openai` resources/responses.

import { invalidRequest } from '../../../canonical/error.ts';
import type { ClientNames, Receipt } from '../../../canonical/receipt.ts';
import type { Tool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import {
  ANYTHING,
  BOOLEAN,
  FILLED,
  FREE,
  listOf,
  needed,
  objectOf,
  type ShapesByName,
  STRING,
  taggedShape,
  type ValueOf,
  wordOf,
} from '../../body-schema.ts';
import {
  AMOUNTS,
  CHOICE,
  CONTENT,
  COUNT,
  createReadContext,
  each,
  INSTRUCTIONS,
  OUTPUT,
  PART,
  type ReadContext,
  SAMPLING,
  SCHEMA_FORMAT,
  STREAM_OPTIONS,
  TOP_LOGPROBS,
  wrongType,
} from '../schema.ts';

const NOTES = [
  ...['type', 'id', 'status', 'created_by', 'caller', 'call_id', 'async'],
  'internal_chat_message_metadata_passthrough',
] as const;

/** Names and states, which answers carry and clients return with them, and notes a client makes for itself. */
function item<Fields extends ShapesByName, const Known extends string = never>(
  fields: Fields,
  known: readonly Known[] = [],
) {
  return objectOf(fields, [...NOTES, ...known]);
}

/** Outputs of the vendor's own shell name their call by `id`. */
export const IDS = { call_id: STRING, id: ANYTHING };
const NAMED = { ...IDS, name: needed(FILLED), namespace: STRING };
const SAID = item({ ...IDS, output: OUTPUT }, ['name', 'namespace']);
const THOUGHTS = listOf(objectOf({ text: STRING }, ['type']));

const SYSTEM = item({ role: STRING, content: needed(INSTRUCTIONS) }, ['phase']);
const MESSAGE = taggedShape('role', {
  user: item({ role: STRING, content: needed(CONTENT) }, ['phase']),
  assistant: item({ role: STRING, content: CONTENT }, ['phase']),
  system: SYSTEM,
  developer: SYSTEM,
});

/** Items of other kinds are told, sent or refused as a whole. */
export const ITEM = {
  message: MESSAGE,
  compaction: item({}, ['encrypted_content']),
  // Source: `openai` resources/beta/responses, ResponseInputItem.AgentMessage.
  agent_message: item(
    { ...each(['author', 'recipient'], needed(FILLED)), content: needed(listOf(PART)) },
    ['agent'],
  ),
  function_call: item({ ...NAMED, arguments: ANYTHING }, ['parsed_arguments']),
  custom_tool_call: item({ ...NAMED, input: STRING }),
  function_call_output: SAID,
  custom_tool_call_output: SAID,
  local_shell_call: item({ ...IDS, action: needed(FREE) }),
  local_shell_call_output: SAID,
  shell_call: item({ ...IDS, action: needed(FREE) }, ['environment']),
  shell_call_output: item({ ...IDS, output: ANYTHING }, ['max_output_length']),
  apply_patch_call: item({ ...IDS, operation: needed(FREE) }),
  apply_patch_call_output: SAID,
  reasoning: item({ encrypted_content: STRING, summary: THOUGHTS, content: THOUGHTS }),
  web_search_call: item({ id: STRING, action: FREE }),
  tool_search_call: item({ ...IDS, arguments: ANYTHING, tools: listOf(FREE) }, ['execution']),
  tool_search_output: item({ ...IDS, tools: listOf(FREE) }, ['execution']),
  additional_tools: item({ tools: listOf(FREE) }, ['role']),
  item_reference: item({ id: needed(FILLED) }),
};
/** Fields that are read, or that only concern bookkeeping, caching and stored answers. */
export const BODY = objectOf(
  {
    model: needed(STRING),
    ...each(['stream', 'store', 'background', 'parallel_tool_calls'], BOOLEAN),
    ...each(['previous_response_id', 'service_tier', 'user', 'prompt_cache_key'], STRING),
    truncation: wordOf(['auto', 'disabled']),
    stream_options: STREAM_OPTIONS,
    ...each(['max_output_tokens', 'max_tool_calls'], COUNT),
    ...SAMPLING,
    top_logprobs: TOP_LOGPROBS,
    ...each(['tools', 'include'], listOf(ANYTHING)),
    tool_choice: CHOICE,
    metadata: FREE,
    reasoning: objectOf({ ...AMOUNTS, ...each(['summary', 'generate_summary'], STRING) }, [
      'context',
    ]),
    text: objectOf({
      verbosity: STRING,
      format: objectOf({ type: needed(FILLED), ...SCHEMA_FORMAT }),
    }),
  },
  [
    ...(['input', 'instructions', 'conversation', 'safety_identifier', 'prompt'] as const),
    ...(['prompt_cache_options', 'prompt_cache_retention', 'client_metadata'] as const),
  ],
);
export type Body = ValueOf<typeof BODY>;

/** Client field names that receipts and errors use. */
const NAMES: ClientNames = {
  system: 'instructions',
  messages: 'input',
  redacted_thinking: 'input',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  response_schema: 'text.format.schema',
  logprobs: 'top_logprobs',
  verbosity: 'text.verbosity',
  modalities: 'tool_choice',
  tool_calls: 'output',
  answer: 'output',
};

/** Of several names for one field the client's own. */
export function clientNamesOf({
  thinkingPath,
  drawing,
}: Pick<ResponsesContext, 'thinkingPath' | 'drawing'>): ClientNames {
  return {
    ...NAMES,
    // Without any field it was the model's name that asked.
    thinking: thinkingPath ?? 'model',
    ...(drawing === undefined ? {} : { size: drawing.path }),
  };
}

/** Source: `openai` resources/shared, `Metadata`. */
const MAX_PAIRS = 16;
const MAX_KEY_LENGTH = 64;
const MAX_VALUE_LENGTH = 512;

/** Empty when there is none. @throws GatewayError 400 for what is over a limit */
export function readMetadata(metadata: JsonObject | null = {}): JsonObject {
  if (metadata === null) return {};
  const entries = Object.entries(metadata);
  if (entries.length > MAX_PAIRS) {
    throw invalidRequest('metadata', `metadata may hold at most ${MAX_PAIRS} pairs.`);
  }
  for (const [key, value] of entries) {
    if (key.length > MAX_KEY_LENGTH) {
      const message = `A key of metadata has more than ${MAX_KEY_LENGTH} characters.`;
      throw invalidRequest('metadata', message);
    }
    if (typeof value !== 'string') throw wrongType(`metadata.${key}`, 'a string');
    if (value.length > MAX_VALUE_LENGTH) {
      const message = `metadata.${key} has more than ${MAX_VALUE_LENGTH} characters.`;
      throw invalidRequest(`metadata.${key}`, message);
    }
  }
  return metadata;
}

interface DrawingTool {
  readonly tool: JsonObject;
  readonly path: string;
  /** Whether the client wants it used, whatever the model thinks. */
  isDemanded?: boolean | undefined;
}

export interface ResponsesContext extends ReadContext {
  readonly directory: ToolDirectory;
  /** Paths of the fields of the request's own items that no reader knows. */
  readonly unknown: string[];
  /** Tools declared by items of the input, in order, by what tells them apart. */
  readonly inputTools: Map<string, Tool>;
  /** The tool that draws, where one is declared. */
  drawing?: DrawingTool | undefined;
  /** An item of an earlier answer by its id; undefined when it is not kept. */
  findItem(id: string): JsonObject | undefined;
}

export function createResponsesContext(
  receipt: Receipt,
  findItem: ResponsesContext['findItem'],
): ResponsesContext {
  return {
    ...createReadContext(receipt),
    directory: new ToolDirectory(),
    unknown: [],
    inputTools: new Map(),
    findItem,
  };
}

/** How the client declared a tool, and so which kind of item a call to it has to be. */
export type CallForm =
  | 'function'
  | 'custom'
  | 'local_shell'
  | 'shell'
  | 'apply_patch'
  | 'tool_search';

export interface ToolIdentity {
  readonly form: CallForm;
  readonly name: string;
  readonly namespace?: string | undefined;
  /** The declaration of a tool that the model is to search for before it calls it. */
  readonly deferred?: JsonObject | undefined;
}

/**
 * The tools of one request under two names: the client's, with form and namespace, and the one sent upstream.
 * Clients refuse a call whose kind or namespace is not the declared one (wire protocols: Codex answers
 * "unsupported call"), so that both are remembered by the flat name that goes upstream.
 */
export class ToolDirectory {
  readonly #byFlatName = new Map<string, ToolIdentity>();
  readonly #flatNames = new Map<string, string>();
  /** By plain name; none for a name that several namespaces have. */
  readonly #onlyFlatNames = new Map<string, string | undefined>();

  /** All that were declared, in order. */
  get identities(): readonly ToolIdentity[] {
    return [...this.#byFlatName.values()];
  }

  /** Declares a tool and gives its flat name, which no other tool has. */
  add(tool: ToolIdentity): string {
    const known = this.#flatNames.get(identityOf(tool));
    if (known !== undefined) return known;
    const plain = plainName(tool);
    let flat = plain;
    // Two tools may have one plain name: `a__b` of nothing, and `b` of `a`.
    for (let next = 2; this.#byFlatName.has(flat); next += 1) flat = `${plain}_${next}`;
    this.#byFlatName.set(flat, tool);
    this.#flatNames.set(identityOf(tool), flat);
    this.#onlyFlatNames.set(tool.name, this.#onlyFlatNames.has(tool.name) ? undefined : flat);
    return flat;
  }

  /**
   * The flat name of a tool, declared or not: history may call tools that are no longer there. Clients
   * that leave the namespace out mean the one tool of that name.
   */
  flatName(tool: ToolIdentity): string {
    const known = this.#flatNames.get(identityOf(tool));
    if (known !== undefined) return known;
    const plain = plainName(tool);
    if (this.#byFlatName.has(plain) || hasNamespace(tool)) return plain;
    return this.#onlyFlatNames.get(tool.name) ?? plain;
  }

  /** Undefined for names nobody declared. */
  find(flatName: string): ToolIdentity | undefined {
    return this.#byFlatName.get(flatName);
  }
}

function plainName(tool: ToolIdentity): string {
  return hasNamespace(tool) ? `${tool.namespace}__${tool.name}` : tool.name;
}

function hasNamespace({ namespace }: ToolIdentity): boolean {
  return namespace !== undefined && namespace !== '';
}

function identityOf(tool: ToolIdentity): string {
  return JSON.stringify([tool.form, tool.namespace ?? '', tool.name]);
}

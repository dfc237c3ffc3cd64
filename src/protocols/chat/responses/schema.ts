// The fields that items of a Responses request may hold: what is read, and what no answer changes without.
// Source: `openai` resources/responses.

import { invalidRequest } from '../../../canonical/error.ts';
import type { ClientNames } from '../../../canonical/receipt.ts';
import type { Tool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectShape, type Shape, taggedShape } from '../../body-schema.ts';
import { PART_SHAPES, type ReadContext, readObject, wrongType } from '../schema.ts';

/** Names and states of items, which answers carry and clients return with them, and notes a client makes for itself. */
const ITEM = [
  ...['type', 'id', 'status', 'created_by', 'caller', 'call_id', 'async'],
  'internal_chat_message_metadata_passthrough',
];
const CALL = [...ITEM, 'name', 'namespace'];
const THOUGHT = objectShape(['type', 'text']);

const MESSAGE = objectShape([...ITEM, 'role', 'phase'], { content: PART_SHAPES });
const AGENT_MESSAGE = objectShape([...ITEM, 'author', 'recipient', 'agent'], {
  content: PART_SHAPES,
});
const OUTPUT = objectShape(CALL, { output: PART_SHAPES });

/** Items of other kinds are told, sent or refused as a whole; those of a role alone are messages. */
export const ITEM_SHAPES: Shape = taggedShape(
  'type',
  {
    message: MESSAGE,
    compaction: objectShape([...ITEM, 'encrypted_content']),
    agent_message: AGENT_MESSAGE,
    function_call: objectShape([...CALL, 'arguments', 'parsed_arguments']),
    custom_tool_call: objectShape([...CALL, 'input']),
    function_call_output: OUTPUT,
    custom_tool_call_output: OUTPUT,
    local_shell_call: objectShape([...ITEM, 'action']),
    local_shell_call_output: OUTPUT,
    shell_call: objectShape([...ITEM, 'action', 'environment']),
    shell_call_output: objectShape([...ITEM, 'output', 'max_output_length']),
    apply_patch_call: objectShape([...ITEM, 'operation']),
    apply_patch_call_output: OUTPUT,
    reasoning: objectShape([...ITEM, 'encrypted_content'], { summary: THOUGHT, content: THOUGHT }),
    web_search_call: objectShape([...ITEM, 'action']),
    tool_search_call: objectShape([...ITEM, 'arguments', 'execution']),
    tool_search_output: objectShape([...ITEM, 'tools', 'execution']),
    additional_tools: objectShape([...ITEM, 'role', 'tools']),
    item_reference: objectShape(ITEM),
  },
  taggedShape('role', { user: MESSAGE, assistant: MESSAGE, system: MESSAGE, developer: MESSAGE }),
);

/** Client field names that receipts and errors use. */
const NAMES: ClientNames = {
  system: 'instructions',
  messages: 'input',
  redacted_thinking: 'input',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  response_schema: 'text.format.schema',
  logprobs: 'top_logprobs',
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
const MOST_PAIRS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;

/** Undefined when there is none. @throws GatewayError 400 for what is over a limit */
export function readMetadata(body: JsonObject): JsonObject | undefined {
  const metadata = readObject(body, 'metadata');
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata);
  if (entries.length > MOST_PAIRS) {
    throw invalidRequest('metadata', `metadata may hold at most ${MOST_PAIRS} pairs.`);
  }
  for (const [key, value] of entries) {
    if (key.length > LONGEST_KEY) {
      throw invalidRequest(
        'metadata',
        `A key of metadata has more than ${LONGEST_KEY} characters.`,
      );
    }
    if (typeof value !== 'string') throw wrongType(`metadata.${key}`, 'a string');
    if (value.length > LONGEST_VALUE) {
      const message = `metadata.${key} has more than ${LONGEST_VALUE} characters.`;
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
  /** Tools declared by items of the input, in order. */
  readonly inputTools: Tool[];
  /** The tool that draws, where one is declared. */
  drawing?: DrawingTool | undefined;
  /** An item of an earlier answer by its id; undefined when it is not kept. */
  findItem(id: string): JsonObject | undefined;
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
}

/**
 * The tools of one request under two names: the client's, with form and namespace, and the one sent upstream.
 * Clients refuse a call whose kind or namespace is not the declared one (wire protocols: Codex answers
 * "unsupported call"), so that both are remembered by the flat name that goes upstream.
 */
export interface ToolDirectory {
  /** Declares a tool and gives its flat name, which no other tool has. */
  add(tool: ToolIdentity): string;
  /**
   * The flat name of a tool, declared or not: history may call tools that are no longer there. Clients
   * that leave the namespace out mean the one tool of that name.
   */
  flatName(tool: ToolIdentity): string;
  /** Undefined for names nobody declared. */
  find(flatName: string): ToolIdentity | undefined;
}

export function createToolDirectory(): ToolDirectory {
  const byFlatName = new Map<string, ToolIdentity>();
  const flatNames = new Map<string, string>();
  /** By plain name; none for a name that several namespaces have. */
  const onlyFlatNames = new Map<string, string | undefined>();
  return {
    add(tool) {
      const known = flatNames.get(identityOf(tool));
      if (known !== undefined) return known;
      const flat = freeName(plainName(tool), byFlatName);
      byFlatName.set(flat, tool);
      flatNames.set(identityOf(tool), flat);
      onlyFlatNames.set(tool.name, onlyFlatNames.has(tool.name) ? undefined : flat);
      return flat;
    },
    flatName(tool) {
      const known = flatNames.get(identityOf(tool));
      if (known !== undefined) return known;
      const plain = plainName(tool);
      if (byFlatName.has(plain) || hasNamespace(tool)) return plain;
      return onlyFlatNames.get(tool.name) ?? plain;
    },
    find: (flat) => byFlatName.get(flat),
  };
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

/** Two tools may have one plain name: `a__b` of nothing, and `b` of `a`. */
function freeName(plain: string, taken: ReadonlyMap<string, ToolIdentity>): string {
  let flat = plain;
  for (let next = 2; taken.has(flat); next += 1) flat = `${plain}_${next}`;
  return flat;
}

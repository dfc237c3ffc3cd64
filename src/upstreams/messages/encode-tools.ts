// Writes tools and the choice among them: the client's own, and those the real service runs.

import { createHash } from 'node:crypto';
import { type CacheHint, writeCacheHint } from '../../canonical/cache-hint.ts';
import { NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  FreeformTool,
  FunctionTool,
  Tool,
} from '../../canonical/request.ts';
import { type CallableTool, createIds, isCallable } from '../../canonical/tool-names.ts';
import { NOTHING_TYPED, type TypedValues } from '../../canonical/typed-values.ts';
import { definedFields, type JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { shareAs } from '../../lib/shared-json.ts';
import { SERVER_TOOLS } from '../../wire/messages.ts';
import type { EncodeTarget } from '../upstream.ts';
import { checkChosen, describeFreeform, FREEFORM_INPUT } from '../wire-parts.ts';
import { traitsOf } from './models.ts';
import { isClosed, toInputSchema } from './schema.ts';

type ServerTool = Exclude<Tool, FunctionTool | FreeformTool>;

const toolLists = new NotedMemo<JsonObject[]>();

/** Expects names the upstream takes. Where a choice names some of the functions, these alone are declared. */
export function encodeTools(
  { tools, toolChoice }: Pick<CanonicalRequest, 'tools' | 'toolChoice'>,
  { modelId, receipt }: EncodeTarget,
): JsonObject[] {
  const names = toolChoice.kind === 'none' ? [] : toolChoice.names;
  const { takesFormats: takesStrict, takesForcedCalls } = traitsOf(modelId);
  // A single name is the wire's own form of choice.
  const isPart = names.length > (toolChoice.kind === 'auto' || !takesForcedCalls ? 0 : 1);
  if (isPart) return encodeList(tools, { offered: new Set(names), takesStrict, receipt });
  return toolLists.get(tools, { variant: String(takesStrict), receipt }, (noted) =>
    shareAs(tools, encodeList(tools, { offered: undefined, takesStrict, receipt: noted })),
  );
}

interface ListContext {
  /** Undefined for all of them. */
  readonly offered: ReadonlySet<string> | undefined;
  readonly takesStrict: boolean;
  readonly receipt: Receipt;
}

function encodeList(tools: readonly Tool[], context: ListContext): JsonObject[] {
  const { offered, receipt } = context;
  const encoded = new Map<string, JsonObject>();
  for (const [index, tool] of tools.entries()) {
    const path = tool.path ?? `tools[${index}]`;
    const name = isCallable(tool) ? tool.name : SERVER_TOOLS[tool.kind].name;
    if (encoded.has(name)) {
      receipt.add('dropped', path, told`A second tool named ${name} was left out.`);
    } else if (!isCallable(tool)) encoded.set(name, encodeServerTool(tool, receipt));
    else if (offered === undefined || offered.has(name)) {
      encoded.set(name, encodeCallable(tool, path, context));
    }
  }
  return [...encoded.values()];
}

function encodeCallable(
  tool: CallableTool,
  path: string,
  { takesStrict, receipt }: ListContext,
): JsonObject {
  if (tool.kind === 'freeform') {
    const said = describeFreeform(tool, { path, receipt });
    return { name: tool.name, ...said, input_schema: FREEFORM_INPUT };
  }
  const { name, description, parameters, parametersPath, strict } = tool;
  const input = toInputSchema(parameters, {
    receipt,
    path: parametersPath ?? `${path}.parameters`,
  });
  const isHeld = strict === true && takesStrict && isClosed(input);
  if (strict === true && !isHeld) {
    receipt.add('approximated', path, NOT_ENFORCED);
  }
  return {
    name,
    ...(description === undefined || description === '' ? {} : { description }),
    input_schema: input,
    ...(isHeld ? { strict: true } : {}),
  };
}

function encodeServerTool(tool: ServerTool, receipt: Receipt): JsonObject {
  const base: JsonObject = { ...SERVER_TOOLS[tool.kind] };
  if (tool.kind !== 'web-search') return base;
  const { allowedDomains = [], blockedDomains = [], userLocation, path = 'tools' } = tool;
  const hasBoth = allowedDomains.length > 0 && blockedDomains.length > 0;
  if (hasBoth) {
    const reason = told`The upstream takes allowed or blocked domains, not both: sources of the blocked ones are left out of the answer.`;
    receipt.add('approximated', path, reason);
  }
  const { city, region, country, timezone } = userLocation ?? {};
  const place = definedFields({ city, region, country, timezone });
  return {
    ...base,
    ...(allowedDomains.length > 0 ? { allowed_domains: [...allowedDomains] } : {}),
    ...(blockedDomains.length > 0 && !hasBoth ? { blocked_domains: [...blockedDomains] } : {}),
    ...(place ? { user_location: { type: 'approximate', ...place } } : {}),
  };
}

const NOT_ENFORCED = told`Strict schemas are followed, but not enforced.`;

/**
 * Undefined where there is nothing to choose among, or the choice is the model's.
 * @throws GatewayError (invalid-request) when a forced tool is not among the declared ones
 */
export function encodeToolChoice(
  { toolChoice, parallelToolCalls }: Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'>,
  tools: readonly JsonObject[],
  { modelId, receipt }: Pick<EncodeTarget, 'modelId' | 'receipt'>,
): JsonObject | undefined {
  if (tools.length === 0) return undefined;
  const serial = parallelToolCalls === false ? { disable_parallel_tool_use: true } : undefined;
  switch (toolChoice.kind) {
    case 'none':
      return { type: 'none' };
    case 'validated': {
      const isHeld = tools.every(({ input_schema, strict }) => !input_schema || strict === true);
      if (!isHeld) receipt.add('approximated', 'tool_choice', NOT_ENFORCED);
      return serial && { type: 'auto', ...serial };
    }
    case 'auto':
      return serial && { type: 'auto', ...serial };
    case 'required': {
      const { names } = toolChoice;
      checkChosen(names, new Set(tools.map(({ name }) => name)));
      if (!traitsOf(modelId).takesForcedCalls) {
        receipt.add('approximated', 'tool_choice', TOLD_TO_CALL);
        return serial && { type: 'auto', ...serial };
      }
      const [only] = names;
      return names.length === 1 && only !== undefined
        ? { type: 'tool', name: only, ...serial }
        : { type: 'any', ...serial };
    }
    default:
      return toolChoice satisfies never;
  }
}

export const TOLD_TO_CALL = told`This model cannot be made to call a tool: it is told to in words.`;

/** What stands for a demand that the model does not take; undefined where there is none. */
export function demandInWords(
  { toolChoice }: Pick<CanonicalRequest, 'toolChoice'>,
  modelId: string,
): string | undefined {
  const isTold = toolChoice.kind === 'required' && !traitsOf(modelId).takesForcedCalls;
  return isTold ? callInWords(toolChoice.names) : undefined;
}

export function callInWords(names: readonly string[]): string {
  const [only, ...others] = names;
  return only !== undefined && others.length === 0
    ? `Answer with a call of the tool ${only}.`
    : 'Answer with a call of one of the tools.';
}

/** All this wire is given is JSON Schema, so that every value comes in its own type. */
export function typedValues({ tools, output_config: config }: JsonObject): TypedValues {
  const answer = objectOf(config)?.format !== undefined;
  const functions = new Set<string>();
  for (const tool of objectsOf(tools)) {
    const name = tool.input_schema === undefined ? undefined : textOf(tool.name);
    if (name !== undefined) functions.add(name);
  }
  return answer || functions.size > 0 ? { answer, functions } : NOTHING_TYPED;
}

/** A copy with the mark that the prompt is cached up to it; the client's own fields stay. */
export function cached(block: JsonObject, hint: CacheHint = true): JsonObject {
  return definedFields({ ...block, cache_control: writeCacheHint(hint) }) ?? block;
}

/** Messages API: `tool_use.id`. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** The ids of tool calls as they are sent on this wire: of a form it takes, each once in the conversation. */
export class CallIds {
  readonly #free = createIds();
  /** Of the turn before, whose calls results belong to; several where calls share an id. */
  #sent = new Map<string, string[]>();

  beginTurn(): void {
    this.#sent = new Map();
  }

  send(id: string): string {
    const sent = this.#free(CALL_ID.test(id) ? id : spellId(id));
    const known = this.#sent.get(id);
    if (known === undefined) this.#sent.set(id, [sent]);
    else known.push(sent);
    return sent;
  }

  /** Results to calls of one id are in the order of these. */
  sentOf(callId: string): string {
    const [sent = callId, ...others] = this.#sent.get(callId) ?? [];
    if (others.length > 0) this.#sent.set(callId, others);
    return sent;
  }
}

/** The same for the same id, so that prompts stay equal from turn to turn. */
function spellId(id: string): string {
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

// Reads one Responses request: the whole field list, strictly, into the canonical request.

import { BUDGET_KEYS, LEVEL_KEYS } from '../../../canonical/effort.ts';
import { invalidRequest } from '../../../canonical/error.ts';
import { readImageOptions } from '../../../canonical/media.ts';
import { plainModelName } from '../../../canonical/model.ts';
import type { Receipt } from '../../../canonical/receipt.ts';
import type { CanonicalRequest, OutputFormat, Reasoning } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { objectShape } from '../../body-schema.ts';
import type { EarlierItems } from '../../protocol.ts';
import { firstSaid, readBudget, readNamedLevel } from '../read-reasoning.ts';
import { describeSchema, refuseCachedContent } from '../read-request.ts';
import { readSchema, refuseNameless } from '../read-tools.ts';
import {
  CHOICE_SHAPE,
  createReadContext,
  missingField,
  noteUnreadFields,
  readArray,
  readBoolean,
  readNumberIn,
  readObject,
  readString,
  requireString,
  STREAM_OPTIONS_SHAPE,
  unknownWord,
  wrongType,
} from '../schema.ts';
import { NOTHING_EARLIER, readConversationId } from './previous-response.ts';
import { askInWords, readInput, wantsSummary } from './read-input.ts';
import {
  clientNamesOf,
  createToolDirectory,
  ITEM_SHAPES,
  type ResponsesContext,
  readMetadata,
  type ToolDirectory,
} from './schema.ts';
import { readOwnTools, readToolChoice } from './tools.ts';

/** Source: `openai` resources/responses, `Tool.ImageGeneration`. */
const KNOWN = objectShape(['type', 'size', 'quality', 'partial_images', 'action']);
/** Values of fields without a counterpart that ask for what happens anyway. */
const DRAWING_DEFAULTS = new Set(['auto', 'png', 'opaque', 'low']);
const MOST_DRAFTS = 3;

/**
 * Present, if empty, whenever the tool is: a model that does not draw so says that it leaves it out.
 * @throws GatewayError 400 naming the field
 */
function readDrawing(
  { drawing, receipt, ...context }: ResponsesContext,
  stream: boolean,
): Pick<CanonicalRequest, 'image' | 'imageDrafts' | 'mustDraw' | 'outputModalities'> {
  if (drawing === undefined) return {};
  const { tool, path } = drawing;
  const image = readImageOptions(
    {
      size: readString(tool, 'size', path),
      quality: readString(tool, 'quality', path),
      imageSize: undefined,
    },
    { receipt, unknownWord: (key, words) => unknownWord(`${path}.${key}`, words) },
  );
  const rest = Object.fromEntries(
    Object.entries(tool).filter(
      ([, value]) => typeof value !== 'string' || !DRAWING_DEFAULTS.has(value.toLowerCase()),
    ),
  );
  noteUnreadFields(rest, { known: KNOWN, path, context: { ...context, receipt } });
  const range = { min: 0, max: MOST_DRAFTS, integer: true };
  const asked = readNumberIn(tool.partial_images, `${path}.partial_images`, range) ?? 0;
  if (asked > 0 && !stream) {
    const reason = told`Unfinished pictures are shown in streams only.`;
    receipt.add('dropped', `${path}.partial_images`, reason);
  }
  const demand =
    drawing.isDemanded === true ? { mustDraw: true, outputModalities: ['image' as const] } : {};
  return { image: image ?? {}, imageDrafts: stream ? asked : 0, ...demand };
}

/** The fields of a response that repeat its request, and what its items may contain. */
export interface ResponseSettings {
  /** The response object's fields that repeat the request (`openai` resources/responses, `Response`). */
  readonly echo: JsonObject;
  readonly directory: ToolDirectory;
  /** Whether reasoning items carry their proof: asked for, or needed because nothing is kept. */
  readonly carriesReasoning: boolean;
  /** Whether reasoning items tell what the model thought. */
  readonly showsThoughts: boolean;
  /** Whether the answer may cite what a search found. */
  readonly mayCite: boolean;
  /** Whether search items name their sources. */
  readonly namesSources: boolean;
  /** Whether search items list what they found. */
  readonly namesResults: boolean;
  /** Whether text parts carry log-probabilities. */
  readonly hasLogprobs: boolean;
  /** How many unfinished pictures a stream shows at most, of each picture. */
  readonly drafts: number;
  /** Whether the answer is a summary to go on from. */
  readonly isSummary: boolean;
  /** Whether the answer is kept for later requests. */
  readonly isStored: boolean;
  /** Whether the client looks for the answer later. */
  readonly isBackground: boolean;
  /** The conversation that the request and its answer become part of. */
  readonly conversationId?: string | undefined;
}

const ECHOED = [
  'background',
  'frequency_penalty',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
] as const;

const DEFAULTS: JsonObject = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
};

/** The request's own values, and this surface's defaults for the rest. */
function echoOf(body: JsonObject): JsonObject {
  const echo: JsonObject = {};
  for (const key of ECHOED) echo[key] = body[key] ?? DEFAULTS[key] ?? null;
  if (Array.isArray(body.tools)) echo.tools = body.tools.map(showTool);
  // The tier that served the request, whichever was asked for.
  echo.service_tier = DEFAULTS.service_tier ?? null;
  const { conversation, user } = body;
  // The one field of these that is no null where nothing was said.
  if (typeof user === 'string') echo.user = user;
  if (typeof conversation === 'string') echo.conversation = { id: conversation };
  else if (isJsonObject(conversation)) echo.conversation = { id: conversation.id ?? null };
  return echo;
}

/** What declared functions always hold when they are shown (`openai` responses, `FunctionTool`); schemas bind when they say so. */
const FUNCTION_DEFAULTS: JsonObject = { description: null, parameters: null, strict: false };

/** A tool as typed readers take it: flat, with all fields; what it says itself stays. */
function showTool(tool: JsonValue): JsonValue {
  if (!isJsonObject(tool)) return tool;
  const { function: nested, ...rest } = tool;
  const shown = isJsonObject(nested) ? { ...rest, ...nested } : rest;
  if (Array.isArray(tool.tools)) return { ...shown, tools: tool.tools.map(showTool) };
  if ((tool.type ?? 'function') !== 'function') return tool;
  return { type: 'function', ...FUNCTION_DEFAULTS, ...shown, strict: shown.strict ?? false };
}

export interface ResponsesRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly canonical: CanonicalRequest;
  readonly settings: ResponseSettings;
}

/** Fields that are read, or that only concern bookkeeping, caching and stored answers. */
const KNOWN_FIELDS = objectShape(
  [
    ...['model', 'tools', 'parallel_tool_calls', 'include', 'store', 'previous_response_id'],
    ...['conversation', 'stream', 'max_output_tokens', 'temperature', 'top_p', 'top_logprobs'],
    ...['metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options'],
    ...['service_tier', 'prompt_cache_retention', 'client_metadata', 'truncation', 'background'],
    ...['prompt', 'max_tool_calls', 'presence_penalty', 'frequency_penalty'],
  ],
  {
    input: ITEM_SHAPES,
    instructions: ITEM_SHAPES,
    tool_choice: CHOICE_SHAPE,
    stream_options: STREAM_OPTIONS_SHAPE,
    reasoning: objectShape([
      ...['effort', 'summary', 'generate_summary', 'context', ...BUDGET_KEYS, ...LEVEL_KEYS],
    ]),
    text: objectShape(['verbosity'], {
      format: objectShape(['type', 'name', 'description', 'schema', 'strict']),
    }),
  },
);

/** Features that need a server of the vendor's, and what to do without them. */
const REFUSED = {
  prompt: 'stored prompts are not available; send input and instructions',
} as const;

/** @throws GatewayError (invalid-request) naming the field. */
export function readResponsesRequest(
  body: JsonObject,
  receipt: Receipt,
  earlier: EarlierItems = NOTHING_EARLIER,
): ResponsesRequest {
  refuseHosted(body);
  refuseCachedContent(body);
  const context: ResponsesContext = {
    ...createReadContext(receipt),
    directory: createToolDirectory(),
    inputTools: [],
    findItem: (id) => earlier.findItem(id),
  };
  const model = readModel(body);
  const stream = readBoolean(body, 'stream') ?? false;
  const isSummary = wantsSummary(body.input);
  const asked = readCanonical(body, earlier.history, context);
  const canonical = {
    ...(isSummary ? askInWords(asked, receipt) : asked),
    ...readDrawing(context, stream),
  };
  noteUnreadFields(body, { known: KNOWN_FIELDS, path: '', context });
  noteHints(body, canonical, context);
  const include = readInclude(body);
  const isStored = readBoolean(body, 'store') ?? true;
  return {
    model,
    stream,
    canonical,
    settings: {
      echo: { ...echoOf(body), metadata: readMetadata(body) ?? {} },
      directory: context.directory,
      carriesReasoning: include.has('reasoning.encrypted_content') || !isStored,
      showsThoughts: canonical.reasoning.showThoughts === true,
      mayCite: canonical.tools.some(({ kind }) => kind === 'web-search'),
      namesSources: include.has('web_search_call.action.sources'),
      namesResults: include.has('web_search_call.results'),
      hasLogprobs: canonical.sampling.logprobs !== undefined,
      drafts: canonical.imageDrafts ?? 0,
      isSummary,
      isStored,
      isBackground: readBackground(body, { isStored, stream }),
      conversationId: readConversationId(body),
    },
  };
}

function readModel(body: JsonObject): string {
  const { model } = body;
  if (model === undefined || model === null) throw missingField('model');
  if (typeof model !== 'string') throw wrongType('model', 'a string');
  const name = plainModelName(model);
  if (name === '') throw invalidRequest('model', 'model is empty; name a model of GET /v1/models.');
  return name;
}

function refuseHosted(body: JsonObject): void {
  for (const [key, why] of Object.entries(REFUSED)) {
    if ((body[key] ?? null) !== null) throw invalidRequest(key, `${key}: ${why}.`, 'unsupported');
  }
}

/** What is made in the background has to be found later, and is not streamed. */
function readBackground(
  body: JsonObject,
  { isStored, stream }: { readonly isStored: boolean; readonly stream: boolean },
): boolean {
  if (readBoolean(body, 'background') !== true) return false;
  if (!isStored) {
    throw invalidRequest(
      'background',
      'background: an answer made in the background has to be stored; leave store out, or set it to true.',
      'unsupported',
    );
  }
  if (!stream) return true;
  throw invalidRequest(
    'stream',
    'stream: an answer made in the background is not streamed. Leave stream out and ask GET ' +
      '/v1/responses/{id} until its status is final, or leave background out.',
    'unsupported',
  );
}

function readCanonical(
  body: JsonObject,
  history: readonly JsonObject[],
  context: ResponsesContext,
): CanonicalRequest {
  const ownTools = readOwnTools(readArray(body, 'tools') ?? [], context);
  const { system, turns } = readInput(body, history, context);
  const { inputTools } = context;
  const tools = inputTools.length === 0 ? ownTools : [...ownTools, ...inputTools];
  if (context.drawing === undefined) refuseNameless(tools, context);
  const reasoning = readReasoning(body, context);
  const penalty = { min: -2, max: 2 };
  return {
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools, context),
    parallelToolCalls: readBoolean(body, 'parallel_tool_calls'),
    sampling: {
      temperature: readNumberIn(body.temperature, 'temperature', { min: 0, max: 2 }),
      topP: readNumberIn(body.top_p, 'top_p', { min: 0, max: 1 }),
      presencePenalty: readNumberIn(body.presence_penalty, 'presence_penalty', penalty),
      frequencyPenalty: readNumberIn(body.frequency_penalty, 'frequency_penalty', penalty),
      logprobs: readLogprobs(body),
    },
    maxOutputTokens: readNumberIn(body.max_output_tokens, 'max_output_tokens', {
      min: 1,
      integer: true,
    }),
    stopSequences: [],
    choices: 1,
    reasoning,
    outputFormat: readOutputFormat(body, context),
    safety: [],
    dropsOldest: readTruncation(body),
    clientNames: clientNamesOf(context),
  };
}

/** Asked for by a count, or by the include word alone. */
function readLogprobs(body: JsonObject): CanonicalRequest['sampling']['logprobs'] {
  const range = { min: 0, max: 20, integer: true };
  const alternatives = readNumberIn(body.top_logprobs, 'top_logprobs', range) ?? 0;
  const isAsked = readInclude(body).has('message.output_text.logprobs');
  return alternatives > 0 || isAsked ? { alternatives } : undefined;
}

function readInclude(body: JsonObject): ReadonlySet<string> {
  const words = readArray(body, 'include') ?? [];
  return new Set(words.filter((word) => typeof word === 'string'));
}

/** Thoughts are shown to those who wish for a summary; others think unseen. */
function readReasoning(body: JsonObject, context: ResponsesContext): Reasoning {
  const reasoning = readObject(body, 'reasoning') ?? {};
  const summary =
    readString(reasoning, 'summary', 'reasoning') ??
    readString(reasoning, 'generate_summary', 'reasoning');
  const level = readNamedLevel(reasoning, 'reasoning');
  const said = firstSaid([level, readBudget(reasoning, 'reasoning')], context);
  const amount = said?.amount ?? { kind: 'unset' };
  context.thinkingPath = said?.path;
  const isWanted = summary !== undefined && summary !== 'none';
  return { amount, showThoughts: isWanted && amount.kind !== 'off' };
}

/** The schema stands flat in the format. */
function readOutputFormat(body: JsonObject, context: ResponsesContext): OutputFormat {
  const text = readObject(body, 'text') ?? {};
  const verbosity = readString(text, 'verbosity', 'text');
  if (verbosity !== undefined && verbosity !== 'medium') {
    context.receipt.add('dropped', 'text.verbosity', told`verbosity has no counterpart.`);
  }
  const format = readObject(text, 'format', 'text');
  if (format === undefined) return { kind: 'text' };
  const type = requireString(format, 'type', 'text.format');
  switch (type) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const schema = readSchema(format.schema, 'text.format.schema');
      if (schema === undefined) throw missingField('text.format.schema');
      const description = readString(format, 'description', 'text.format');
      return {
        kind: 'json-schema',
        schema: describeSchema(schema, description),
        name: readString(format, 'name', 'text.format'),
        strict: readBoolean(format, 'strict', 'text.format'),
      };
    }
    default:
      throw unknownWord('text.format.type', ['text', 'json_object', 'json_schema']);
  }
}

/** `auto` lets the beginning of a conversation go that is larger than the model takes. */
function readTruncation(body: JsonObject): true | undefined {
  const word = readString(body, 'truncation');
  if (word === undefined || word === 'disabled') return undefined;
  if (word !== 'auto') throw unknownWord('truncation', ['auto', 'disabled']);
  return true;
}

/** What only a service that runs tools or tiers of its own could do. */
function noteHints(
  body: JsonObject,
  { tools }: CanonicalRequest,
  { receipt }: ResponsesContext,
): void {
  const tier = readString(body, 'service_tier');
  if (tier !== undefined && tier !== 'auto' && tier !== 'default') {
    receipt.add(
      'dropped',
      'service_tier',
      told`service_tier has no counterpart; the default applies.`,
    );
  }
  const range = { min: 1, integer: true };
  const mostCalls = readNumberIn(body.max_tool_calls, 'max_tool_calls', range);
  // The limit is for tools the server runs; the client itself decides on the calls it is given.
  const isHosted = tools.some(({ kind }) => kind !== 'function' && kind !== 'freeform');
  if (mostCalls !== undefined && isHosted) {
    receipt.add(
      'dropped',
      'max_tool_calls',
      told`The upstream decides how often it uses its tools.`,
    );
  }
  const options = readObject(body, 'stream_options') ?? {};
  if (readBoolean(options, 'include_obfuscation', 'stream_options') === true) {
    const path = 'stream_options.include_obfuscation';
    receipt.add('dropped', path, told`Events are sent without padding.`);
  }
}

/** The session a body names for itself: its cache key, the conversation it goes on with, its user. */
export function readBodySession(body: JsonObject, rootId: string | undefined): string | undefined {
  const names = [readString(body, 'prompt_cache_key'), rootId, readString(body, 'user')];
  return names.find((name) => name !== undefined && name !== '');
}

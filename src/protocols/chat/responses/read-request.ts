// Reads one Responses request: the whole field list, strictly, into the canonical request.

import type { Reasoning } from '../../../canonical/effort.ts';
import { readImageDetails, readImageOptions } from '../../../canonical/image-options.ts';
import type { Receipt } from '../../../canonical/receipt.ts';
import type { CanonicalRequest, OutputFormat } from '../../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { numberIn, objectOf, STRING } from '../../body-schema.ts';
import type { EarlierItems } from '../../protocol.ts';
import { firstSaid, readBudget, readNamedLevel } from '../read-reasoning.ts';
import {
  readFormat,
  readModel,
  readSampling,
  readVerbosity,
  refuseCachedContent,
} from '../read-request.ts';
import { refuseNameless } from '../read-tools.ts';
import {
  check,
  DETAILS_OF_DRAWING,
  each,
  missingField,
  noteUnread,
  unknownWord,
  unsupported,
} from '../schema.ts';
import { NOTHING_EARLIER, readConversationId } from './previous-response.ts';
import { askInWords, readInput, wantsSummary } from './read-input.ts';
import {
  BODY,
  type Body,
  clientNamesOf,
  createResponsesContext,
  type ResponsesContext,
  readMetadata,
} from './schema.ts';
import { isServersSearch, readOwnTools, readToolChoice } from './tools.ts';

/** Source: `openai` resources/responses, `Tool.ImageGeneration`. */
const DRAWING = objectOf(
  {
    ...each(['size', 'quality'], STRING),
    partial_images: numberIn({ min: 0, max: 3, integer: true }),
    ...DETAILS_OF_DRAWING,
  },
  ['type', 'action'],
);

/**
 * Present, if empty, whenever the tool is: a model that does not draw so says that it leaves it out.
 * @throws GatewayError 400 naming the field
 */
function readDrawing(
  { drawing, receipt }: ResponsesContext,
  stream: boolean,
): Pick<
  CanonicalRequest,
  'image' | 'imageDetails' | 'imageDrafts' | 'mustDraw' | 'outputModalities'
> {
  if (drawing === undefined) return {};
  const { tool, path } = drawing;
  const { value: drawn, unknown = [] } = check(tool, DRAWING, path);
  const image = readImageOptions(drawn, {
    receipt,
    unknownWord: (key, words) => unknownWord(`${path}.${key}`, words),
  });
  noteUnread(unknown, { path, receipt });
  const asked = readNumber(drawn.partial_images) ?? 0;
  if (asked > 0 && !stream) {
    const reason = told`Partial images are sent in streams only.`;
    receipt.add('dropped', `${path}.partial_images`, reason);
  }
  const demand =
    drawing.isDemanded === true ? { mustDraw: true, outputModalities: ['image' as const] } : {};
  const imageDetails = readImageDetails(drawn, path);
  return { image: image ?? {}, imageDetails, imageDrafts: stream ? asked : 0, ...demand };
}

/** The response object's fields that repeat the request (`openai` resources/responses, `Response`). */
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
  for (const [key, value] of Object.entries(DEFAULTS)) echo[key] = inFull(body[key], value);
  if (Array.isArray(body.tools)) echo.tools = body.tools.map(showTool);
  // Until the upstream says which tier serves the request, whichever was asked for.
  echo.service_tier = DEFAULTS.service_tier ?? null;
  const { conversation, user } = body;
  // The one field of these that is no null where nothing was said.
  if (typeof user === 'string') echo.user = user;
  if (typeof conversation === 'string') echo.conversation = { id: conversation };
  else if (isJsonObject(conversation)) echo.conversation = { id: conversation.id ?? null };
  return echo;
}

/** What the request said, with the default of what it left out. */
function inFull(said: JsonValue | undefined, fallback: JsonValue): JsonValue {
  if (!isJsonObject(said) || !isJsonObject(fallback)) return said ?? fallback;
  const full = { ...said };
  for (const [key, value] of Object.entries(fallback)) full[key] ??= value;
  return full;
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

/** @throws GatewayError (invalid-request) naming the field. */
export function readResponsesRequest(
  sent: JsonObject,
  receipt: Receipt,
  earlier: EarlierItems = NOTHING_EARLIER,
) {
  if ((sent.prompt ?? null) !== null) {
    throw unsupported('prompt', 'stored prompts are not available; send input and instructions.');
  }
  refuseCachedContent(sent);
  const { value: body, unknown = [] } = check(sent, BODY, '');
  const context = createResponsesContext(receipt, (id) => earlier.findItem(id));
  const model = readModel(body.model);
  const stream = body.stream ?? false;
  const asked = readCanonical({ sent, body, history: earlier.history, context });
  const canonical: CanonicalRequest = {
    ...(wantsSummary(sent.input) ? askInWords(asked, receipt) : asked),
    ...readDrawing(context, stream),
  };
  noteUnread([...unknown, ...context.unknown], { path: '', receipt });
  noteHints(body, canonical, receipt);
  return { model, stream, canonical, settings: readSettings({ sent, body, canonical, context }) };
}

/** The fields of a response that repeat its request, and what its items may contain. */
export type ResponseSettings = ReturnType<typeof readSettings>;

function readSettings({
  sent,
  body,
  canonical,
  context,
}: Read & { readonly canonical: CanonicalRequest }) {
  const include: ReadonlySet<JsonValue> = new Set(body.include);
  const echo: JsonObject = { ...echoOf(sent), metadata: readMetadata(body.metadata) };
  const isStored = body.store ?? true;
  return {
    echo,
    directory: context.directory,
    /** Whether reasoning items carry their proof: asked for, or needed because nothing is kept. */
    carriesReasoning: include.has('reasoning.encrypted_content') || !isStored,
    /** Whether reasoning items tell what the model thought. */
    showsThoughts: canonical.reasoning.showThoughts === true,
    /** Whether the answer may cite what a search found. */
    mayCite: canonical.tools.some(({ kind }) => kind === 'web-search'),
    /** Whether the service is to search for tools that are deferred. */
    searchesTools: (body.tools ?? []).some(isServersSearch),
    namesSources: include.has('web_search_call.action.sources'),
    /** Whether search items list what they found. */
    namesResults: include.has('web_search_call.results'),
    /** Whether text parts carry log-probabilities. */
    hasLogprobs: canonical.sampling.logprobs !== undefined,
    /** How many unfinished pictures a stream shows at most, of each picture. */
    drafts: canonical.imageDrafts ?? 0,
    /** Whether the answer is a summary to go on from. */
    isSummary: wantsSummary(sent.input),
    /** Whether the answer is kept for later requests. */
    isStored,
    /** Whether the client looks for the answer later. */
    isBackground: readBackground(body, isStored),
    /** The answer that the request goes on from. */
    previousId: body.previous_response_id ?? undefined,
    /** The conversation that the request and its answer become part of. */
    conversationId: readConversationId(sent),
  };
}

/** What is made in the background has to be found later. */
function readBackground({ background }: Body, isStored: boolean): boolean {
  if (background !== true) return false;
  if (isStored) return true;
  throw unsupported(
    'background',
    'an answer made in the background has to be stored; leave store out, or set it to true.',
  );
}

interface Read {
  /** With the items, which are no part of what `body` is known to hold. */
  readonly sent: JsonObject;
  readonly body: Body;
  readonly context: ResponsesContext;
}

function readCanonical({
  sent,
  body,
  history,
  context,
}: Read & { readonly history: readonly JsonObject[] }): CanonicalRequest {
  const ownTools = readOwnTools(body.tools ?? [], context);
  const { system, turns } = readInput(sent, history, context);
  const { inputTools } = context;
  const tools = inputTools.size === 0 ? ownTools : [...ownTools, ...inputTools.values()];
  if (context.drawing === undefined) refuseNameless(tools, context);
  const reasoning = readReasoning(body.reasoning ?? {}, context);
  const alternatives = readNumber(body.top_logprobs) ?? 0;
  const isRated =
    alternatives > 0 || body.include?.includes('message.output_text.logprobs') === true;
  return {
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools, context),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    sampling: { ...readSampling(body), logprobs: isRated ? { alternatives } : undefined },
    maxOutputTokens: readNumber(body.max_output_tokens),
    stopSequences: [],
    choices: 1,
    reasoning,
    outputFormat: readOutputFormat(body.text ?? {}),
    safety: [],
    // The beginning of a conversation may go that is larger than the model takes.
    dropsOldest: body.truncation === 'auto' ? true : undefined,
    serviceTier: body.service_tier ?? undefined,
    cacheKey: body.prompt_cache_key || undefined,
    verbosity: readVerbosity(body.text?.verbosity),
    clientNames: clientNamesOf(context),
  };
}

/** Thoughts are shown to those who wish for a summary; others think unseen. */
function readReasoning(
  reasoning: NonNullable<Body['reasoning']>,
  context: ResponsesContext,
): Reasoning {
  const summary = reasoning.summary ?? reasoning.generate_summary ?? 'none';
  const level = readNamedLevel(reasoning, 'reasoning');
  const said = firstSaid([level, readBudget(reasoning, 'reasoning')], context);
  const amount = said?.amount ?? { kind: 'unset' };
  const showThoughts = summary !== 'none' && amount.kind !== 'off';
  context.thinkingPath = said?.path ?? (showThoughts ? 'reasoning.summary' : undefined);
  return { amount, showThoughts };
}

/** The schema stands flat in the format. */
function readOutputFormat({ format }: NonNullable<Body['text']>): OutputFormat {
  if (!format) return { kind: 'text' };
  if (format.type === 'json_schema' && (format.schema ?? null) === null) {
    throw missingField('text.format.schema');
  }
  return readFormat(format.type, format, ['text.format', '']);
}

/**
 * What an answer can be asked to hold beside the usual (`openai` resources/responses, `ResponseIncludable`); items of
 * other services' tools never come.
 */
const INCLUDABLE: ReadonlySet<JsonValue> = new Set([
  ...['reasoning.encrypted_content', 'message.output_text.logprobs'],
  ...['web_search_call.action.sources', 'web_search_call.results'],
  ...['message.input_image.image_url', 'computer_call_output.output.image_url'],
  ...['file_search_call.results', 'code_interpreter_call.outputs'],
]);

/** What only a service that runs tools of its own could do, and what no answer holds. */
function noteHints(body: Body, { tools }: CanonicalRequest, receipt: Receipt): void {
  // The limit is for tools the server runs; the client itself decides on the calls it is given.
  const isHosted = tools.some(({ kind }) => kind !== 'function' && kind !== 'freeform');
  if ((body.max_tool_calls ?? null) !== null && isHosted) {
    const reason = told`The upstream decides how often it uses its tools.`;
    receipt.add('dropped', 'max_tool_calls', reason);
  }
  const others = (body.include ?? []).flatMap((word, at) =>
    INCLUDABLE.has(word) ? [] : `include[${at}]`,
  );
  noteUnread(others, { path: '', receipt });
  if (body.stream_options?.include_obfuscation === true) {
    const path = 'stream_options.include_obfuscation';
    receipt.add('dropped', path, told`Events are sent without padding.`);
  }
}

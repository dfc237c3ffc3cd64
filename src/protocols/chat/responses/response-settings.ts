// What a request settles about its answer: the fields that are echoed, and what the items may hold.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type { ToolDirectory } from './tool-directory.ts';

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
export function echoOf(body: JsonObject): JsonObject {
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

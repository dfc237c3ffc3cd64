// What a request settles about its answer: the fields that are echoed, and what the items may hold.

import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
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
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
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
  'user',
] as const;

const DEFAULTS: JsonObject = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
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
  user: null,
};

/** The request's own values, and this surface's defaults for the rest. */
export function echoOf(body: JsonObject): JsonObject {
  const echo: JsonObject = {};
  for (const key of ECHOED) echo[key] = body[key] ?? DEFAULTS[key] ?? null;
  // The tier that served the request, whichever was asked for.
  echo.service_tier = DEFAULTS.service_tier ?? null;
  const { conversation } = body;
  if (typeof conversation === 'string') echo.conversation = { id: conversation };
  else if (isJsonObject(conversation)) echo.conversation = { id: conversation.id ?? null };
  return echo;
}

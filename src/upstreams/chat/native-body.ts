// The relay lane towards this wire: the client's own body, with what this upstream needs different.

import { applyThinkingMode } from '../../canonical/effort.ts';
import type { ReasoningAmount } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { PatchTarget } from '../upstream.ts';
import { takeAmount } from './effort.ts';
import { type FitContext, fitBody } from './fit.ts';
import type { ChatProfile, ReasoningField } from './profiles.ts';
import { type Reasoning, reasoningFields } from './reasoning.ts';

/** Words of this gateway and of other upstreams. */
const FOREIGN_FIELDS = [
  ...['size', 'quality', 'imageSize', 'safety_settings'],
  ...['thinking_config', 'thinkingConfig', 'extra_body'],
  ...CHAT_EXTENSION_KEYS,
];

/** @throws GatewayError (invalid-request) for what this upstream cannot be sent. */
export function patch(body: JsonObject, target: PatchTarget, profile: ChatProfile): JsonObject {
  const context: FitContext = { target, profile, isRelayed: true };
  const { quirks } = profile;
  const patched: JsonObject = { ...body, model: target.modelId };
  for (const field of FOREIGN_FIELDS) {
    const value = patched[field];
    if (value === undefined) continue;
    delete patched[field];
    if (value !== null) target.receipt.add('dropped', field, told`The upstream has no such field.`);
  }
  if (!quirks.takesIncludeUsage) delete patched.stream_options;
  patched.messages = itemsOf(patched.messages).map((message) =>
    patchMessage(message, target, quirks.sendsReasoning),
  );
  const said = takeAmount(patched, quirks);
  return fitBody(patched, amountOf(said, target), context);
}

/** What the model's name asks for counts where the body says nothing. */
function amountOf(
  said: ReasoningAmount,
  { variant, thinkingMode, capabilities, receipt }: PatchTarget,
) {
  const named: ReasoningAmount =
    variant.effort === undefined ? said : { kind: 'effort', effort: variant.effort };
  return applyThinkingMode(said.kind === 'unset' ? named : said, {
    mode: thinkingMode,
    thinking: capabilities.thinking,
    note: (reason) => receipt.add('approximated', 'reasoning_effort', reason),
  });
}

const THOUGHT_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Thoughts in the one field the upstream reads, remembered ones where the client kept none; none of our own words. */
function patchMessage(
  message: JsonValue,
  target: PatchTarget,
  field: ReasoningField | undefined,
): JsonValue {
  if (!isJsonObject(message) || message.role !== 'assistant') return message;
  const { extra_content: _signature, images: _drawn, ...own } = message;
  const carried = thoughtsIn(own);
  for (const name of THOUGHT_FIELDS) delete own[name];
  if (Array.isArray(own.tool_calls)) own.tool_calls = own.tool_calls.map(withoutExtras);
  if (field === undefined) {
    if (carried.length > 0) {
      target.receipt.add('dropped', 'messages', told`The upstream takes no earlier thoughts.`);
    }
    return own;
  }
  const thoughts = carried.length > 0 ? carried : rememberedOf(own, target);
  return { ...own, ...reasoningFields(thoughts, field) };
}

function thoughtsIn(message: JsonObject): readonly Reasoning[] {
  const text = textOf(message.reasoning_content) ?? textOf(message.reasoning);
  const details = objectsOf(message.reasoning_details);
  if (text === undefined && details.length === 0) return [];
  return [{ text: text ?? '', ...(details.length === 0 ? {} : { details: [...details] }) }];
}

function rememberedOf({ tool_calls }: JsonObject, target: PatchTarget): readonly Reasoning[] {
  const [call] = objectsOf(tool_calls);
  const id = textOf(call?.id);
  const name = textOf(objectOf(call?.function)?.name);
  if (id === undefined || name === undefined) return [];
  const history = target.recall.lookup({ kind: 'call', id, name })?.history;
  return history?.family === target.capabilities.signatureFamily ? history.parts : [];
}

/** Streams number their calls, and clients return the number with them. */
function withoutExtras(call: JsonValue): JsonValue {
  if (!isJsonObject(call)) return call;
  const { extra_content: _signature, index: _index, ...own } = call;
  return own;
}

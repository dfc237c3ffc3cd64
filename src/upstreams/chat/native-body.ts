// The relay lane towards this wire: the client's own body, with what this upstream needs different.

import { isDeepStrictEqual } from 'node:util';
import type { ReasoningAmount } from '../../canonical/effort.ts';
import { applyThinkingMode } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import { historyKey, readCarrier } from '../../canonical/signatures.ts';
import { acceptedNames } from '../../canonical/tool-names.ts';
import { mapItems, unlessSame } from '../../lib/collections.ts';
import { definedFields, isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { imageInName } from '../../transforms/media.ts';
import { signatureIn, thoughtIn, writeSignature } from '../../wire/chat.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
import { OpenResults } from '../wire-parts.ts';
import { toParameters } from './encode-tools.ts';
import { fitBody, mapMessages, NO_PICTURES, withoutPictures } from './fit.ts';
import type { FitContext } from './models.ts';
import {
  type ChatProfile,
  type ChatQuirks,
  type ReasoningField,
  SERVICE_FIELDS,
} from './profiles.ts';
import {
  amountBesideFunctions,
  fieldFor,
  type Reasoning,
  reasoningFields,
  takeAmount,
} from './reasoning.ts';

/** Words of this gateway and of other upstreams. */
const FOREIGN_FIELDS: ReadonlySet<string> = new Set([
  ...['size', 'quality', 'imageSize', 'safety_settings'],
  ...['thinking_config', 'thinkingConfig', 'extra_body'],
  ...CHAT_EXTENSION_KEYS,
]);

/** What services refuse where it holds nothing ("[] is too short", api.openai.com). */
const OFTEN_EMPTY = ['stop', 'functions', 'modalities'];

/** @throws GatewayError (invalid-request) for what this upstream cannot be sent. */
export function patch(body: JsonObject, target: PatchTarget, profile: ChatProfile): JsonObject {
  const context: FitContext = { target, profile, isRelayed: true };
  const { quirks } = profile;
  const patched: JsonObject = { ...body, model: target.modelId };
  const { ownFields } = quirks;
  for (const field in body) {
    const isOther = ownFields?.includes(field) === false && SERVICE_FIELDS.has(field);
    if (!isOther && !FOREIGN_FIELDS.has(field)) continue;
    delete patched[field];
    if (body[field] !== null) {
      target.receipt.add('dropped', field, told`The upstream has no such field.`);
    }
  }
  for (const field of OFTEN_EMPTY) {
    if (patched[field] === '' || isNothing(patched[field])) delete patched[field];
  }
  if (!quirks.takesIncludeUsage) delete patched.stream_options;
  if (ownFields !== undefined) withoutRefused(patched, ownFields, target.receipt);
  const messages = patchMessages(patched.messages, target, quirks);
  const named = quirks.takesResultNames ? messages : withoutResultNames(messages, target.receipt);
  patched.messages = named.map((message) =>
    patchThoughts(
      quirks.takesNames ? message : withoutName(message, target.receipt),
      target,
      quirks,
    ),
  );
  if (patched.tools !== undefined)
    patched.tools = patchTools(patched.tools, target.receipt, quirks);
  if (patched.tool_choice !== undefined) {
    patched.tool_choice = mapChosen(patched.tool_choice, nestedChoice);
  }
  patchNames(patched, target.receipt);
  if (patched.tool_choice !== undefined) offerAllowed(patched, quirks);
  patchSearch(patched, target);
  patchDrawing(patched, target);
  const said = takeAmount(patched, quirks);
  fitBody(patched, amountOf(said, patched, { ...context, target }), context);
  return patched;
}

/**
 * Notes for answers that are stored ("The 'metadata' parameter is only allowed when 'store' is enabled.",
 * platform.openai.com), which say nothing to the model, and an option of Mistral's streams.
 */
function withoutRefused(body: JsonObject, ownFields: readonly string[], receipt: Receipt): void {
  if (body.store !== true && !ownFields.includes('metadata')) delete body.metadata;
  const options = objectOf(body.stream_options);
  const path = 'stream_options.stream_tool_calls';
  if (options?.stream_tool_calls !== undefined && !ownFields.includes(path)) {
    const { stream_tool_calls: _pieces, ...rest } = options;
    body.stream_options = rest;
    receipt.add('dropped', path, told`The upstream has no such field.`);
  }
}

// What the model's name asks for counts where the body says nothing.

function patchSearch(body: JsonObject, { variant, capabilities, receipt }: PatchTarget): void {
  if (!variant.webSearch || (body.web_search_options ?? null) !== null) return;
  const tool = 'web-search';
  if (body.tool_choice === 'none') {
    receipt.add('dropped', 'model', told`tool_choice rules out the search the name asks for.`);
  } else if (capabilities.serverTools?.includes(tool) === true) body.web_search_options = {};
  else receipt.add('dropped', 'model', told`The upstream runs no ${tool} itself.`);
}

function patchDrawing(body: JsonObject, target: PatchTarget): void {
  const said = objectOf(body.image_config) ?? {};
  const named = imageInName(said.aspect_ratio, said.image_size, target);
  if (named === undefined) return;
  body.modalities ??= ['image', 'text'];
  body.image_config = {
    ...definedFields({ aspect_ratio: named.aspectRatio, image_size: named.size }),
    ...said,
  };
}

function amountOf(
  said: ReasoningAmount,
  body: JsonObject,
  context: FitContext & { readonly target: PatchTarget },
): ReasoningAmount {
  const { variant, thinkingMode: mode, capabilities, receipt } = context.target;
  const named = said.kind === 'unset' ? amountInName(variant) : undefined;
  const amount = applyThinkingMode(named ?? said, {
    mode,
    thinking: capabilities.thinking,
    note: (reason) => receipt.add('approximated', 'reasoning_effort', reason),
  });
  const hasFunctions = objectsOf(body.tools).some(({ type }) => FUNCTIONS.includes(type));
  // An effort that the client itself names is left to the service.
  const isNamedHere = named !== undefined || said.kind === 'adaptive';
  return isNamedHere && hasFunctions ? amountBesideFunctions(amount, context) : amount;
}

const FUNCTIONS: readonly unknown[] = ['function', 'custom'];

function amountInName({ effort, thinking }: PatchTarget['variant']): ReasoningAmount | undefined {
  if (effort !== undefined) return { kind: 'effort', effort };
  return thinking === 'on' ? { kind: 'adaptive' } : undefined;
}

/** Some clients name the tool in its result, as the wire had it for functions: its call does so. */
function withoutResultNames(
  messages: readonly JsonObject[],
  receipt: Receipt,
): readonly JsonObject[] {
  if (!messages.some(({ role, name }) => role === 'tool' && name !== undefined)) return messages;
  const names = new Map<string | undefined, string | undefined>();
  return messages.map((message) => {
    for (const call of objectsOf(message.tool_calls)) {
      names.set(textOf(call.id), textOf(holderOf(call)?.name));
    }
    const { name, ...nameless } = message;
    if (message.role !== 'tool' || name === undefined) return message;
    if (name !== names.get(textOf(message.tool_call_id))) {
      receipt.add('dropped', 'messages', told`The upstream takes no names of results.`);
    }
    return nameless;
  });
}

function withoutName(message: JsonObject, receipt: Receipt): JsonObject {
  if (message.name === undefined) return message;
  const { name: _name, ...nameless } = message;
  receipt.add('dropped', 'messages', told`The upstream takes no names of who speaks.`);
  return nameless;
}

const THOUGHT_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Thoughts in the one field the upstream reads, remembered ones where the client kept none; none of our own words. */
function patchThoughts(
  message: JsonObject,
  target: PatchTarget,
  quirks: ChatProfile['quirks'],
): JsonObject {
  if (message.role !== 'assistant') return message;
  const { extra_content: _signature, images, ...own } = message;
  if (itemsOf(images).length > 0) {
    const reason = told`What the model drew or spoke cannot be sent back.`;
    target.receipt.add('dropped', 'messages', reason);
  }
  if (quirks.ownFields?.includes('prefix') === false) {
    if (own.prefix === true) target.receipt.add('dropped', 'messages', NO_PREFIX);
    delete own.prefix;
  }
  const carried = thoughtsIn(own, quirks);
  for (const name of THOUGHT_FIELDS) delete own[name];
  if (Array.isArray(own.tool_calls)) {
    own.tool_calls = own.tool_calls.map((call) => withOwnSignature(call, target));
  }
  const field = fieldToSend(own, target, quirks);
  if (field !== undefined) {
    return { ...own, ...reasoningFields(thoughtsToSend(own, carried, target), field) };
  }
  if (carried.length > 0) {
    target.receipt.add('dropped', 'messages', told`The upstream takes no earlier thoughts.`);
  }
  return own;
}

/** Clients have a name of their own for thoughts: how the service called them is remembered of the call. */
function fieldToSend(
  message: JsonObject,
  target: PatchTarget,
  { sendsReasoning }: ChatProfile['quirks'],
): ReasoningField | undefined {
  if (sendsReasoning === 'as-told' && target.signatures === 'stripped') return undefined;
  return fieldFor(rememberedOf(message, target), sendsReasoning);
}

const NO_PREFIX = told`The upstream has no such field.`;

/**
 * As the client carried them; as they are remembered of the call where it kept none, the words alone or the last piece
 * alone, as the official accumulator does (`openai` lib/ChatCompletionStream), or where they were refused; unsigned
 * where that was too.
 */
function thoughtsToSend(
  message: JsonObject,
  carried: readonly Reasoning[],
  target: PatchTarget,
): readonly Reasoning[] {
  const { signatures } = target;
  const remembered = rememberedOf(message, target);
  const isCut = carried.some(isLastPiece) || isPartOf(carried, remembered);
  const isWhole = carried.length > 0 && !isCut;
  if (signatures === 'carried' && isWhole) return carried;
  if (signatures === 'carried' || signatures === 'remembered') {
    return remembered.length > 0 ? remembered : carried;
  }
  const known = isWhole || remembered.length === 0 ? carried : remembered;
  if (known.some(({ details }) => details !== undefined)) {
    target.receipt.add('dropped', 'messages', SIGNATURES_REFUSED);
  }
  return known.map(({ details: _signed, ...unsigned }) => unsigned);
}

const SIGNATURES_REFUSED = told`The upstream refused the thought signatures of this conversation.`;

/** Streams tell the signature behind the text that it is for. */
function isLastPiece({ details }: Reasoning): boolean {
  return objectsOf(details).some(
    ({ type, text, signature }) =>
      type === 'reasoning.text' && textOf(signature) !== undefined && !textOf(text),
  );
}

function textOfAll(thoughts: readonly Reasoning[]): string {
  return thoughts.map(({ text }) => text).join('');
}

/** The end of the words, or the words without their details. */
function isPartOf(carried: readonly Reasoning[], whole: readonly Reasoning[]): boolean {
  const [said, all] = [textOfAll(carried), textOfAll(whole)];
  if (said === all) return carried.every(({ details }) => details === undefined);
  return all.endsWith(said);
}

/**
 * Functions in the form the wire has now; tools of other kinds are the service's own, or another's. One without a name is
 * left out beside others; a request whose tools have none means something else than it says.
 */
function patchTools(tools: JsonValue, receipt: Receipt, quirks: ChatQuirks): JsonValue[] {
  let nameless: string | undefined;
  const patched = itemsOf(tools).flatMap((tool, at): JsonValue[] => {
    if (!isJsonObject(tool)) return [tool];
    const type = textOf(tool.type) ?? 'function';
    if (type === 'function') {
      const declared = patchFunction(tool, quirks);
      if (declared !== undefined) {
        noteBeside(tool, `tools[${at}]`, receipt);
        return [declared];
      }
      nameless ??= `tools[${at}].function.name`;
      receipt.add('dropped', `tools[${at}]`, told`A tool without a name cannot be called.`);
      return [];
    }
    const isOwn = quirks.ownTools?.some((own) => type.startsWith(own)) ?? true;
    if (type === 'custom') return [nestedCustom(tool)];
    if (isOwn) return [tool];
    const reason = told`Tools of type "${type}" are not available.`;
    receipt.add('dropped', `tools[${at}]`, reason);
    return [];
  });
  if (patched.length === 0 && nameless !== undefined) {
    throw invalidRequest(nameless, `${nameless} is required.`, 'missing-field');
  }
  return patched;
}

/** Fields of a tool, and what clients of other protocols say beside them, which asks for nothing. */
const TOOL_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'function', 'cache_control', 'defer_loading'],
]);

/** Beside its function a tool says nothing; one that is written flat is the function itself. */
function noteBeside(tool: JsonObject, path: string, receipt: Receipt): void {
  if (!isJsonObject(tool.function)) return;
  for (const field of Object.keys(tool)) {
    if (TOOL_FIELDS.has(field)) continue;
    receipt.add('dropped', `${path}.${field}`, told`The upstream has no such field.`);
  }
}

function patchFunction(tool: JsonObject, { takesCacheMarks }: ChatQuirks): JsonObject | undefined {
  const { type: _type, function: inner, cache_control: mark, ...flat } = tool;
  const { input_schema: foreign, ...own }: JsonObject = { ...(objectOf(inner) ?? flat) };
  if (textOf(own.name) === undefined) return undefined;
  // The word of Messages.
  if (foreign !== undefined) own.parameters ??= foreign;
  for (const field in own) if (own[field] === null) delete own[field];
  const { parameters } = own;
  const isSchema = isJsonObject(parameters) || typeof parameters === 'boolean';
  if (isSchema) own.parameters = toParameters(parameters);
  const marked = takesCacheMarks && mark !== undefined ? { cache_control: mark } : {};
  return { type: 'function', function: own, ...marked };
}

/** A choice names one tool, or holds those that it allows. */
function mapChosen(choice: JsonValue, change: (chosen: JsonValue) => JsonValue): JsonValue {
  const allowed = allowedIn(choice);
  if (!isJsonObject(choice) || allowed === undefined) return change(choice);
  return { ...choice, allowed_tools: { ...allowed, tools: itemsOf(allowed.tools).map(change) } };
}

function allowedIn(choice: JsonValue | undefined): JsonObject | undefined {
  return objectOf(objectOf(choice)?.allowed_tools);
}

/** Of a service that cannot be told to choose among some. One of which nothing is known may pass the choice on. */
function offerAllowed(body: JsonObject, { takesAllowedTools, ownTools }: ChatQuirks): void {
  const allowed = allowedIn(body.tool_choice);
  if (allowed === undefined || takesAllowedTools || ownTools === undefined) return;
  const nameOf = (tool: JsonValue) => textOf(holderOf(tool)?.name) ?? objectOf(tool)?.type;
  const names = new Set(itemsOf(allowed.tools).map(nameOf));
  body.tools = itemsOf(body.tools).filter((tool) => names.has(nameOf(tool)));
  body.tool_choice = allowed.mode ?? 'auto';
}

/** The deprecated form and those of Responses and Messages name the tool beside the type. */
function nestedChoice(choice: JsonValue): JsonValue {
  const name = isJsonObject(choice) ? textOf(choice.name) : undefined;
  if (!isJsonObject(choice) || name === undefined) return choice;
  const type = keyOf(choice);
  return { type, [type]: { name } };
}

/** Responses have a custom tool, and the grammar of its format, flat. */
function nestedCustom(tool: JsonObject): JsonObject {
  const { type: _type, custom, ...flat } = tool;
  if (custom !== undefined || textOf(flat.name) === undefined) return tool;
  const { type: kind, grammar, ...own } = objectOf(flat.format) ?? {};
  const isFlat = kind === 'grammar' && grammar === undefined;
  return {
    type: 'custom',
    custom: isFlat ? { ...flat, format: { type: kind, grammar: own } } : flat,
  };
}

/** Names of functions as translated requests have them on this wire; answers find the way back by the same rule. */
function patchNames(body: JsonObject, receipt: Receipt): void {
  const callsOf = ({ tool_calls }: JsonObject) => itemsOf(tool_calls);
  const calls = objectsOf(body.messages).flatMap(callsOf);
  const holders = [...itemsOf(body.tools), ...calls, body.tool_choice].map(holderOf);
  const names = acceptedNames(
    holders.flatMap((holder) => textOf(holder?.name) ?? []),
    'plain',
  );
  if (names.size === 0) return;
  const rename = (one: JsonValue): JsonValue => {
    const holder = holderOf(one);
    const name = names.get(textOf(holder?.name) ?? '');
    if (!isJsonObject(one) || name === undefined) return one;
    return { ...one, [keyOf(one)]: { ...holder, name } };
  };
  if (body.tools !== undefined) body.tools = itemsOf(body.tools).map(rename);
  if (isJsonObject(body.tool_choice)) body.tool_choice = mapChosen(body.tool_choice, rename);
  mapMessages(body, (message) =>
    Array.isArray(message.tool_calls)
      ? { ...message, tool_calls: callsOf(message).map(rename) }
      : message,
  );
  const reason = told`Upstreams refuse such a name: another is sent in its place.`;
  receipt.add('repaired', 'tools', reason);
}

/** Of a tool, a call or a choice: the object that names the function. A service's own tools have names of its own. */
function holderOf(one: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(one)) return undefined;
  const type = textOf(one.type) ?? 'function';
  return type === 'function' || type === 'custom' ? objectOf(one[type]) : undefined;
}

function keyOf({ type }: JsonObject): 'custom' | 'function' {
  return type === 'custom' ? 'custom' : 'function';
}

/** Those among the parts of the content, as Mistral has them, are taken out where the upstream has another place. */
function thoughtsIn(message: JsonObject, quirks: ChatProfile['quirks']): readonly Reasoning[] {
  const { sendsReasoning: sends, ownFields } = quirks;
  const isKnown = (sends !== undefined && sends !== 'as-told') || ownFields !== undefined;
  const isTaken = isKnown && quirks.takesThinkingParts !== true && Array.isArray(message.content);
  const parts = isTaken ? objectsOf(message.content) : [];
  const thoughts = parts.filter(({ type }) => type === 'thinking');
  const kept = parts.filter(({ type }) => type !== 'thinking');
  if (thoughts.length > 0) message.content = kept.length === 0 ? null : kept;
  const said = textOf(thoughts.map(thoughtIn).join(''));
  const text = textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? said;
  const details = objectsOf(message.reasoning_details);
  if (text === undefined && details.length === 0) return [];
  return [{ text: text ?? '', ...(details.length === 0 ? {} : { details: [...details] }) }];
}

function rememberedOf({ tool_calls }: JsonObject, target: PatchTarget): readonly Reasoning[] {
  const [call] = objectsOf(tool_calls);
  const id = textOf(call?.id);
  const name = textOf(objectOf(call?.function)?.name);
  if (id === undefined || name === undefined) return [];
  const json = (): string => textOf(objectOf(call?.function)?.arguments) ?? '';
  const history = target.recall.lookup(historyKey({ id, name }, json))?.history;
  return history?.family === target.capabilities.signatureFamily ? history.parts : [];
}

/** With a signature that the upstream itself gave, also where the client dropped it; those of others are not known there. */
function withOwnSignature(call: JsonValue, target: PatchTarget): JsonValue {
  if (!isJsonObject(call)) return call;
  // Streams number their calls, and clients return the number with them.
  const { extra_content: _signature, index: _index, ...own } = call;
  const value = ownSignature(call, target);
  return value === undefined ? own : { ...own, ...writeSignature(value) };
}

function ownSignature(
  call: JsonObject,
  { recall, receipt, capabilities, signatures }: PatchTarget,
): string | undefined {
  const given = signatureIn(call);
  const key = {
    kind: 'call',
    id: textOf(call.id) ?? '',
    name: textOf(holderOf(call)?.name) ?? '',
  } as const;
  const known = [
    given === undefined ? undefined : recall.lookup({ kind: 'value', value: given }),
    recall.lookup(key),
  ].find((entry) => entry?.signature?.family === capabilities.signatureFamily);
  if (known !== undefined && signatures !== 'stripped') return known.signature?.value;
  if (given !== undefined && readCarrier(given) !== undefined) {
    receipt.add('dropped', 'messages', told`The upstream takes no signatures of calls.`);
  }
  return undefined;
}

/** Messages that need nothing stay the same objects. */
function patchMessages(
  messages: JsonValue | undefined,
  { receipt, capabilities }: Pick<EncodeTarget, 'receipt' | 'capabilities'>,
  { takesCacheMarks }: Pick<ChatQuirks, 'takesCacheMarks'>,
): JsonObject[] {
  const withKnownParts = takesCacheMarks ? withPlainParts : withoutMarks;
  const isBlind = capabilities.refusesMedia?.includes('image') === true;
  const plain = objectsOf(messages).map((message, at) =>
    withWholeCalls(
      liftAnswer(withKnownParts(withoutNothing(message)), `messages[${at}]`, receipt),
      `messages[${at}]`,
      receipt,
    ),
  );
  const shown = isBlind ? plain.map(withoutPictures) : plain;
  for (const [at, message] of shown.entries()) {
    if (message !== plain[at]) receipt.add('dropped', 'messages', NO_PICTURES);
  }
  return moveMedia(pairResults(shown, receipt), receipt);
}

/** What a message may hold in place of a content. */
const INSTEAD = ['tool_calls', 'function_call', 'refusal', 'audio'];

/** What answers say even where it is nothing; services that know no such field refuse it (Groq: "property … is unsupported"). */
const OFTEN_NOTHING = ['refusal', 'annotations', 'audio', 'function_call', 'parsed'];

/** Hugging Face's clients write null, and Mistral's a list without parts, which strict servers refuse. */
function withoutNothing(message: JsonObject): JsonObject {
  const { name, tool_calls: calls, content } = message;
  const hasNoCalls = calls !== undefined && isNothing(calls);
  const isEmpty = Array.isArray(content)
    ? content.length === 0
    : content === null && INSTEAD.every((field) => isNothing(message[field]));
  // What helpers of SDKs parsed an answer into stands beside the text it was parsed from.
  const isIdle = (field: string): boolean =>
    field in message && (field === 'parsed' || isNothing(message[field]));
  if (name !== null && !hasNoCalls && !isEmpty && !OFTEN_NOTHING.some(isIdle)) return message;
  const { name: _name, tool_calls: _calls, content: _content, ...rest } = message;
  for (const field of OFTEN_NOTHING) if (isIdle(field)) delete rest[field];
  return {
    ...rest,
    ...(content !== undefined && { content: isEmpty ? '' : content }),
    ...(name != null && { name }),
    ...(calls !== undefined && !hasNoCalls && { tool_calls: calls }),
  };
}

function isNothing(value: JsonValue | undefined): boolean {
  return (value ?? null) === null || (Array.isArray(value) && value.length === 0);
}

/** Marks for caches are other upstreams'. */
function withoutMarks(message: JsonObject): JsonObject {
  return mapParts(withoutMark(message), (part) => plainPart(withoutMark(part)));
}

function withoutMark(holder: JsonObject): JsonObject {
  if (holder.cache_control === undefined) return holder;
  const { cache_control: _mark, ...rest } = holder;
  return rest;
}

function withPlainParts(message: JsonObject): JsonObject {
  return mapParts(message, plainPart);
}

/** The words of Responses for parts that this wire has as well. */
const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['input_image', 'image_url'],
]);

/** Clients mix in the words of the Responses protocol, where the address and the detail of a picture stand bare. */
function plainPart(part: JsonObject): JsonObject {
  const word = OWN_WORDS.get(textOf(part.type) ?? '');
  const own = word === undefined ? part : inWord(part, word);
  const url = textOf(part.image_url);
  if (url === undefined) return own;
  const { detail, ...rest } = own;
  return { ...rest, image_url: { url, ...(detail !== undefined && { detail }) } };
}

function inWord(part: JsonObject, type: string): JsonObject {
  const { annotations: _sources, logprobs: _ratings, ...own } = part;
  return { ...own, type };
}

function mapParts(message: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  if (!Array.isArray(message.content)) return message;
  const content = mapItems(message.content, (part) => (isJsonObject(part) ? change(part) : part));
  return content === message.content ? message : { ...message, content };
}

/** What an answer says beside its text, and whether a message that goes up has a place for it. */
const ANSWER_FIELDS: Readonly<Record<string, 'carried' | 'left'>> = {
  refusal: 'carried',
  reasoning: 'carried',
  reasoning_content: 'carried',
  reasoning_details: 'carried',
  annotations: 'left',
  audio: 'left',
  tool_calls: 'left',
  role: 'left',
};

/** `@openai/agents` hands a whole answer back on the part that holds its text: what that says is the message's. */
function liftAnswer(message: JsonObject, path: string, receipt: Receipt): JsonObject {
  const parts = message.role === 'assistant' ? itemsOf(message.content) : [];
  if (!parts.some((part) => answerIn(part).length > 0)) {
    return message;
  }
  const lifted: JsonObject = { ...message };
  lifted.content = parts.map((part, at) => {
    const own = { ...objectOf(part) };
    const answer = answerIn(part);
    for (const [field, said] of answer) {
      delete own[field];
      if (!said || isDeepStrictEqual(said, [])) continue;
      if (ANSWER_FIELDS[field] === 'carried') lifted[field] ??= said;
      if (isDeepStrictEqual(lifted[field], said)) continue;
      const reason = told`The upstream has no such field.`;
      receipt.add('dropped', `${path}.content[${at}].${field}`, reason);
    }
    return answer.length === 0 ? part : own;
  });
  return lifted;
}

/** A part that is a refusal has that field of its own. */
function answerIn(part: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(part)) return [];
  return Object.entries(part).filter(
    ([field]) => Object.hasOwn(ANSWER_FIELDS, field) && field !== part.type,
  );
}

/** Some clients leave out the type of a call or its arguments, write these as an object, or hand back what an SDK parsed. */
function withWholeCalls(message: JsonObject, path: string, receipt: Receipt): JsonObject {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  const whole = mapItems(calls, (call, at) => {
    const named = isJsonObject(call) ? objectOf(call.function) : undefined;
    if (!isJsonObject(call) || named === undefined) return call;
    const { arguments: given = null, parsed_arguments: parsed, ...own } = named;
    const isBlank = given === null || (typeof given === 'string' && given.trim() === '');
    const text = isJsonObject(given) ? JSON.stringify(given) : isBlank ? '{}' : given;
    if (text === given && call.type !== undefined && parsed === undefined) return call;
    if (isJsonObject(given)) {
      const place = `${path}.tool_calls[${at}].function.arguments`;
      receipt.add('repaired', place, told`Arguments are JSON text; the object was taken as it is.`);
    }
    return { ...call, type: call.type ?? 'function', function: { ...own, arguments: text } };
  });
  return whole === calls ? message : { ...message, tool_calls: whole };
}

/**
 * Every call has its result right behind it, and one alone: late ones are moved up, missing ones told as such. Results
 * to no call are the client's mistake, which the upstream names.
 */
function pairResults(messages: readonly JsonObject[], receipt: Receipt): readonly JsonObject[] {
  if (messages.every(({ role, tool_calls: calls }) => role !== 'tool' && !calls)) return messages;
  const results = new OpenResults();
  for (const message of messages) {
    if (message.role === 'tool') results.add(textOf(message.tool_call_id) ?? '', message);
  }
  const called = new Set<string>();
  const paired: JsonObject[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!called.has(textOf(message.tool_call_id) ?? '')) paired.push(message);
      continue;
    }
    paired.push(message);
    for (const { id } of objectsOf(message.tool_calls)) {
      const callId = textOf(id) ?? '';
      called.add(callId);
      paired.push(results.take(callId, receipt) ?? missingResult(callId));
    }
  }
  results.noteLeft(called, receipt);
  const isSame = unlessSame(paired, messages) === messages;
  if (!isSame && paired.length === messages.length) {
    receipt.add('repaired', 'messages', told`Results of tool calls were moved behind their calls.`);
  }
  return paired;
}

function missingResult(callId: string): JsonObject {
  return { role: 'tool', tool_call_id: callId, content: 'Error: no result' };
}

/** Pictures of results stand in a user message behind the last result of the step. */
function moveMedia(messages: readonly JsonObject[], receipt: Receipt): JsonObject[] {
  const moved: JsonObject[] = [];
  let waiting: JsonObject[] = [];
  const release = (): void => {
    if (waiting.length > 0) moved.push({ role: 'user', content: waiting });
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') release();
    const parts = message.role === 'tool' ? objectsOf(message.content) : [];
    const media = parts.filter(({ type }) => type !== 'text');
    if (media.length === 0) {
      moved.push(message);
      continue;
    }
    const reason = told`Media of tool results are in the user message after them.`;
    receipt.add('approximated', 'messages', reason);
    const texts = parts.filter(({ type }) => type === 'text').map(({ text }) => textOf(text) ?? '');
    const content = texts.join('\n') || 'The result is in the next message.';
    moved.push({ ...message, content });
    waiting.push(...media);
  }
  release();
  return moved;
}

// Edits a native body for one upstream model: only what that model, or this upstream, needs different is touched.

import type { Effort, ReasoningAmount } from '../../canonical/effort.ts';
import {
  amountOfWord,
  applyThinkingMode,
  BUDGET_KEYS,
  LEVEL_KEYS,
  tokensOfAmount,
} from '../../canonical/effort.ts';
import { findOtherType } from '../../canonical/media.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import {
  type PlacedSignature,
  readCarrier,
  type SignatureRecall,
  type SignatureTrust,
  trustOf,
} from '../../canonical/signatures.ts';
import { leaveThread } from '../../canonical/threads.ts';
import { mapItems, unlessSame } from '../../lib/collections.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  writtenValue,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf, usedKey } from '../../lib/read-values.ts';
import { toDraft } from '../../schema/draft.ts';
import { withoutBillingLine } from '../../transforms/instructions.ts';
import { fitOutputLimit } from '../../transforms/limit-output.ts';
import { SERVER_TOOLS } from '../../wire/messages.ts';
import type { PatchTarget } from '../upstream.ts';
import { OpenResults } from '../wire-parts.ts';
import {
  dropBeforeForcedCall,
  dropBesideThinking,
  dropSecondSampling,
  encodeThinking,
  isForcedCall,
  isThought,
  manualBudget,
  nearestEffort,
  THOUGHT_ALONE,
  thinksLeast,
  withoutLostThinking,
} from './encode-config.ts';
import { CallIds, callInWords, TOLD_TO_CALL } from './encode-tools.ts';
import { traitsOf } from './models.ts';
import type { MessagesProfile } from './profiles.ts';
import { toInputSchema } from './schema.ts';

/** What only this gateway understands, at the top of a body. */
const OWN_FIELDS = ['imageSize', 'size', 'quality'];

/** The body to send: what stays as it was is shared. Patching a patched body changes nothing. */
export function patch(
  given: JsonObject,
  target: PatchTarget,
  { readsBillingLine, keepsThreads }: Pick<MessagesProfile, 'readsBillingLine' | 'keepsThreads'>,
): JsonObject {
  const { modelId, receipt, variant } = target;
  const body = withLeadingInstructions(given);
  const patched: JsonObject = { ...body, model: modelId };
  if (!keepsThreads && isJsonObject(body.thread)) {
    leaveThread(body.thread, receipt);
    delete patched.thread;
  }
  for (const field of OWN_FIELDS) {
    if (patched[field] === undefined) continue;
    receipt.add('dropped', field, told`This model draws no images.`);
    delete patched[field];
  }
  if (Array.isArray(body.messages)) {
    const said = withNamedPictures(withoutBlankMessages(body.messages), receipt);
    patched.messages = fitCallIds(patchMessages(pairResults(said, receipt), target));
  }
  if (body.system !== undefined) {
    const said = saidIn(readsBillingLine ? body.system : cacheable(body.system, receipt));
    if (said === undefined) delete patched.system;
    else patched.system = said;
  }
  if (Array.isArray(body.tools)) patched.tools = patchTools(body.tools, target);
  if (variant.webSearch) patched.tools = withSearch(patched.tools);
  if (itemsOf(patched.tools).length === 0) dropIdleChoice(patched);
  fitDemand(patched, target);
  patchLimit(patched, target);
  patchThinking(patched, target);
  dropSecondSampling(patched, target);
  const left = settleThinking(patched, target);
  if (isThinking(given) && !isThinking(left)) dropThoughtEdits(left, receipt);
  return left;
}

/** Thinking goes where the conversation does not allow it, and what the wire refuses beside it where it stays. */
function settleThinking(body: JsonObject, target: PatchTarget): JsonObject {
  const { modelId, receipt, usesPlaceholders } = target;
  if (usesPlaceholders && objectOf(body.thinking)?.type === 'enabled') {
    receipt.add(
      'approximated',
      'thinking',
      told`Off: the upstream reports that earlier thoughts are missing.`,
    );
    delete body.thinking;
  }
  const left = withoutLostThinking(body, receipt);
  // Models of other makers are left to say themselves what they refuse beside thinking.
  if (traitsOf(modelId).version === undefined) return left;
  dropBeforeForcedCall(left, receipt);
  if (isThinking(left)) dropBesideThinking(left, receipt);
  return left;
}

function isThinking({ thinking }: JsonObject): boolean {
  const { type = 'disabled' } = objectOf(thinking) ?? {};
  return type !== 'disabled';
}

/** "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive": it was, until it was left out here. */
function dropThoughtEdits(body: JsonObject, receipt: Receipt): void {
  const { edits, ...rest } = objectOf(body.context_management) ?? {};
  const clearsThoughts = (edit: JsonValue): boolean =>
    textOf(objectOf(edit)?.type)?.startsWith('clear_thinking') === true;
  const kept = itemsOf(edits).filter((edit) => !clearsThoughts(edit));
  if (kept.length === itemsOf(edits).length) return;
  receipt.add(
    'dropped',
    'context_management.edits',
    told`Nothing is thought that could be cleared.`,
  );
  if (kept.length > 0) body.context_management = { ...rest, edits: kept };
  else delete body.context_management;
}

/** `first message must use the "user" role`: those before it become instructions of the request. */
function withLeadingInstructions(body: JsonObject): JsonObject {
  const messages = itemsOf(body.messages);
  const start = messages.findIndex((message) => objectOf(message)?.role !== 'system');
  if (start < 1) return body;
  const leading = objectsOf(messages.slice(0, start));
  const system = [body.system, ...leading.map(({ content }) => content)].flatMap(asBlocks);
  const isPlain = leading.every((message) => Object.keys(message).length === 2);
  if (!isPlain || objectsOf(system).some(({ type }) => type !== 'text')) return body;
  return { ...body, system, messages: [...messages.slice(start)] };
}

function asBlocks(content: JsonValue | undefined): readonly JsonValue[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : itemsOf(content);
}

function cacheable(system: JsonValue, receipt: Receipt): JsonValue {
  const blocks = objectsOf([...asBlocks(system)]);
  const left = withoutBillingLine(blocks, receipt);
  if (left === blocks) return system;
  return typeof system === 'string' ? (textOf(left[0]?.text) ?? '') : [...left];
}

/** Without messages that say nothing: the wire refuses them, and a client sends them again with each turn. */
function withoutBlankMessages(messages: JsonValue[]): JsonValue[] {
  const said = mapItems(messages, (message) => {
    if (!isJsonObject(message) || message.content === undefined) return message;
    const content = saidIn(message.content);
    if (content === message.content) return message;
    return content === undefined ? undefined : { ...message, content };
  });
  return said.length === 0 ? messages : said;
}

/** What is left without blank texts, also in results of tools; undefined when that is nothing. */
function saidIn(content: JsonValue): JsonValue | undefined {
  if (typeof content === 'string') return content.trim() === '' ? undefined : content;
  if (!Array.isArray(content)) return content;
  const said = withoutBlanks(content);
  return said.length === 0 ? undefined : said;
}

function withoutBlanks(blocks: JsonValue[]): JsonValue[] {
  return mapItems(blocks, (block) => {
    if (!isJsonObject(block)) return block;
    const { type, text, content } = block;
    if (type === 'text') return saidIn(text ?? '') === undefined ? undefined : block;
    if (type !== 'tool_result' || !Array.isArray(content)) return block;
    const inner = withoutBlanks(content);
    if (inner === content) return block;
    // "content cannot be empty if `is_error` is true"
    const isBare = inner.length === 0 && block.is_error === true;
    return { ...block, content: isBare ? 'no result' : inner };
  });
}

/**
 * "Image does not match the provided media type": clients go by the ending of a file's name, and send the picture again
 * with each turn.
 */
function withNamedPictures(messages: JsonValue[], receipt: Receipt): JsonValue[] {
  return mapItems(messages, (message) => {
    if (!isJsonObject(message) || message.role !== 'user') return message;
    if (!Array.isArray(message.content)) return message;
    const content = namePictures(message.content, receipt);
    return content === message.content ? message : { ...message, content };
  });
}

function namePictures(blocks: JsonValue[], receipt: Receipt): JsonValue[] {
  return mapItems(blocks, (block) => {
    if (!isJsonObject(block)) return block;
    const { type, content } = block;
    if (type === 'tool_result' && Array.isArray(content)) {
      const inner = namePictures(content, receipt);
      return inner === content ? block : { ...block, content: inner };
    }
    const source = type === 'image' ? objectOf(block.source) : undefined;
    const data = textOf(source?.data);
    if (data === undefined || !BASE64_START.test(data)) return block;
    const found = findOtherType(data, textOf(source?.media_type));
    if (found === undefined) return block;
    receipt.add('repaired', 'messages', told`The bytes of a picture are of type ${found}.`);
    return { ...block, source: { ...source, media_type: found } };
  });
}

const BASE64_START = /^[A-Za-z\d+/]{16}/;

/** Drafts before 2020-12, which is the one the wire takes. */
const OLDER_DRAFT = /\bdraft-?0[3467]\b|\bdraft\/2019-09\b/;

/** Inputs of tools in the words of an older draft are said in those of the wire: libraries still write them. */
function patchTools(tools: JsonValue[], { receipt }: PatchTarget): JsonValue[] {
  return mapItems(tools, (tool, index) => {
    const schema = objectOf(objectOf(tool)?.input_schema);
    if (!isJsonObject(tool) || schema === undefined) return tool;
    if (!OLDER_DRAFT.test(textOf(schema.$schema) ?? '')) return tool;
    const path = `tools[${index}].input_schema`;
    const { $schema: _draft, ...input_schema } = toInputSchema(schema, { receipt, path });
    if (toDraft(schema) !== schema) {
      receipt.add('repaired', path, told`The schema was written in the draft the upstream takes.`);
    }
    return { ...tool, input_schema };
  });
}

/** "tool_choice may only be specified while providing tools.": some clients always write it. */
function dropIdleChoice(body: JsonObject): void {
  const { type } = objectOf(body.tool_choice) ?? {};
  if (type === 'auto' || type === 'none') delete body.tool_choice;
}

/** A call that is demanded of a model that decides itself: it is offered what was chosen, and told to call. */
function fitDemand(body: JsonObject, { modelId, receipt }: PatchTarget): void {
  if (!isForcedCall(body.tool_choice) || traitsOf(modelId).takesForcedCalls) return;
  const { type: _type, name, ...rest } = objectOf(body.tool_choice) ?? {};
  const chosen = textOf(name);
  body.tool_choice = { ...rest, type: 'auto' };
  if (chosen !== undefined) {
    body.tools = itemsOf(body.tools).filter((tool) => objectOf(tool)?.name === chosen);
  }
  const words = callInWords(chosen === undefined ? [] : [chosen]);
  body.system = [...asBlocks(body.system), { type: 'text', text: words }];
  receipt.add('approximated', 'tool_choice', TOLD_TO_CALL);
}

/** The search that the name of the model asks for. */
function withSearch(tools: JsonValue | undefined): JsonValue[] {
  const search = { ...SERVER_TOOLS['web-search'] };
  const given = itemsOf(tools);
  const isThere = objectsOf(tools).some(({ name }) => name === search.name);
  return isThere ? [...given] : [...given, search];
}

/** Clients ask for as much as the model they think of writes. */
function patchLimit(body: JsonObject, { capabilities, receipt }: PatchTarget): void {
  const { outputTokenLimit } = capabilities;
  const asked = readNumber(body.max_tokens);
  if (asked === undefined || asked <= outputTokenLimit) return;
  receipt.add('capped', 'max_tokens', told`This model writes at most ${outputTokenLimit} tokens.`);
  body.max_tokens = outputTokenLimit;
}

/** An amount of thinking is changed where the model takes another form of it, or the operator decides. */
function patchThinking(body: JsonObject, target: PatchTarget): void {
  const { capabilities, receipt, variant } = target;
  moveBudget(body);
  moveEffort(body);
  const said = amountIn(body);
  const effort = effortIn(body);
  fitEffort(body, target);
  const limit = readNumber(body.max_tokens) ?? capabilities.outputTokenLimit;
  const room: Room = { limit, isForced: isForcedCall(body.tool_choice), target };
  if (said === undefined && effort === undefined) addVariant(body, variant, room);
  if (said?.kind === 'off') fitOff(body, effort, target);
  if (said === undefined || said.kind === 'off') return;
  if (capabilities.thinking.kind === 'none') {
    receipt.add('dropped', 'thinking', NO_THINKING);
    delete body.thinking;
  } else if (said.kind !== 'budget' || target.thinkingMode.kind !== 'passthrough') {
    fitAmount(body, { said, effort }, room);
  }
}

function fitOff(
  body: JsonObject,
  effort: Effort | undefined,
  { modelId, receipt }: PatchTarget,
): void {
  const { alwaysThinks, efforts } = traitsOf(modelId);
  if (!alwaysThinks) return;
  delete body.thinking;
  const [least] = efforts;
  if (effort === undefined) setEffort(body, least);
  const reason = effort === undefined ? thinksLeast(least) : told`This model cannot stop thinking.`;
  receipt.add('approximated', 'thinking', reason);
}

/** Expects a model that thinks. Models of other makers are left to say themselves what they take. */
function fitAmount(
  body: JsonObject,
  { said, effort }: { readonly said: ReasoningAmount; readonly effort: Effort | undefined },
  room: Room,
): void {
  const { capabilities, receipt, thinkingMode, modelId } = room.target;
  const { thinking } = capabilities;
  const { efforts, version } = traitsOf(modelId);
  const note = (reason: Sentence): void => receipt.add('approximated', 'thinking', reason);
  const decided = applyThinkingMode(said, { mode: thinkingMode, thinking, note });
  const isOperators = decided !== said;
  const lacksBudget = isWithoutBudget(body);
  const own = isOperators ? undefined : effort;
  if (thinking.kind === 'level') {
    const fault = budgetFault(said, room);
    if (!isOperators && !lacksBudget && fault === undefined) return;
    if (!isOperators && fault !== undefined) note(fault);
    leadByEffort(body, decided, own ?? nearestEffort(decided, efforts));
    return;
  }
  const isLarge = said.kind === 'budget' && said.tokens >= room.limit;
  const hasNoMode = decided.kind === 'adaptive' && (lacksBudget || version !== undefined);
  if (isOperators || hasNoMode || isLarge) {
    const isLed = hasNoMode && own !== undefined;
    setBudget(body, isLed ? { kind: 'effort', effort: own } : decided, room);
  }
}

/** Why a model that takes efforts cannot be sent a budget; undefined where it can, or none is said. */
function budgetFault(
  said: ReasoningAmount,
  { limit, target: { modelId } }: Room,
): Sentence | undefined {
  if (said.kind !== 'budget') return undefined;
  if (!traitsOf(modelId).takesBudgets) {
    return told`This model takes no budget; an effort takes its place.`;
  }
  return said.tokens >= limit
    ? told`The output limit does not hold the thinking budget; an effort takes its place.`
    : undefined;
}

/** A budget may be left out here; the wire demands one. */
function isWithoutBudget({ thinking }: JsonObject): boolean {
  const given = objectOf(thinking);
  return given?.type === 'enabled' && readNumber(given.budget_tokens) === undefined;
}

/** The model decides, by the effort where an amount was named. */
function leadByEffort(
  body: JsonObject,
  { kind }: ReasoningAmount,
  effort: Effort | undefined,
): void {
  setAdaptive(body);
  if (kind !== 'adaptive') setEffort(body, effort);
}

function setAdaptive(body: JsonObject): void {
  const { budget_tokens: _budget, ...thinking } = objectOf(body.thinking) ?? {};
  body.thinking = { ...thinking, type: 'adaptive' };
}

interface Room {
  readonly limit: number;
  readonly isForced: boolean;
  readonly target: PatchTarget;
}

function setBudget(
  body: JsonObject,
  amount: ReasoningAmount,
  { limit, isForced, target }: Room,
): void {
  const { capabilities, receipt } = target;
  const { thinking } = capabilities;
  const cap = thinking.kind === 'budget' ? thinking.maxTokens : capabilities.outputTokenLimit;
  const asked = tokensOfAmount(amount, cap) ?? 0;
  const space = asked < limit ? limit : roomFor(limit);
  const budget = isForced ? undefined : manualBudget(Math.min(asked, cap), space);
  if (budget === undefined) {
    receipt.add('approximated', 'thinking', NO_ROOM);
    delete body.thinking;
    return;
  }
  receipt.add(
    'approximated',
    'thinking',
    told`The thinking budget is ${budget} tokens on this model.`,
  );
  const { display } = objectOf(body.thinking) ?? {};
  const shown = display === undefined ? {} : { display };
  body.thinking = { type: 'enabled', budget_tokens: budget, ...shown };
}

/** Where the limit does not hold the thinking there has to be room for an answer beside it: half is taken. */
function roomFor(limit: number): number {
  return Math.ceil(limit / 2);
}

/** Client libraries have names of their own for it. */
function moveBudget(body: JsonObject): void {
  const thinking = objectOf(body.thinking);
  const key = thinking?.type === 'enabled' ? usedKey(thinking, BUDGET_KEYS) : undefined;
  if (thinking === undefined || key === undefined || key === 'budget_tokens') return;
  const { [key]: budget = null, ...rest } = thinking;
  body.thinking = { ...rest, budget_tokens: budget };
}

/** `thinking.effort` is this gateway's own way to say it, a level that of client libraries. */
function moveEffort(body: JsonObject): void {
  const thinking = objectOf(body.thinking);
  if (thinking === undefined) return;
  const key = thinking.effort === undefined ? usedKey(thinking, LEVEL_KEYS) : 'effort';
  if (key === undefined) return;
  const { [key]: said, ...rest } = thinking;
  const word = amountOfWord(writtenValue(said).toLowerCase());
  body.thinking = word?.kind === 'off' ? { type: 'disabled' } : rest;
  if (effortIn(body) === undefined && word?.kind === 'effort') setEffort(body, word.effort);
}

function effortIn(body: JsonObject): Effort | undefined {
  const word = textOf(objectOf(body.output_config)?.effort);
  const amount = word === undefined ? undefined : amountOfWord(word);
  return amount?.kind === 'effort' ? amount.effort : undefined;
}

function setEffort(body: JsonObject, effort: Effort | undefined): void {
  const { effort: _effort, ...config } = objectOf(body.output_config) ?? {};
  const next = effort === undefined ? config : { ...config, effort };
  if (Object.keys(next).length === 0) delete body.output_config;
  else body.output_config = next;
}

/** Known models refuse efforts they do not have. */
function fitEffort(body: JsonObject, { modelId, receipt }: PatchTarget): void {
  const asked = effortIn(body);
  const { version, efforts } = traitsOf(modelId);
  if (asked === undefined || version === undefined || efforts.includes(asked)) return;
  const effort =
    efforts.length === 0 ? undefined : nearestEffort({ kind: 'effort', effort: asked }, efforts);
  if (effort === undefined) {
    receipt.add('dropped', 'output_config.effort', told`This model takes no effort.`);
  } else {
    const reason = told`This model takes efforts only; the nearest is ${effort}.`;
    receipt.add('approximated', 'output_config.effort', reason);
  }
  setEffort(body, effort);
}

/** What the body says of thinking; undefined when it says nothing. */
function amountIn({ thinking: given }: JsonObject): ReasoningAmount | undefined {
  const thinking = objectOf(given);
  switch (thinking?.type) {
    case 'enabled': {
      const tokens = readNumber(thinking.budget_tokens);
      return tokens === undefined ? { kind: 'adaptive' } : { kind: 'budget', tokens };
    }
    case 'disabled':
      return { kind: 'off' };
    case undefined:
      return undefined;
    default:
      return { kind: 'adaptive' };
  }
}

const NO_THINKING = told`This model does not think.`;
const NO_ROOM = told`Off: this request leaves no room for thinking.`;

/** What the name of the model asks for, where the body says nothing and its answer has not begun. */
function addVariant(body: JsonObject, variant: PatchTarget['variant'], room: Room): void {
  const named: ReasoningAmount | undefined =
    variant.effort === undefined
      ? variant.thinking && { kind: 'adaptive' }
      : { kind: 'effort', effort: variant.effort };
  if (named === undefined) return;
  const { limit, isForced, target } = room;
  const { capabilities, receipt, thinkingMode: mode } = target;
  if (capabilities.thinking.kind === 'none') {
    receipt.add('dropped', 'thinking', NO_THINKING);
    return;
  }
  const note = (reason: Sentence): void => receipt.add('approximated', 'thinking', reason);
  if (objectsOf(body.messages).at(-1)?.role === 'assistant') {
    note(NO_ROOM);
    return;
  }
  const amount = applyThinkingMode(named, { mode, thinking: capabilities.thinking, note });
  // The limit of the answer follows the thinking, as the client knows of none.
  const space = { limit: Number.POSITIVE_INFINITY, isForced };
  const { thinking, effort } = encodeThinking({ amount, showThoughts: true }, space, target);
  if (thinking !== undefined) {
    body.thinking = thinking;
    body.max_tokens = fitOutputLimit(limit, readNumber(thinking.budget_tokens) ?? 0, target);
    dropBesideThinking(body, receipt);
  }
  if (effort !== undefined) setEffort(body, effort);
}

interface Walk {
  readonly target: PatchTarget;
  /** Undefined while the upstream refused nothing: all signatures of its own are trusted then. */
  readonly trust: SignatureTrust | undefined;
}

function patchMessages(messages: JsonValue[], target: PatchTarget): JsonValue[] {
  const { signatures, recall } = target;
  const carried = (): readonly PlacedSignature[] =>
    objectsOf(messages).flatMap(({ content }) =>
      objectsOf(content).flatMap(({ type, signature }) => {
        const value = type === 'thinking' ? readCarrier(textOf(signature))?.value : undefined;
        return value === undefined ? [] : [{ value }];
      }),
    );
  const walk: Walk = { target, trust: trustOf(signatures, { carried, recall }) };
  return mapItems(messages, (message, at) => {
    if (!isJsonObject(message) || message.role !== 'assistant') return message;
    const patched = patchMessage(message, walk);
    // Its turn goes on.
    if (objectOf(messages[at + 1])?.role === 'assistant') return patched;
    return withoutTrailingThoughts(patched, target.receipt);
  });
}

/** Services of other wires give ids that this one refuses, and some the same in each turn. */
function fitCallIds(messages: JsonValue[]): JsonValue[] {
  const ids = new CallIds();
  let isAssistant = false;
  return mapItems(messages, (message) => {
    if (!isJsonObject(message)) return message;
    const wasAssistant = isAssistant;
    isAssistant = message.role === 'assistant';
    if (isAssistant && !wasAssistant) ids.beginTurn();
    if (!Array.isArray(message.content)) return message;
    const content = mapItems(message.content, (block) => {
      const { type, id, tool_use_id: callId } = objectOf(block) ?? {};
      const [key, given] = type === 'tool_use' ? ['id', id] : ['tool_use_id', callId];
      if (!isJsonObject(block) || typeof given !== 'string') return block;
      if (type !== 'tool_use' && type !== 'tool_result') return block;
      const sent = type === 'tool_use' ? ids.send(given) : ids.sentOf(given);
      return sent === given ? block : { ...block, [key]: sent };
    });
    return content === message.content ? message : { ...message, content };
  });
}

/** The same object where nothing changes; undefined when nothing is left of it. */
function patchMessage(message: JsonObject, walk: Walk): JsonObject | undefined {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const madeUp = madeUpCalls(content);
  const patched = mapItems(content, (block) =>
    isJsonObject(block) ? patchBlock(block, madeUp, walk) : block,
  );
  if (patched === content) return message;
  return patched.length === 0 ? undefined : { ...message, content: patched };
}

/** The wire refuses a turn that ends in a thought. */
function withoutTrailingThoughts(
  message: JsonObject | undefined,
  receipt: Receipt,
): JsonObject | undefined {
  const content = message?.content;
  if (!Array.isArray(content)) return message;
  const end = content.findLastIndex((block) => !isThought(block));
  if (end + 1 === content.length) return message;
  receipt.add('dropped', 'messages', THOUGHT_ALONE);
  return end < 0 ? undefined : { ...message, content: content.slice(0, end + 1) };
}

/** Undefined for a block that does not go upstream. */
function patchBlock(
  block: JsonObject,
  madeUp: ReadonlySet<string>,
  walk: Walk,
): JsonObject | undefined {
  const { receipt } = walk.target;
  switch (block.type) {
    case 'thinking':
      // "thinking: Field required": some clients leave out what is empty.
      return patchThought(
        (block.thinking ?? null) === null ? { ...block, thinking: '' } : block,
        walk,
      );
    case 'redacted_thinking':
      if (walk.trust === undefined || walk.trust.recalls) return block;
      receipt.add('dropped', 'messages', REFUSED);
      return undefined;
    case 'tool_use': {
      // On a call it is this gateway's own extension.
      const { signature, ...call } = block;
      const own = signature === undefined ? block : call;
      // "tool_use.input: Field required", as of a thought without its text.
      return (own.input ?? null) === null ? { ...own, input: {} } : own;
    }
    case 'image':
      receipt.add(
        'dropped',
        'messages',
        told`The upstream takes no image in an answer of the assistant.`,
      );
      return undefined;
    case 'server_tool_use':
    case 'web_search_tool_result':
    case 'web_fetch_tool_result': {
      const id = textOf(block.type === 'server_tool_use' ? block.id : block.tool_use_id);
      if (id === undefined || !madeUp.has(id)) return block;
      receipt.add(
        'dropped',
        'messages',
        told`The results of another upstream's search mean nothing here.`,
      );
      return undefined;
    }
    case 'text':
      return withoutMadeUpCitations(block);
    default:
      return block;
  }
}

const REFUSED = told`The upstream refused the thought signatures of this conversation.`;

function patchThought(block: JsonObject, { target, trust }: Walk): JsonObject | undefined {
  const { receipt, recall, capabilities } = target;
  const given = textOf(block.signature);
  const carried = readCarrier(given);
  const drop = (reason: Sentence): undefined => {
    receipt.add('dropped', 'messages', reason);
  };
  if (given === undefined || carried === undefined) {
    const { signatureFamily: ownFamily } = capabilities;
    const key = { kind: 'thought', text: textOf(block.thinking) ?? '', family: ownFamily } as const;
    const known = trust?.recalls === false ? undefined : recall.lookup(key)?.signature;
    if (known !== undefined && (known.on ?? 'thinking') === 'thinking') {
      return { ...block, signature: known.value };
    }
    return drop(told`Thinking without a valid signature cannot be sent upstream.`);
  }
  const family = carried.family ?? issuerOf(carried.value, recall);
  // A bare one that nobody here remembers may come from the upstream itself: it is the judge.
  if (family !== undefined && family !== capabilities.signatureFamily) {
    // Where this upstream gave it itself it is a gateway as well, and names signatures as ours are.
    const isAsIssued = issuerOf(given, recall) === capabilities.signatureFamily;
    if (trust === undefined && isAsIssued) return block;
    return drop(told`A thought signature of the ${family} family means nothing here.`);
  }
  if (carried.on !== undefined && carried.on !== 'thinking') {
    return drop(told`Thinking without a valid signature cannot be sent upstream.`);
  }
  if (trust !== undefined && !trust.keeps({ value: carried.value })) return drop(REFUSED);
  return carried.value === given ? block : { ...block, signature: carried.value };
}

function issuerOf(value: string, recall: SignatureRecall): string | undefined {
  return recall.lookup({ kind: 'value', value })?.signature?.family;
}

/**
 * Ids of searches and opened pages that this gateway wrote for answers of other wires: nothing of them is encrypted, and
 * the pages are empty.
 */
function madeUpCalls(content: JsonValue[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { type, tool_use_id: id, content: results } of objectsOf(content)) {
    const isResult = type === 'web_search_tool_result' || type === 'web_fetch_tool_result';
    if (!isResult || typeof id !== 'string') continue;
    const found = objectsOf(results);
    const isMadeUp = found.length > 0 && found.every((one) => one.encrypted_content === '');
    const page = objectOf(objectOf(objectOf(results)?.content)?.source);
    if (isMadeUp || page?.data === '' || OLDER_ID.test(id)) ids.add(id);
  }
  return ids;
}

/** As this gateway once wrote them, with hyphens, which the wire refuses (API reference, `ServerToolUseBlock`). */
const OLDER_ID = /^srvtoolu_\w*-/;

function withoutMadeUpCitations(block: JsonObject): JsonObject {
  const { citations, ...text } = block;
  const isMadeUp = objectsOf(citations).some((one) => one.encrypted_index === '');
  return isMadeUp ? text : block;
}

/** Moves late results up, and adds an error for each missing one. A result of no call is the client's mistake, which the upstream names. */
function pairResults(messages: JsonValue[], receipt: Receipt): JsonValue[] {
  const turns = turnsOf(messages);
  const called = new Set(turns.flatMap(callIdsOf));
  if (called.size === 0) return messages;
  const results = new OpenResults();
  for (const block of turns.flatMap(blocksOf)) {
    const id = answeredBy(block, called);
    if (id !== undefined && isJsonObject(block)) results.add(id, block);
  }
  const paired: JsonValue[] = [];
  let open: readonly string[] = [];
  const answer = (): void => {
    if (open.length === 0) return;
    const content = open.map((id) => movedResult(id, results, receipt));
    paired.push({ role: 'user', content });
  };
  for (const turn of turns) {
    const isInPlace = turn.role === 'user' && answersFirst(turn, open, called);
    if (isInPlace) for (const id of open) results.take(id, receipt);
    else answer();
    for (const message of isInPlace ? turn.messages : withoutResults(turn.messages, called)) {
      paired.push(message);
    }
    open = callIdsOf(turn);
  }
  answer();
  results.noteLeft(called, receipt);
  return unlessSame(paired, messages);
}

/** Neighbouring messages of one role, which the wire takes for one turn. */
interface Turn {
  readonly role: string | undefined;
  readonly messages: readonly JsonValue[];
}

function turnsOf(messages: readonly JsonValue[]): readonly Turn[] {
  const turns: { readonly role: string | undefined; readonly messages: JsonValue[] }[] = [];
  for (const message of messages) {
    const role = textOf(objectOf(message)?.role);
    const last = turns.at(-1);
    if (last?.role === role) last?.messages.push(message);
    else turns.push({ role, messages: [message] });
  }
  return turns;
}

function blocksOf({ messages }: Turn): readonly JsonValue[] {
  return messages.flatMap((message) => {
    const content = objectOf(message)?.content;
    return typeof content === 'string' ? [content] : itemsOf(content);
  });
}

function callIdsOf(turn: Turn): readonly string[] {
  if (turn.role !== 'assistant') return [];
  return blocksOf(turn).flatMap((block) => {
    const { type, id } = objectOf(block) ?? {};
    return type === 'tool_use' ? (textOf(id) ?? []) : [];
  });
}

/** The call that a block is the result of, if it is there. */
function answeredBy(block: JsonValue, called: ReadonlySet<string>): string | undefined {
  const { type, tool_use_id: given } = objectOf(block) ?? {};
  const id = type === 'tool_result' ? textOf(given) : undefined;
  return id !== undefined && called.has(id) ? id : undefined;
}

/** True where the turn begins with one result to each of the calls, and has no other of theirs. */
function answersFirst(turn: Turn, ids: readonly string[], called: ReadonlySet<string>): boolean {
  const blocks = blocksOf(turn);
  const given = blocks.map((block) => answeredBy(block, called));
  const known = given.filter((id) => id !== undefined);
  const end = blocks.findLastIndex((_block, at) => given[at] !== undefined);
  const isFirst = blocks
    .slice(0, end + 1)
    .every((block) => objectOf(block)?.type === 'tool_result');
  const answered = new Set(known);
  return isFirst && known.length === ids.length && ids.every((id) => answered.has(id));
}

/** The result of a call, which goes behind it from where it stood. */
function movedResult(id: string, results: OpenResults, receipt: Receipt): JsonObject {
  const found = results.take(id, receipt);
  if (found === undefined) {
    return { type: 'tool_result', tool_use_id: id, is_error: true, content: 'no result' };
  }
  receipt.add('repaired', 'messages', told`The result of ${id} was moved behind its call.`);
  return found;
}

/** Messages of which nothing is left go as well. */
function withoutResults(
  messages: readonly JsonValue[],
  called: ReadonlySet<string>,
): readonly JsonValue[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block) => answeredBy(block, called) === undefined);
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

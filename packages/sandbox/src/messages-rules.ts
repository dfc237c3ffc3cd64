// What a request of the Messages wire must satisfy: its shape, then its meaning, topic by topic. The first fault ends the check.

import { type JsonValue, written } from './json.ts';
import { findOpenness, findSchemaFault } from './json-schema.ts';
import { BASE64, sniffMediaType } from './media-bytes.ts';
import {
  type Block,
  blocksOf,
  type Message,
  type MessagesRequest,
  type MessagesTool,
  requestShape,
  WEB_ERROR,
  WEB_RESULTS,
} from './messages-wire.ts';
import { findFault, type Shape, type ShapeFault, type Step } from './shapes.ts';
import type { Seals } from './state.ts';
import { WireError } from './wire-errors.ts';
import type { MessagesModel } from './wire-models.ts';

/** Of the second, sampling is the model's own business. */
export const MESSAGES_VERSIONS = ['2023-06-01', '2026-10-21'] as const;
type MessagesVersion = (typeof MESSAGES_VERSIONS)[number];

export interface MessagesContext {
  readonly kind: 'create' | 'count';
  /** Of `anthropic-version`. */
  readonly version: MessagesVersion;
  /** The flags of `anthropic-beta`. */
  readonly betas: readonly string[];
  readonly seals: Seals;
}

/** @throws WireError 400 naming the first field that is not as the wire has it. */
export function readMessagesRequest(
  body: JsonValue,
  { kind, betas }: MessagesContext,
): MessagesRequest {
  requireShape(body, requestShape(kind, betas), []);
  // The one narrowing: the shape was just checked, and the interface says the same of it.
  return body as unknown as MessagesRequest;
}

/** @throws WireError 400 */
export function checkMessagesRequest(
  request: MessagesRequest,
  model: MessagesModel,
  context: MessagesContext,
): void {
  if (context.version === '2026-10-21') refuseSampling(request);
  checkMessages(request, context);
  checkPairs(turnsOf(request.messages));
  checkTools(request);
  checkFormat(request);
  checkCacheMarks(request);
  checkSampling(request, model);
  checkThinking(request, model, context);
  checkPrefill(request, model);
}

/** @throws WireError 400 `<path>: <what>`; the path is empty for the whole request. */
function refuse(path: string, what: string): never {
  throw new WireError(400, path === '' ? what : `${path}: ${what}`);
}

function requireShape(value: JsonValue, shape: Shape, path: readonly Step[]): void {
  const fault = findFault(value, shape, path);
  if (fault !== undefined) refuse(pathOf(fault.path), describeFault(fault));
}

function pathOf(steps: readonly Step[]): string {
  return steps.map((step) => (typeof step === 'object' ? step.tag : step)).join('.');
}

const KINDS: Readonly<Record<Shape['kind'], string>> = {
  any: 'value',
  text: 'string',
  whole: 'integer',
  number: 'number',
  flag: 'boolean',
  word: 'string',
  object: 'dictionary',
  list: 'list',
  'text-or': 'list',
  fields: 'dictionary',
  tagged: 'dictionary or object to extract fields from',
};

/** The words of the real service. */
function describeFault(fault: ShapeFault): string {
  switch (fault.kind) {
    case 'unknown-field':
      return 'Extra inputs are not permitted';
    case 'missing-field':
      return 'Field required';
    case 'wrong-type':
      return `Input should be a valid ${KINDS[fault.shape.kind]}`;
    case 'unknown-word':
      return `Input should be ${fault.words.map((word) => `'${word}'`).join(' or ')}`;
    case 'unknown-tag': {
      const expected = fault.words.map((word) => `'${word}'`).join(', ');
      return `Input tag '${written(fault.value)}' found using 'type' does not match any of the expected tags: ${expected}`;
    }
    case 'wrong-pattern':
      return `String should match pattern '${fault.pattern.source}'`;
    case 'too-small':
      return fault.shape.kind === 'text'
        ? `String should have at least ${fault.limit} character`
        : `Input should be greater than or equal to ${fault.limit}`;
    case 'too-large':
      return fault.shape.kind === 'text'
        ? `String should have at most ${fault.limit} characters`
        : `Input should be less than or equal to ${fault.limit}`;
    default:
      return fault satisfies never;
  }
}

/** Types of blocks that only one of the roles may hold. */
const ROLE_OF = new Map<string, Message['role']>([
  ...['tool_use', 'thinking', 'redacted_thinking', 'server_tool_use'].map(
    (type) => [type, 'assistant'] as const,
  ),
  ...['web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result'].map(
    (type) => [type, 'assistant'] as const,
  ),
  ...['tool_result', 'image', 'document', 'search_result'].map((type) => [type, 'user'] as const),
]);

const THOUGHTS: readonly (string | undefined)[] = ['thinking', 'redacted_thinking'];

function checkMessages(
  { messages, system, tools = [] }: MessagesRequest,
  context: MessagesContext,
) {
  if (messages.length === 0) refuse('messages', 'at least one message is required');
  if (messages[0]?.role !== 'user') {
    refuse('messages', 'first message must use the "user" role');
  }
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const isEnd = index === messages.length - 1 && message.role === 'assistant';
    if (message.content.length === 0 && !isEnd) {
      const what =
        'all messages must have non-empty content except for the optional final assistant message';
      refuse(at, what);
    }
    if (message.role === 'system') checkSystemMessage(message, messages[index - 1], at);
    if (!isEnd || typeof message.content !== 'string') {
      checkTexts(blocksOf(message.content), `${at}.content`, 'messages');
    }
    for (const [position, block] of blocksOf(message.content).entries()) {
      checkBlock(block, message, { at: `${at}.content.${position}`, tools, context });
    }
    const last = blocksOf(message.content).at(-1)?.type;
    if (message.role === 'assistant' && THOUGHTS.includes(last)) {
      refuse(at, `The final block in an assistant message cannot be \`${last}\`.`);
    }
  }
  if (Array.isArray(system)) checkTexts(system, 'system', 'system');
}

function checkSystemMessage(message: Message, before: Message | undefined, at: string): void {
  if (before?.role !== 'user') refuse(`${at}.role`, 'a system message must follow a user message');
  const odd = blocksOf(message.content).findIndex(({ type }) => type !== 'text');
  if (odd >= 0) {
    refuse(`${at}.content.${odd}`, 'only text blocks may be in `system` messages');
  }
}

function checkTexts(blocks: readonly Block[], at: string, where: string): void {
  for (const [index, { type, text, cache_control: mark }] of blocks.entries()) {
    if (type !== 'text' || text === undefined) continue;
    if (text === '' && mark) {
      refuse(`${at}.${index}.text`, 'cache_control cannot be set for empty text blocks');
    }
    if (text === '') refuse(where, 'text content blocks must be non-empty');
    if (text.trim() === '') {
      refuse(where, 'text content blocks must contain non-whitespace text');
    }
  }
}

interface BlockPlace {
  readonly at: string;
  readonly tools: readonly MessagesTool[];
  readonly context: MessagesContext;
}

function checkBlock(block: Block, { role, content }: Message, place: BlockPlace): void {
  const { at } = place;
  const owner = ROLE_OF.get(block.type);
  if (owner !== undefined && owner !== role) {
    refuse(at, `\`${block.type}\` blocks can only be in \`${owner}\` messages`);
  }
  checkMedia(block, at);
  if (block.type === 'tool_result') checkResult(block, place);
  checkSeals(block, place);
  if (block.type === 'server_tool_use' || block.type === 'web_search_tool_result') {
    checkServerPair(block, blocksOf(content), at);
  }
}

function checkMedia({ type, source }: Block, at: string): void {
  if (source === undefined || (type !== 'image' && type !== 'document')) return;
  const path = `${at}.${type}.source.${source.type}`;
  if (source.type === 'url' && !/^https:\/\/[^/\s]+/.test(source.url ?? '')) {
    refuse(`${path}.url`, 'Only HTTPS URLs are supported.');
  }
  if (source.type === 'file') refuse(`${path}.file_id`, 'File not found: the sandbox keeps none');
  if (source.type === 'text' && source.data?.trim() === '') {
    refuse(`${path}.data`, 'Document content cannot be empty');
  }
  if (source.type === 'content') {
    checkTexts(blocksOf(source.content), `${path}.content`, path);
    for (const [index, inner] of blocksOf(source.content).entries()) {
      checkMedia(inner, `${path}.content.${index}`);
    }
  }
  if (source.type !== 'base64') return;
  const { data = '', media_type: said = '' } = source;
  if (data === '') refuse(path, `${type} cannot be empty`);
  if (!BASE64.test(data)) refuse(`${path}.data`, 'Invalid base64 data');
  const found = sniffMediaType(data);
  if (found === undefined) {
    refuse(type === 'image' ? '' : path, NOT_READ[type]);
  }
  if (found !== said) {
    const what = `The image was specified using the ${said} media type, but the image appears to be a ${found} image`;
    refuse(path, what);
  }
}

const NOT_READ = {
  image: 'Could not process image',
  document: 'The PDF specified was not valid.',
} as const;

function checkResult({ content, is_error: failed }: Block, { at, tools }: BlockPlace): void {
  if (!Array.isArray(content)) return;
  const inner: readonly Block[] = content;
  checkTexts(inner, `${at}.tool_result.content`, `${at}.tool_result`);
  for (const [index, block] of inner.entries()) {
    const path = `${at}.tool_result.content.${index}`;
    checkMedia(block, path);
    if (failed === true && block.type !== 'text') {
      refuse(`${at}.tool_result`, 'all content must be type "text" if "is_error" is true');
    }
    const isKnown = tools.some(({ name }) => name === block.tool_name);
    if (block.type === 'tool_reference' && !isKnown) {
      refuse(path, `Tool reference '${block.tool_name}' not found in available tools`);
    }
  }
}

/** What was issued here must come back unchanged. */
function checkSeals(block: Block, { at, context: { seals } }: BlockPlace): void {
  const { type, thinking = '', signature = '', data = '', citations } = block;
  if (type === 'thinking' && !seals.isGenuine('thinking', thinking, signature)) {
    refuse(at, 'Invalid `signature` in `thinking` block');
  }
  if (type === 'redacted_thinking' && !seals.isGenuine('redacted', '', data)) {
    refuse(at, 'Invalid `data` in `redacted_thinking` block');
  }
  if (type === 'web_search_tool_result') checkWebResults(block, at, seals);
  for (const citation of Array.isArray(citations) ? citations : []) {
    // The shape of citations was checked: an index stands beside an address.
    const { url, encrypted_index: index } = citation as { url?: string; encrypted_index?: string };
    if (index !== undefined && !seals.isGenuine('index', url ?? '', index)) {
      refuse(`${at}.text.citations`, 'Invalid `encrypted_index` in citation');
    }
  }
}

function checkWebResults({ content }: Block, at: string, seals: Seals): void {
  const path = [at, 'web_search_tool_result', 'content'];
  if (!Array.isArray(content)) {
    requireShape(content as JsonValue, WEB_ERROR, path);
    return;
  }
  requireShape(content, WEB_RESULTS, path);
  for (const [index, { url = '', encrypted_content: sealed = '' }] of content.entries()) {
    if (!seals.isGenuine('content', url, sealed)) {
      const what = 'Invalid `encrypted_content` in `web_search_result` block';
      refuse(`${path.join('.')}.${index}`, what);
    }
  }
}

function checkServerPair(block: Block, all: readonly Block[], at: string): void {
  const [call, result] = ['server_tool_use', 'web_search_tool_result'] as const;
  const position = all.indexOf(block);
  if (block.type === call && block.name === 'web_search') {
    const isAnswered = all
      .slice(position)
      .some(({ type, tool_use_id: id }) => type === result && id === block.id);
    if (isAnswered) return;
    const what = `\`web_search\` tool use with id \`${block.id}\` was found without a corresponding \`${result}\` block`;
    refuse(at, what);
  }
  if (block.type !== result) return;
  const isCalled = all
    .slice(0, position)
    .some(({ type, id }) => type === call && id === block.tool_use_id);
  if (!isCalled) {
    refuse(at, `unexpected \`tool_use_id\` found in \`${result}\` blocks: ${block.tool_use_id}.`);
  }
}

interface Placed {
  readonly block: Block;
  /** Of its message. */
  readonly index: number;
  readonly at: string;
}

interface MessagesTurn {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Placed[];
}

/** Neighbours of one role are one turn; system messages stand outside. */
function turnsOf(messages: readonly Message[]): readonly MessagesTurn[] {
  const turns: { role: 'user' | 'assistant'; blocks: Placed[] }[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'system') continue;
    const blocks = blocksOf(content).map((block, position) => ({
      ...{ block, index },
      at: `messages.${index}.content.${position}`,
    }));
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks });
  }
  return turns;
}

function checkPairs(turns: readonly MessagesTurn[]): void {
  const seen = new Set<string | undefined>();
  for (const [index, { role, blocks }] of turns.entries()) {
    if (role === 'user') {
      checkResultsKnown(blocks, turns[index - 1]);
      continue;
    }
    const calls = blocks.filter(({ block }) => block.type === 'tool_use');
    for (const { block, at } of calls) {
      if (seen.has(block.id)) refuse(at, '`tool_use` ids must be unique');
      seen.add(block.id);
    }
    checkCallsAnswered(calls, turns[index + 1]);
  }
}

/** Results come first in the turn behind their calls. */
function checkCallsAnswered(calls: readonly Placed[], next: MessagesTurn | undefined): void {
  const behind = next?.blocks ?? [];
  const end = behind.findIndex(({ block }) => block.type !== 'tool_result');
  const answered = (end < 0 ? behind : behind.slice(0, end)).map(({ block }) => block.tool_use_id);
  const open = calls.flatMap(({ block: { id } }) => (answered.includes(id) ? [] : [id]));
  if (open.length === 0) return;
  const what = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  refuse(`messages.${calls[0]?.index}`, what);
}

function checkResultsKnown(blocks: readonly Placed[], before: MessagesTurn | undefined): void {
  const called = before?.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? block.id : []));
  const answered = new Set<string | undefined>();
  for (const { block, at } of blocks) {
    if (block.type !== 'tool_result') continue;
    const { tool_use_id: id } = block;
    if (called?.includes(id) !== true) {
      const what = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
      refuse(at, what);
    }
    if (answered.has(id)) {
      refuse(at, `each tool_use must have a single result. Found multiple with id: ${id}`);
    }
    answered.add(id);
  }
}

function checkTools({ tools = [], tool_choice: choice }: MessagesRequest): void {
  for (const [index, tool] of tools.entries()) checkTool(tool, `tools.${index}`);
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) refuse('tools', 'Tool names must be unique.');
  if (tools.length > 0 && tools.every(({ defer_loading: deferred }) => deferred === true)) {
    refuse('tools', 'At least one tool must have defer_loading=false.');
  }
  if (choice === undefined || choice.type === 'none') return;
  if (tools.length === 0) refuse('', 'tool_choice may only be specified while providing tools.');
  if (choice.name !== undefined && !names.includes(choice.name)) {
    refuse('', `Tool '${choice.name}' not found in provided tools`);
  }
}

function checkTool(tool: MessagesTool, at: string): void {
  const { allowed_domains: allowed, blocked_domains: blocked, input_schema: schema } = tool;
  if (allowed?.length && blocked?.length) {
    refuse(
      `${at}.${tool.type}`,
      'Only one of allowed_domains or blocked_domains may be specified.',
    );
  }
  if (tool.defer_loading === true && tool.cache_control) {
    refuse(at, `Tool '${tool.name}' cannot have both defer_loading=true and cache_control set.`);
  }
  if (schema === undefined) return;
  const path = `${at}.custom.input_schema`;
  if (schema.type === undefined) refuse(`${path}.type`, 'Field required');
  if (schema.type !== 'object') refuse(`${path}.type`, "Input should be 'object'");
  if (schema.anyOf ?? schema.oneOf ?? schema.allOf) {
    const what = 'input_schema does not support oneOf, allOf, or anyOf at the top level';
    refuse(path, what);
  }
  if (findSchemaFault(schema) !== undefined) {
    const what =
      'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).';
    refuse(path, what);
  }
  const odd = Object.keys(schema.properties ?? {}).find((name) => !PROPERTY_NAME.test(name));
  if (odd !== undefined) {
    refuse(`${path}.properties`, `Property keys should match pattern '${PROPERTY_NAME.source}'`);
  }
  const open = tool.strict === true ? findOpenness(schema) : undefined;
  if (open !== undefined) refuse(`${at}.custom`, open);
}

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

function checkFormat({ output_config: config, output_format: early, messages }: MessagesRequest) {
  const schema = config?.format?.schema ?? early?.schema;
  if (schema === undefined) return;
  const path = early === undefined ? 'output_config.format.schema' : 'output_format.schema';
  const fault = findSchemaFault(schema)?.what ?? findOpenness(schema);
  if (fault !== undefined) refuse(path, fault);
  if (messages.at(-1)?.role === 'assistant') {
    refuse('', 'output_config.format is incompatible with message prefilling.');
  }
}

const MAX_MARKS = 4;

function checkCacheMarks({ tools = [], system, messages, ...request }: MessagesRequest): void {
  const inside = messages.flatMap(({ content }) =>
    blocksOf(content).flatMap((block) => [
      block,
      // What a program printed is one object.
      ...(Array.isArray(block.content) ? block.content : []),
    ]),
  );
  const marks = [...tools, ...(Array.isArray(system) ? system : []), ...inside].flatMap(
    ({ cache_control: mark }: Pick<Block, 'cache_control'>) => mark ?? [],
  );
  const count = marks.length + (request.cache_control ? 1 : 0);
  if (count > MAX_MARKS) {
    const what = `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${count}.`;
    refuse('', what);
  }
  const short = marks.findIndex(({ ttl = '5m' }) => ttl === '5m');
  const long = marks.findLastIndex(({ ttl }) => ttl === '1h');
  if (short >= 0 && short < long) {
    const what =
      "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
    refuse('cache_control.ttl', what);
  }
}

function refuseSampling(request: MessagesRequest): void {
  const given = (['temperature', 'top_p', 'top_k'] as const).find(
    (name) => request[name] !== undefined,
  );
  if (given !== undefined) {
    refuse(given, 'this parameter is not supported from API version 2026-10-21 on');
  }
}

function checkSampling(request: MessagesRequest, model: MessagesModel): void {
  const { temperature, top_p: topP, stop_sequences: stops = [], max_tokens: limit } = request;
  for (const [name, value] of [
    ['temperature', temperature],
    ['top_p', topP],
  ] as const) {
    if (value !== undefined && !(value >= 0 && value <= 1)) refuse(name, 'range: 0..1');
  }
  if (temperature !== undefined && topP !== undefined) {
    const what =
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
    refuse('', what);
  }
  if (stops.some((stop) => stop.trim() === '')) {
    refuse('stop_sequences', 'each stop sequence must contain non-whitespace');
  }
  const { id, outputTokenLimit } = model;
  if (limit > outputTokenLimit) {
    const what = `${limit} > ${outputTokenLimit}, which is the maximum allowed number of output tokens for ${id}`;
    refuse('max_tokens', what);
  }
}

function checkThinking(
  request: MessagesRequest,
  { id, isAdaptive }: MessagesModel,
  context: MessagesContext,
): void {
  const { thinking, max_tokens: limit, tool_choice: choice } = request;
  if (thinking === undefined || thinking.type === 'disabled') return;
  const { type, budget_tokens: budget = 0 } = thinking;
  if (type === 'adaptive' && !isAdaptive) {
    refuse('', `adaptive thinking is not supported on ${id}`);
  }
  const { temperature, top_p: topP, top_k: topK } = request;
  if (temperature !== undefined && temperature !== 1) {
    refuse('', '`temperature` may only be set to 1 when thinking is enabled.');
  }
  if (topK !== undefined) refuse('', '`top_k` must be unset when thinking is enabled.');
  if (topP !== undefined && topP < 0.95) {
    refuse('', '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.');
  }
  if (type !== 'enabled') return;
  const interleaves = context.betas.some((beta) => beta.startsWith('interleaved-thinking-'));
  if (context.kind === 'create' && budget >= limit && !interleaves) {
    refuse('', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  if (choice?.type === 'any' || choice?.type === 'tool') {
    refuse('', 'Thinking may not be enabled when tool_choice forces tool use.');
  }
  checkThoughtsLead(turnsOf(request.messages), interleaves);
}

/** The first step of the running tool loop begins with a thought; with interleaved thinking, every step. */
function checkThoughtsLead(turns: readonly MessagesTurn[], interleaves: boolean): void {
  const holds = ({ blocks }: MessagesTurn, type: string): boolean =>
    blocks.some(({ block }) => block.type === type);
  const prompt = turns.findLastIndex((turn) => turn.role === 'user' && !holds(turn, 'tool_result'));
  const steps = turns
    .slice(prompt + 1)
    .filter((turn) => turn.role === 'assistant' && holds(turn, 'tool_use'));
  for (const { blocks } of interleaves ? steps : steps.slice(0, 1)) {
    const [first] = blocks;
    if (!THOUGHTS.includes(first?.block.type)) {
      refuse(`${first?.at}.type`, thoughtExpected(first?.block.type));
    }
  }
}

function thoughtExpected(found: string | undefined): string {
  return `Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
}

function checkPrefill({ messages, thinking }: MessagesRequest, { isAdaptive }: MessagesModel) {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.content.length === 0) return;
  const blocks = blocksOf(last.content);
  if (thinking !== undefined && thinking.type !== 'disabled') {
    refuse(`messages.${messages.length - 1}.content.0.type`, thoughtExpected(blocks[0]?.type));
  }
  if (isAdaptive) {
    const what =
      'This model does not support assistant message prefill. The conversation must end with a user message.';
    refuse('', what);
  }
  if (/\s$/.test(blocks.at(-1)?.text ?? '')) {
    refuse('messages', 'final assistant content cannot end with trailing whitespace');
  }
}

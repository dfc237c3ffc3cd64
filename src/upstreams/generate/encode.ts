// Writes a canonical request as the wire body of one upstream model.

import { invalidRequest } from '../../canonical/error.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  Signature,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultContent,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { isCarrier, SIGNATURE_SENTINEL } from '../../canonical/signatures.ts';
import { definedFields, JSON_BUDGET, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { wrapMapArguments } from '../../schema/tool-schema.ts';
import { lastPrompt } from '../../transforms/turns.ts';
import {
  languageWord,
  OUTCOMES,
  type WireContent,
  type WireFunctionResponse,
  type WireFunctionResponsePart,
  type WirePart,
} from '../../wire/generate.ts';
import type { EncodeTarget } from '../upstream.ts';
import { encodeServiceTier, type RunPart, tellRun } from '../wire-parts.ts';
import { type EncodeContext, encodeGenerationConfig, encodeMedia } from './encode-config.ts';
import { type EncodedTools, encodeToolConfig, encodeTools } from './encode-tools.ts';

/** Service tiers of the wire (@google/genai, `ServiceTier`). */
const SERVICE_TIERS = ['flex', 'standard', 'priority'];

/**
 * The body without the project, which `placeProject` adds when an account is known. Expects what the
 * transforms establish (canonical/request.ts), and never writes an empty part or an unknown field.
 * @throws GatewayError (invalid-request) for what this upstream cannot be sent.
 */
export function encode(
  request: CanonicalRequest,
  target: EncodeTarget,
  profile: EncodeContext['profile'],
): JsonObject {
  const context: EncodeContext = { target, profile };
  const { system, safety, toolChoice, cachedContent } = request;
  const encoded =
    request.tools.length === 0 ? NO_TOOLS : encodeTools(request.tools, toolChoice, context);
  const hasFunctions = encoded.functionNames.length > 0;
  const sendsTraces = encoded.hasServerTools && hasFunctions && tellsTraces(profile);
  const body = {
    systemInstruction:
      system.length === 0 ? undefined : { parts: system.map(({ text }) => ({ text })) },
    tools: encoded.tools.length === 0 ? undefined : encoded.tools,
    toolConfig: hasFunctions ? encodeToolConfig(toolChoice, encoded, sendsTraces) : undefined,
    generationConfig: encodeGenerationConfig(request, context),
    safetySettings:
      safety.length === 0
        ? undefined
        : safety.map(({ category, threshold }) => ({ category, threshold })),
    cachedContent,
    serviceTier:
      request.serviceTier === undefined
        ? undefined
        : encodeServiceTier(
            request.serviceTier,
            profile.extraFields.includes('serviceTier') ? SERVICE_TIERS : [],
            target.receipt,
          ),
  };
  if (request.verbosity !== undefined) {
    target.receipt.add('dropped', 'verbosity', told`The upstream has no such setting.`);
  }
  const { mapNames } = encoded;
  const { spoken } = request;
  const said =
    spoken?.instructions === undefined
      ? request.turns
      : withInstructions(request.turns, spoken.instructions);
  const turns = mapNames.size === 0 ? said : wrapMapCalls(said, mapNames);
  const contents = encodeContents(turns, {
    ...context,
    sendsTraces,
    sendsThoughts:
      target.capabilities.thinking.kind !== 'none' && request.reasoning.amount.kind !== 'off',
  });
  return { contents, ...definedFields(body) };
}

/** Models that speak are told how in front of the text (ai.google.dev, "Speech generation"). */
function withInstructions(turns: readonly Turn[], instructions: string): readonly Turn[] {
  const how: TextPart = { kind: 'text', text: `${instructions}:\n` };
  return turns.map((turn) =>
    turn.role === 'user' ? { ...turn, parts: [how, ...turn.parts] } : turn,
  );
}

/**
 * True where the upstream tells what its own tools did, and wants it back: built-in tools beside
 * functions (ai.google.dev, "Combine built-in tools and function calling"). Vertex AI has no such
 * switch and takes both without (vercel/ai#14655, maximhq/bifrost#6066).
 */
function tellsTraces({ extraFields }: EncodeContext['profile']): boolean {
  return extraFields.includes('toolConfig.includeServerSideToolInvocations');
}

const NO_TOOLS: EncodedTools = {
  tools: [],
  functionNames: [],
  mapNames: new Set(),
  hasServerTools: false,
  isStrict: false,
};

interface ContentsContext extends EncodeContext {
  /** True where the upstream wants back what it did by itself before a call. */
  readonly sendsTraces: boolean;
  /** False when thoughts stay out: the model does not think, or not for this request. */
  readonly sendsThoughts: boolean;
}

/** @throws GatewayError (invalid-request) when nothing is left to send. */
function encodeContents(turns: readonly Turn[], context: ContentsContext): WireContent[] {
  let prompt: number | undefined;
  const contents: WireContent[] = [];
  for (const [index, { role, parts }] of turns.entries()) {
    let content: WireContent;
    if (role === 'assistant') {
      prompt ??= lastPrompt(turns);
      const turn = new ModelTurn(context, index > prompt);
      content = { role: 'model', parts: turn.encode(parts) };
    } else content = { role: 'user', parts: encodeUserTurn(parts, context) };
    if (content.parts.length > 0) contents.push(content);
  }
  if (contents.length === 0) {
    throw invalidRequest('messages', 'messages: there is nothing to answer; send some content.');
  }
  return contents;
}

/** Media of tool results wait until the last result: responses stand together. */
function encodeUserTurn(parts: readonly Part[], context: EncodeContext): WirePart[] {
  const encoded: WirePart[] = [];
  let waiting: readonly WirePart[] = [];
  for (const part of parts) {
    if (part.kind === 'tool-result') {
      const result = encodeToolResult(part, context);
      encoded.push(result.part);
      if (result.beside.length > 0) waiting = [...waiting, ...result.beside];
      continue;
    }
    if (waiting.length > 0) encoded.push(...waiting);
    waiting = [];
    switch (part.kind) {
      case 'tool-call':
      case 'thinking':
      case 'redacted-thinking': {
        const reason = told`A ${part.kind} was in a user turn.`;
        context.target.receipt.add('dropped', 'messages', reason);
        break;
      }
      default: {
        const plain = encodePlainPart(part, context);
        if (plain.text !== '') encoded.push(plain);
      }
    }
  }
  return encoded.concat(waiting);
}

type SignedKind = NonNullable<Signature['on']>;

function hasTrace(part: Part): boolean {
  return part.kind === 'tool-call' && part.trace !== undefined;
}

/** What a client shows of the upstream's own tools stands in the trace itself. */
function isToldByTrace({ kind }: Part): boolean {
  return kind === 'server-tool-call' || kind === 'server-tool-result';
}

/**
 * The parts of an assistant turn; none when the turn says nothing. A signature that a client could
 * carry only on an earlier part goes to the next part of its own kind (ai.google.dev, "Thought
 * signatures": return it on the very part it came with).
 */
class ModelTurn {
  readonly #context: ContentsContext;
  /** True in the turn in progress, whose tool calls the upstream wants signed. */
  readonly #isCurrent: boolean;
  readonly #parts: WirePart[] = [];
  readonly #carried = new Map<SignedKind, string>();
  #hasCall = false;

  constructor(context: ContentsContext, isCurrent: boolean) {
    this.#context = context;
    this.#isCurrent = isCurrent;
  }

  encode(parts: readonly Part[]): WirePart[] {
    const isTraced = this.#context.sendsTraces && parts.some(hasTrace);
    for (const part of parts) if (!isTraced || !isToldByTrace(part)) this.#add(part);
    return this.#end();
  }

  #add(part: Part): void {
    switch (part.kind) {
      case 'thinking':
        this.#addThinking(part);
        break;
      case 'tool-call':
        this.#addCall(part);
        break;
      case 'text':
      case 'media': {
        const plain = encodePlainPart(part, this.#context);
        this.#addSigned(plain, this.#sign(part, part.kind) ?? this.#imagePlaceholder(plain));
        break;
      }
      case 'code':
      case 'code-result':
      case 'server-tool-call':
      case 'server-tool-result': {
        const signature = 'signature' in part ? part.signature?.value : undefined;
        this.#addSigned(encodePlainPart(part, this.#context), signature);
        break;
      }
      case 'redacted-thinking':
        this.#note('dropped', told`Only its issuer can read redacted thinking.`);
        break;
      case 'tool-result':
        // Results are the user's; the transforms have put them there.
        this.#note('dropped', told`A tool result was in an assistant turn.`);
        break;
      default:
        part satisfies never;
    }
  }

  #end(): WirePart[] {
    const text = this.#take('text');
    if (text !== undefined) this.#parts.push({ text: '', thoughtSignature: text });
    if (this.#carried.size > 0) {
      this.#note('dropped', told`The part a thought signature belongs to is not in the history.`);
    }
    return this.#parts;
  }

  #addThinking(part: ThinkingPart): void {
    const value = part.signature?.value;
    const on = part.signature?.on ?? (part.text === '' ? 'tool-call' : 'thinking');
    if (value !== undefined && on !== 'thinking') this.#carried.set(on, value);
    // Models of this wire show no signature alone, and refuse empty thoughts; a gateway behind it knows its own.
    const isHidden = value !== undefined && on === 'thinking' && isCarrier(value);
    if (part.text === '' && !isHidden) return;
    if (!this.#context.sendsThoughts) {
      this.#note('dropped', told`Earlier thoughts stay out where thinking is off.`);
    } else if (value === undefined) {
      this.#note('dropped', told`Thinking without a valid signature cannot be sent upstream.`);
    } else {
      const thought: WirePart = { text: part.text, thought: true };
      this.#parts.push(on === 'thinking' ? { ...thought, thoughtSignature: value } : thought);
    }
  }

  #addCall(part: ToolCallPart): void {
    const isFirst = !this.#hasCall;
    this.#hasCall = true;
    const trace = this.#context.sendsTraces ? (part.trace?.parts ?? []) : [];
    this.#parts.push(...trace);
    const own = this.#sign(part, 'tool-call');
    const signature = own ?? (isFirst ? this.#placeholder(trace.length > 0) : undefined);
    const { id, name, input } = part;
    this.#addSigned({ functionCall: { id, name, args: input } }, signature);
  }

  /**
   * The documented placeholder, for upstreams that want a signature and were never given one. A call behind
   * a trace goes back as it came: the signature of its step may stand on the trace.
   */
  #placeholder(isTraced: boolean): string | undefined {
    const { target } = this.#context;
    const isWanted =
      this.#isCurrent && !isTraced && target.capabilities.unsignedCalls === 'sentinel';
    if (!isWanted && !target.usesPlaceholders) return undefined;
    this.#note(
      'repaired',
      told`A tool call without a signature was sent with the documented placeholder.`,
    );
    return SIGNATURE_SENTINEL;
  }

  /**
   * The placeholder for what models that draw want signed: each picture, and the text before the first
   * (ai.google.dev, "Image generation", thought signatures; vercel/ai#10441).
   */
  #imagePlaceholder(part: WirePart): string | undefined {
    const { target } = this.#context;
    const isFirstText =
      target.capabilities.drawsImages && part.text && this.#parts.every(({ thought }) => thought);
    if (!target.usesPlaceholders || !(part.inlineData || isFirstText)) return undefined;
    this.#note(
      'repaired',
      told`A picture or a text without a signature was sent with the documented placeholder.`,
    );
    return SIGNATURE_SENTINEL;
  }

  #addSigned(part: WirePart, thoughtSignature: string | undefined): void {
    if (thoughtSignature !== undefined) this.#parts.push({ ...part, thoughtSignature });
    else if (part.text !== '') this.#parts.push(part);
  }

  /** The signature for a part of this kind: its own, else the one an earlier part carried for it. */
  #sign(
    part: { readonly signature?: Signature | undefined },
    kind: SignedKind,
  ): string | undefined {
    const carried = this.#take(kind);
    const own = part.signature?.value;
    const on = part.signature?.on ?? kind;
    if (on === kind) return own ?? carried;
    if (own !== undefined) this.#carried.set(on, own);
    return carried;
  }

  #take(kind: SignedKind): string | undefined {
    const value = this.#carried.get(kind);
    this.#carried.delete(kind);
    return value;
  }

  #note(action: 'dropped' | 'repaired', reason: Sentence): void {
    this.#context.target.receipt.add(action, 'messages', reason);
  }
}

type PlainPart = TextPart | MediaPart | RunPart;

function encodePlainPart(part: PlainPart, context: EncodeContext): WirePart {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'media':
      return encodeMedia(part, context);
    case 'server-tool-call':
    case 'server-tool-result':
      return { text: tellRun(part, context.target.receipt) };
    case 'code': {
      const { language, code, id } = part;
      const word = languageWord(language);
      if (word !== 'PYTHON') return { text: tellRun(part, context.target.receipt) };
      return { executableCode: { language: word, code, ...withId(id) } };
    }
    case 'code-result': {
      const { outcome, output, id } = part;
      return { codeExecutionResult: { outcome: OUTCOMES[outcome], output, ...withId(id) } };
    }
    default:
      return part satisfies never;
  }
}

function withId(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}

interface EncodedToolResult {
  readonly part: WirePart;
  /** Media the model only takes outside of the response; they belong behind the last response. */
  readonly beside: readonly WirePart[];
}

/** The transforms have given it the name of its call, which the wire demands beside the id. */
function encodeToolResult(result: ToolResultPart, context: EncodeContext): EncodedToolResult {
  const { callId: id, name = '', content } = result;
  const media = content.filter((item) => item.kind === 'media');
  const functionResponse: WireFunctionResponse = { id, name, response: encodeResponse(result) };
  const encoded = media.map((item) => encodeMedia(item, context));
  const inside = encoded.filter((part) => fitsResponse(part, context));
  const beside = encoded.filter((part) => !inside.includes(part));
  if (inside.length === 0) return { part: { functionResponse }, beside };
  const parts = inside.flatMap((part) => asResponsePart(part, context));
  return { part: { functionResponse: { ...functionResponse, parts } }, beside };
}

/** Only Vertex AI takes files there. `google-genai`, `FunctionResponsePart`: "not supported in Gemini API". */
function fitsResponse({ fileData }: WirePart, { target, profile }: EncodeContext): boolean {
  const takesIt = fileData === undefined || profile.isVertex === true;
  return takesIt && target.capabilities.mediaInFunctionResponse;
}

function encodeResponse({ content, isError }: ToolResultPart): JsonObject {
  const readable = content.filter((item) => item.kind !== 'media');
  const [only] = readable;
  if (readable.length === 1 && only?.kind === 'json') {
    return isError ? { error: only.value } : only.value;
  }
  const text: JsonValue = readable.map(asText).join('\n');
  return isError ? { error: text } : { output: text };
}

function asText(item: Exclude<ToolResultContent, MediaPart>): string {
  return item.kind === 'text' ? item.text : JSON.stringify(item.value);
}

/** Inside a response stand only the bytes or the address; a resolution has no place there. */
function asResponsePart(
  { inlineData, fileData, mediaResolution }: WirePart,
  { target }: EncodeContext,
): WireFunctionResponsePart[] {
  if (mediaResolution !== undefined) {
    const reason = told`Media inside a tool result have no detail level of their own.`;
    target.receipt.add('dropped', 'messages', reason);
  }
  if (inlineData !== undefined) return [{ inlineData }];
  return fileData === undefined ? [] : [{ fileData }];
}

/** Functions whose arguments are declared as one text were called with that text. */
function wrapMapCalls(turns: readonly Turn[], names: ReadonlySet<string>): readonly Turn[] {
  const budget = { ...JSON_BUDGET };
  const wrap = (part: Part): Part =>
    part.kind === 'tool-call' && names.has(part.name)
      ? { ...part, input: wrapMapArguments(part.input, budget) }
      : part;
  return turns.map((turn) =>
    turn.role === 'assistant' ? { ...turn, parts: turn.parts.map(wrap) } : turn,
  );
}

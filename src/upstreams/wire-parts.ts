// What the upstreams of all wires have in common: a client, capabilities that are worked out once, how they
// end, what several encoders write alike (free-text tools, service tiers, results of calls in a relayed history), and what
// decoders keep alike.

import { invalidRequest } from '../canonical/error.ts';
import type { ModelCapabilities, UpstreamModel } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { FreeformTool, Part } from '../canonical/request.ts';
import { mendText, writeCodeText } from '../canonical/text-forms.ts';
import { type JsonObject, readNumber } from '../lib/json.ts';
import { cutLongTexts, writeParts } from '../lib/json-parts.ts';
import { told } from '../lib/localized-message.ts';
import { withoutSlashes } from '../lib/net.ts';
import { remember } from '../lib/once.ts';
import { type ClientOptions, UpstreamClient, type WireRules } from './transport/client.ts';
import type { DecodeContext, Upstream, UpstreamCall } from './upstream.ts';

export interface WireOptions<Profile>
  extends Omit<ClientOptions, 'wire' | 'baseUrl' | 'userAgent'> {
  readonly profile: Profile;
}

/** An upstream that knows how many of its calls are under way; its owner closes it. */
export interface OwnedUpstream extends Upstream {
  /** How many requests are sent and not answered to their end. */
  callsUnderWay(): number;
}

interface ReachedBy {
  readonly id: string;
  readonly baseUrl: string;
  readonly userAgent: string;
}

/** Who we say we are: our own name and version, never another client's. */
export function userAgentOf(version: string | undefined): string {
  return version === undefined ? 'isthmus' : `isthmus/${version}`;
}

/** A configured address without what callers add themselves: trailing slashes and the version. */
export function trimBaseUrl(baseUrl: string, versionPath = '/'): string {
  const url = withoutSlashes(baseUrl);
  return url.endsWith(versionPath) ? url.slice(0, -versionPath.length) : url;
}

export const THOUGHTS_MISSED = told`Off: the upstream reports that earlier thoughts are missing.`;
/** "The `content[].thinking` in the thinking mode must be passed back to the API." (DeepSeek, of `reasoning_content` too) */
export const MISSES_THOUGHTS =
  /\b(?:thinking|reasoning_content)\b.{0,5} in the thinking mode must be passed back\b/i;
export const FORCED_CALL = told`Off: a forced call takes no thinking before it.`;
/** "Thinking mode does not support this tool_choice" (DeepSeek), and the like of Moonshot and Qwen. */
export const REFUSES_FORCED_CALL =
  /\bthinking mode does not support this tool_choice\b|\btool_choice\b[^.]{0,90}\b(?:in thinking mode|with thinking enabled)\b/i;

/** Clients name models, so what is remembered of their names is bounded. */
export const MAX_NAMES = 1000;

/** `close` of the common part ends the connections at once: answers under way must have been drained before. */
export function createWireParts<Profile extends ReachedBy>(
  { profile, clock, limits, answerRoom, proxyFor }: WireOptions<Profile>,
  {
    rules,
    modelIds,
    capabilitiesOf,
  }: {
    readonly rules: WireRules;
    /** The spellings under which the upstream may know a model, best first; never empty. */
    readonly modelIds: (name: string) => readonly string[];
    readonly capabilitiesOf: (
      profile: Profile,
      modelId: string,
      listed?: UpstreamModel,
    ) => ModelCapabilities;
  },
) {
  const { id, baseUrl, userAgent } = profile;
  const client = new UpstreamClient({
    ...{ wire: rules, baseUrl, userAgent, clock, limits, answerRoom, proxyFor },
  });
  const builtIn = remember(MAX_NAMES, (modelId: string) => capabilitiesOf(profile, modelId));
  const listedOnes = new WeakMap<UpstreamModel, ModelCapabilities>();
  return {
    client,
    /** Without what a list says. */
    builtIn,
    common: {
      id,
      baseUrl,
      modelIds: remember(MAX_NAMES, modelIds),
      capabilities(modelId: string, listed: UpstreamModel | undefined): ModelCapabilities {
        if (listed === undefined) return builtIn(modelId);
        const found = listedOnes.get(listed) ?? capabilitiesOf(profile, modelId, listed);
        listedOnes.set(listed, found);
        return found;
      },
      callsUnderWay: () => client.underWay,
      close: () => client.close(),
    },
  };
}

/** What a POST takes from its call on every wire. */
export function postOf({ access, ...call }: Omit<UpstreamCall, 'stream'>) {
  const { body, receipt, isLarge, clientKeyId, freshConnection, signal } = call;
  const { onFirstByte, onRateLimit } = call;
  return {
    method: 'POST' as const,
    ...{ body, receipt, isLarge, clientKeyId, freshConnection, signal, onFirstByte, onRateLimit },
    proxyUrl: access.proxyUrl,
  };
}

/** Bytes, so that the text is encoded once. What no UTF-8 can say is mended, and noted in the receipt. */
export function encodeJson(
  body: JsonObject,
  receipt: Receipt | undefined,
  isLarge: boolean,
): Buffer | Promise<Buffer> {
  if (!isLarge) return Buffer.from(mendText(JSON.stringify(body), receipt));
  return writeParts(cutLongTexts(body, (json) => mendText(json, receipt)));
}

/** Free text travels as the one string argument `input`. */
export const FREEFORM_INPUT: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input, as plain text.' } },
  required: ['input'],
};

/** What the tool at `path` does, and the grammar of its input; no field where nothing is said. */
export function describeFreeform(
  { description, grammar }: FreeformTool,
  { path, receipt }: { readonly path: string; readonly receipt: Receipt },
): { readonly description?: string } {
  if (grammar !== undefined) {
    receipt.add(
      'approximated',
      path,
      told`The model is told the grammar, and nothing enforces it.`,
    );
  }
  const rules =
    grammar === undefined
      ? undefined
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rules].filter((line) => line !== undefined && line !== '');
  return text.length === 0 ? {} : { description: text.join('\n\n') };
}

/** @throws GatewayError (invalid-request) for a choice of a tool that is not declared */
export function checkChosen(names: readonly string[], declared: ReadonlySet<unknown>): void {
  const unknown = names.find((name) => !declared.has(name));
  if (unknown === undefined) return;
  throw invalidRequest('tool_choice', `tool_choice: "${unknown}" is not among the tools.`);
}

export function unreadableCache(): Error {
  const message = 'cached_content: the cache of another upstream cannot be read here.';
  return invalidRequest('cached_content', message, 'unsupported');
}

/** For a picture demanded of a model that draws none. */
export function drawsNone(): Error {
  return invalidRequest(
    'tool_choice',
    'tool_choice demands a picture, and this model draws none. Name a model that draws as model, ' +
      'or use /v1/images/generations.',
    'unsupported',
  );
}

/** What ran where the model does: tools of the provider, and code. */
export type RunPart = Extract<Part, { kind: `server-tool-${string}` | `code${string}` }>;

/** In words: only its issuer knows the blocks of a provider's own tool. */
export function tellRun(part: RunPart, receipt: Receipt): string {
  if (part.kind === 'code' || part.kind === 'code-result') return writeCodeText(part);
  receipt.add('approximated', 'messages', told`Calls of provider tools are sent as text.`);
  return part.kind === 'server-tool-call'
    ? `[${part.name} was called with ${JSON.stringify(part.input)}]`
    : `[Result of ${part.name}]\n${part.text}`;
}

// How fast a request is served, in the words of the wire it goes to.

/** What protocols call the service of the standard price. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'standard', 'standard_only']);

/**
 * @param words those of the wire, in small letters
 * @returns what to send: the wire's own word for the standard service, and nothing, with a receipt, for a tier it does not
 *   have
 */
export function encodeServiceTier(
  tier: string | undefined,
  words: readonly string[],
  receipt: Receipt,
): string | undefined {
  if (tier === undefined) return undefined;
  const word = tier.toLowerCase();
  if (words.includes(word)) return word;
  const standard = STANDARD.has(word) ? words.find((one) => STANDARD.has(one)) : undefined;
  // Who says only that nothing special is wanted loses nothing.
  const isUsual = word === 'auto' || word === 'default' || word === 'standard';
  if (standard === undefined && !isUsual) {
    receipt.add('dropped', 'service_tier', told`The upstream has no such service tier.`);
  }
  return standard;
}

// What the decoders of all wires keep of one answer.

/** The most a request of Chat Completions may ask for; those of others ask for fewer. */
const MAX_CHOICES = 128;

/** The `index` of a choice; absent for the first, the JSON form of zero. One that no choice can have is none. */
export function choiceNumber({ index }: JsonObject): number {
  const number = readNumber(index) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MAX_CHOICES ? number : 0;
}

/** The ids of the tool calls of one answer. */
export interface CallIds {
  readonly context: DecodeContext;
  /** Those so far. */
  callIds?: Set<string>;
}

/** What all choices of one answer share. */
export interface AnswerState extends CallIds {
  /** So much of a text is kept, in UTF-16 units, to place citations in it; 0 when nobody asks where they stand. */
  readonly mostCited: number;
  /** The index of the next block; they rise over all choices. */
  nextIndex: number;
}

/** What is remembered of a call once it is told. */
export const CALL_BYTES = 128;

/** A call without an id, or with that of an earlier call, gets a fresh one. */
export function takeCallId(state: CallIds, given: string | undefined): string {
  const { createId, callIdPrefix = 'call_' } = state.context;
  state.callIds ??= new Set();
  const id = given === undefined || state.callIds.has(given) ? createId(callIdPrefix) : given;
  state.callIds.add(id);
  return id;
}

/** Kinds of parts are few; more are an upstream's nonsense. */
const MAX_UNREAD = 5;

/** What parts of unknown kinds call themselves, with one more. */
export function withUnread(
  known: ReadonlySet<string> | undefined,
  kind: string | undefined,
): ReadonlySet<string> | undefined {
  if (kind === undefined || known?.has(kind) || known?.size === MAX_UNREAD) return known;
  return new Set(known).add(kind);
}

// The results of tool calls in a relayed history, by the call that each answers, until they are placed behind it.

export class OpenResults {
  readonly #byId = new Map<string, JsonObject[]>();

  add(callId: string, result: JsonObject): void {
    const known = this.#byId.get(callId);
    if (known === undefined) this.#byId.set(callId, [result]);
    else known.push(result);
  }

  /** The first that is left; undefined, and noted, where the call has none. */
  take(callId: string, receipt: Receipt): JsonObject | undefined {
    const found = this.#byId.get(callId)?.shift();
    if (found === undefined) {
      const reason = told`Tool call ${callId} has no result; "no result" was sent.`;
      receipt.add('repaired', 'messages', reason);
    }
    return found;
  }

  /** Notes what is left of these calls: each has one result. */
  noteLeft(called: ReadonlySet<string>, receipt: Receipt): void {
    for (const [id, left] of this.#byId) {
      if (!called.has(id) || left.length === 0) continue;
      receipt.add('dropped', 'messages', told`A second result of tool call ${id} was dropped.`);
    }
  }
}

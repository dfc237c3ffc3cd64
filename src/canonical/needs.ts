// What a request needs of whoever answers it, and what of that a model has: as bits, so that a choice compares numbers.

import type { ModelCapabilities, ModelVariant } from './model.ts';
import type { CanonicalRequest, MediaPart, Part } from './request.ts';
import { isCallable } from './tool-names.ts';

/** The worse its loss, the later: of two candidates the one whose loss is the smaller number loses less. */
const NEEDS = [
  /** Fields that only the client's own wire has words for. */
  'own-fields',
  'serial-calls',
  'mask',
  'prefill',
  'thinking',
  'format',
  'format-with-tools',
  'schema',
  'code-execution',
  'url-context',
  'web-search',
  'server-tools-with-functions',
  /** The very version that is named, where an account has it. */
  'version',
  /** A model of the family that its name stands for. */
  'family',
  'document',
  'video',
  'audio',
  'image',
  'functions',
  'speech',
  'drawing',
  'forced-call',
  'logprobs',
  /** Of calls that ask for nothing else: without it the count is an estimate. */
  'token-count',
  /** What only an upstream of the client's own wire can be sent at all. */
  'own-wire',
] as const;

export type Need = (typeof NEEDS)[number];

/** A bit for each of them. */
export type NeedSet = number;

/** What one call needs, worked out where candidates differ. */
export interface CallNeeds {
  /** The wire of the client's own body; absent where it is relayed to nobody. */
  readonly wire: string | undefined;
  /** Reads the request when it is first called. */
  read(): NeedSet;
}

/** A model as one upstream has it. */
interface Offer {
  readonly wire: string;
  readonly capabilities: ModelCapabilities;
}

const BITS: ReadonlyMap<Need, NeedSet> = new Map(NEEDS.map((need, at) => [need, 1 << at]));

export function needSet(...needs: readonly Need[]): NeedSet {
  return needs.reduce((set, need) => set | bitOf(need), 0);
}

function bitOf(need: Need): NeedSet {
  return BITS.get(need) ?? 0;
}

/** The worst of what is lost. */
export function worstOf(loss: NeedSet): Need | undefined {
  return NEEDS.findLast((need) => (loss & bitOf(need)) !== 0);
}

/** Where all of them lack the same, nobody has to look what is needed. */
export function areAlike(lacking: readonly NeedSet[]): boolean {
  return lacking.every((one) => one === lacking[0]);
}

const ALL = needSet(...NEEDS);

/** What is shown to a model: without it the model is told that something is missing. */
export const SHOWN = needSet('document', 'video', 'audio', 'image');

/** What of all that can be needed it has not: what a call needs of that, it would lose. What nobody knows of a model it has. */
export function lackingOf({ wire, capabilities }: Offer, ownWire: string | undefined): NeedSet {
  const { callsFunctions, outputFormats, refusesMedia = [], serverTools } = capabilities;
  const isRelayed = wire === ownWire && capabilities.hasOwnForm !== true;
  const has: Readonly<Record<Need, boolean>> = {
    'own-fields': isRelayed,
    'serial-calls': capabilities.takesSerialCalls === true,
    mask: capabilities.takesMasks === true,
    prefill: capabilities.refusesPrefill !== true,
    thinking: capabilities.thinking.kind !== 'none',
    format: outputFormats !== 'nowhere',
    'format-with-tools': outputFormats === 'everywhere',
    schema: outputFormats !== 'nowhere' && capabilities.refusesSchemas !== true,
    'code-execution': serverTools?.includes('code-execution') ?? true,
    'url-context': serverTools?.includes('url-context') ?? true,
    'web-search': serverTools?.includes('web-search') ?? true,
    'server-tools-with-functions': capabilities.searchWithFunctions,
    // Which of the models that stand for a name is another one, the names tell.
    version: true,
    family: true,
    document: !refusesMedia.includes('document'),
    video: !refusesMedia.includes('video'),
    audio: !refusesMedia.includes('audio'),
    image: !refusesMedia.includes('image'),
    functions: callsFunctions,
    speech: capabilities.refusesSpeech !== true,
    drawing: capabilities.drawsImages,
    'forced-call': callsFunctions,
    logprobs: capabilities.refusesLogprobs !== true,
    'token-count': capabilities.countsNoTokens !== true,
    'own-wire': isRelayed,
  };
  return ALL & ~needSet(...NEEDS.filter((need) => has[need]));
}

/** What a model's name and the words at its end ask for. */
export function variantNeeds({ thinking, effort, webSearch, image }: ModelVariant): NeedSet {
  return (
    needSet('version', 'family') |
    (thinking === undefined && effort === undefined ? 0 : bitOf('thinking')) |
    (webSearch ? bitOf('web-search') : 0) |
    (image === undefined ? 0 : bitOf('drawing'))
  );
}

export function needsOf(request: CanonicalRequest): NeedSet {
  const { reasoning, turns, cachedContent } = request;
  const { kind: amount } = reasoning.amount;
  let needs = toolNeeds(request) | answerNeeds(request);
  if (amount !== 'unset' && amount !== 'off') needs |= bitOf('thinking');
  if (turns.at(-1)?.role === 'assistant') needs |= bitOf('prefill');
  if (cachedContent !== undefined) needs |= bitOf('own-wire');
  for (const { role, parts } of turns) {
    // What a model drew or said itself goes back where that can be said at all.
    if (role === 'user') for (const part of parts) needs |= partNeeds(part);
  }
  return needs;
}

function partNeeds(part: Part): NeedSet {
  if (part.kind === 'media') return mediaNeeds(part);
  if (part.kind !== 'tool-result') return 0;
  return part.content.reduce(
    (needs, item) => (item.kind === 'media' ? needs | mediaNeeds(item) : needs),
    0,
  );
}

/** A file that is stored with an upstream is read there alone. */
function mediaNeeds({ modality, isMask, source }: MediaPart): NeedSet {
  return (
    bitOf(modality) |
    (isMask === true ? bitOf('mask') : 0) |
    (source.kind === 'file' ? bitOf('own-wire') : 0)
  );
}

function toolNeeds({ tools, toolChoice, parallelToolCalls }: CanonicalRequest): NeedSet {
  const hasFunctions = tools.some(isCallable);
  let needs = hasFunctions ? bitOf('functions') : 0;
  if (hasFunctions && parallelToolCalls === false) needs |= bitOf('serial-calls');
  if (toolChoice.kind === 'required') needs |= bitOf('forced-call');
  if (toolChoice.kind === 'none') return needs;
  for (const tool of tools) {
    if (isCallable(tool)) continue;
    needs |= bitOf(tool.kind);
    if (hasFunctions) needs |= bitOf('server-tools-with-functions');
  }
  return needs;
}

function answerNeeds(request: CanonicalRequest): NeedSet {
  const { outputFormat, tools, outputModalities = [], image, mustDraw, sampling } = request;
  let needs = 0;
  if (outputFormat.kind !== 'text') {
    needs |= bitOf(tools.length > 0 ? 'format-with-tools' : 'format');
    if (outputFormat.kind !== 'json') needs |= bitOf('schema');
  }
  if (image !== undefined || mustDraw === true || outputModalities.includes('image')) {
    needs |= bitOf('drawing');
  }
  if (outputModalities.includes('audio')) needs |= bitOf('speech');
  if (sampling.logprobs !== undefined) needs |= bitOf('logprobs');
  return needs;
}

// Simulates a model: reads what a request asks for and decides what each candidate holds.

import { isJsonObject, type JsonObject, type JsonValue, parseJson, readNumber } from './json.ts';
import type { ModelFamily, SandboxModel } from './models.ts';
import {
  areaOf,
  DEFAULT_RATIO,
  DEFAULT_SIZE,
  describeMedia,
  drawPicture,
  findPeak,
  nearestRatio,
  type PictureOrder,
  pictureTokens,
  readPictureSize,
  readSound,
} from './pictures.ts';
import { resolveReference } from './rules.ts';
import {
  charactersFor,
  countJsonTokens,
  countPromptTokens,
  countTextTokens,
  cutIntoTokens,
  cutToTokens,
  type TokenCounts,
} from './tokens.ts';
import {
  type Blob,
  type Content,
  declarationsOf,
  type FunctionDeclaration,
  type FunctionResponse,
  functionCallsOf,
  functionResponsesOf,
  type GenerateRequest,
  partsOf,
  type ThinkingConfig,
  type Tool,
} from './wire.ts';

export interface Answer {
  readonly modelId: string;
  readonly family: ModelFamily;
  readonly responseId: string;
  readonly prompt: TokenCounts;
  readonly cachedTokens: number;
  /** For each candidate. */
  readonly thinkingTokens: number;
  /** Set when the prompt was blocked: then there are no candidates. */
  readonly blockReason?: string | undefined;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  /** The thought summary; empty when none is shown. */
  readonly thoughts: string;
  readonly calls: readonly IssuedCall[];
  readonly text: string;
  /** Unfinished ones; part of the thoughts, and free. */
  readonly drafts?: readonly DrawnPicture[] | undefined;
  readonly pictures?: readonly DrawnPicture[] | undefined;
  /** Where they are asked for. */
  readonly logprobs?: { readonly tokens: readonly string[] } | undefined;
  readonly finishReason: string;
  /** The one that ended the text. */
  readonly stopSequence?: string | undefined;
  readonly finishMessage?: string | undefined;
  readonly groundingMetadata?: JsonObject | undefined;
  readonly urlContextMetadata?: JsonObject | undefined;
}

export interface IssuedCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** A PNG. */
export interface DrawnPicture {
  readonly base64: string;
  readonly tokens: number;
}

export function countPictureTokens({ pictures = [] }: Candidate): number {
  return pictures.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** What a text and calls count as output, thoughts and pictures aside. */
export function countOutputTokens(text: string, calls: readonly IssuedCall[]): number {
  return calls.reduce((sum, call) => sum + countJsonTokens(call), countTextTokens(text));
}

interface SimulationInput {
  readonly request: GenerateRequest;
  readonly model: SandboxModel;
  readonly turn: LastTurn;
  readonly directives: Directives;
  readonly cachedTokens: number;
  /** What ids of answers and of calls begin with. */
  readonly idPrefixes?: IdPrefixes | undefined;
  /** One call at a time, whatever the prompt asks for. */
  readonly isSerial?: boolean | undefined;
  /** A fresh random id with the given prefix. */
  createId(prefix: string): string;
}

export interface IdPrefixes {
  readonly answer: string;
  readonly call: string;
}

const ID_PREFIXES: IdPrefixes = { answer: '', call: 'fc_' };
const CALL_ID_LENGTH = 12;

interface Simulation extends SimulationInput {
  readonly thinking: Thinking;
  readonly chosen: ChosenCalls;
  readonly candidateCount: number;
  /** Room for each candidate, thoughts taken off. */
  readonly maxTokens: number;
}

/** Endings that come without any content. */
const EMPTY_ENDINGS = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'NO_IMAGE',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
]);
/** Endings that leave a picture whole: a limit cuts words alone. */
const DRAWING_ENDINGS = new Set(['STOP', 'MAX_TOKENS']);

/** The same request always gets the same answer, ids apart. */
export function simulate(input: SimulationInput): Answer {
  const { request, model, turn, directives } = input;
  const config = request.generationConfig ?? {};
  const thinking = planThinking(request, model, turn);
  const simulation: Simulation = {
    ...input,
    thinking,
    chosen: chooseCalls(request, turn, input.isSerial === true),
    candidateCount: config.candidateCount ?? 1,
    maxTokens: (config.maxOutputTokens ?? Number.POSITIVE_INFINITY) - thinking.tokens,
  };
  const isBlocked = directives.blockReason !== undefined;
  return {
    modelId: model.id,
    family: model.family,
    responseId: input.createId((input.idPrefixes ?? ID_PREFIXES).answer),
    prompt: countPromptTokens(request),
    cachedTokens: input.cachedTokens,
    thinkingTokens: isBlocked ? 0 : thinking.tokens,
    blockReason: directives.blockReason,
    candidates: isBlocked
      ? []
      : Array.from({ length: simulation.candidateCount }, (_, index) =>
          simulateCandidate(simulation, index),
        ),
  };
}

function simulateCandidate(simulation: Simulation, index: number): Candidate {
  const forced = simulation.directives.finishReason;
  const candidate =
    simulation.chosen.calls.length > 0
      ? simulateCalls(simulation)
      : simulateText(simulation, index);
  if (forced === undefined) return candidate;
  if (!EMPTY_ENDINGS.has(forced)) {
    if (DRAWING_ENDINGS.has(forced)) return { ...candidate, finishReason: forced };
    return { ...candidate, drafts: [], pictures: [], finishReason: forced };
  }
  const finishMessage = `The sandbox was told to end with ${forced}.`;
  return { thoughts: '', calls: [], text: '', finishReason: forced, finishMessage };
}

/** Calls that do not fit into the output limit are absent, never cut. */
function simulateCalls(simulation: Simulation): Candidate {
  const { chosen, thinking, maxTokens, idPrefixes = ID_PREFIXES, createId } = simulation;
  const { call: prefix } = idPrefixes;
  const calls: IssuedCall[] = chosen.calls.map((call) => ({
    id: createId(prefix).slice(0, prefix.length + CALL_ID_LENGTH),
    ...call,
  }));
  const fits = countOutputTokens('', calls) <= maxTokens;
  return {
    thoughts: thinking.summary,
    calls: fits ? calls : [],
    text: '',
    finishReason: fits ? 'STOP' : 'MAX_TOKENS',
  };
}

function simulateText(simulation: Simulation, index: number): Candidate {
  const { request, model, turn, thinking, chosen, candidateCount } = simulation;
  const { responseModalities, responseLogprobs, thinkingConfig } = request.generationConfig ?? {};
  const order = readPictureOrder(request, model, turn);
  const numbering = candidateCount > 1 ? [`Candidate ${index + 1} of ${candidateCount}.`] : [];
  const drawn = order === undefined ? [] : [describeOrder(order)];
  const notes = [...numbering, ...drawn, ...chosen.notes];
  const composed = composeText(simulation, describeRequest(simulation, notes));
  const writesWords = responseModalities?.includes('TEXT') ?? true;
  const text = order === undefined || writesWords ? composed.text : '';
  const offers = (tool: keyof Tool): boolean =>
    request.tools?.some((one) => one[tool] !== undefined) === true;
  return {
    thoughts: thinking.summary,
    calls: [],
    text,
    drafts:
      order !== undefined && thinkingConfig?.includeThoughts === true ? drawDrafts(order) : [],
    pictures: order === undefined ? [] : [draw(order)],
    logprobs: responseLogprobs === true ? { tokens: cutIntoTokens(text) } : undefined,
    finishReason: composed.finishReason,
    stopSequence: composed.stopSequence,
    groundingMetadata:
      offers('vendoraSearch') && text !== '' ? writeGrounding(turn.text, text) : undefined,
    urlContextMetadata: offers('urlContext') ? writeUrlContext(turn.text) : undefined,
  };
}

interface LastTurn {
  /** Text of the trailing user contents. */
  readonly text: string;
  readonly results: readonly FunctionResponse[];
  /** Media of the trailing user contents, those inside results included. */
  readonly media: readonly Blob[];
  /** Text of the user contents that began the current turn. */
  readonly prompt: string;
  /** Steps with function calls made since that prompt. */
  readonly stepsDone: number;
}

/** A model turn at the end is a beginning the answer goes on from; what is answered stands before it. */
export function readLastTurn(conversation: readonly Content[]): LastTurn {
  const hasPrefill = conversation.at(-1)?.role === 'model';
  const contents = hasPrefill ? conversation.slice(0, -1) : conversation;
  const trailing = contents.slice(contents.findLastIndex(({ role }) => role === 'model') + 1);
  const results = trailing.flatMap((content) => functionResponsesOf(content));
  const promptEnd = contents.findLastIndex(
    (content) => content.role === 'user' && functionResponsesOf(content).length === 0,
  );
  const earlier = contents.slice(0, promptEnd + 1);
  const promptStart = earlier.findLastIndex(({ role }) => role === 'model') + 1;
  return {
    text: textOf(trailing),
    results,
    media: trailing.flatMap(mediaOf),
    prompt: textOf(earlier.slice(promptStart)),
    stepsDone: contents
      .slice(promptEnd + 1)
      .filter((content) => functionCallsOf(content).length > 0).length,
  };
}

function textOf(contents: readonly Content[]): string {
  return contents
    .flatMap((content) => partsOf(content))
    .flatMap((part) => part.text ?? [])
    .join('\n');
}

function mediaOf(content: Content): Blob[] {
  return partsOf(content).flatMap((part) => [
    ...(part.inlineData === undefined ? [] : [part.inlineData]),
    ...(part.functionResponse?.parts ?? []).flatMap(({ inlineData }) => inlineData ?? []),
  ]);
}

export interface Directives {
  /** `UPSTREAM-STATUS <code>`: answer with this HTTP error. */
  readonly status?: number;
  /** `UPSTREAM-FINISH <REASON>`: end with this finish reason. */
  readonly finishReason?: string;
  /** `UPSTREAM-BLOCK [REASON]`: block the prompt. */
  readonly blockReason?: string;
  /** `UPSTREAM-CUT`: break off before the end. */
  readonly cut: boolean;
  /** `UPSTREAM-HANG`: fall silent half way, with the connection open. */
  readonly hang: boolean;
  /** `UPSTREAM-ERROR`: an error in the middle of the stream. */
  readonly error: boolean;
  /** `UPSTREAM-TOO-LONG`: refuse the prompt as too long. */
  readonly isTooLong: boolean;
  /** `UPSTREAM-REDACTED`: the thoughts of a Messages answer are sealed. */
  readonly isRedacted: boolean;
  /** `UPSTREAM-REFUSE`: a Chat answer is a refusal. */
  readonly refuses: boolean;
  /** `UPSTREAM-QUOTA`: answer as if the account's quota were used up. */
  readonly hasNoQuota: boolean;
  /** `UPSTREAM-SEARCH-ERROR <code>`: a search of the web fails with that code. */
  readonly searchError?: string;
  /** `SAY-TEXT <rest of the line>`: answer with that text. */
  readonly say?: string;
  /** `UPSTREAM-SLOW <ms>`: pause between stream events (or before a unary answer). */
  readonly pauseMs: number;
  /** `UPSTREAM-WORDS <n>`: answer with n numbered words. */
  readonly words?: number;
}

const BLOCK_REASONS = [
  'SAFETY',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'IMAGE_SAFETY',
  'MODEL_ARMOR',
  'JAILBREAK',
];
const MAX_PAUSE_MS = 60_000;
const MAX_WORDS = 100_000;

export function readDirectives(text: string): Directives {
  const status = readCount(text, 'STATUS', 599);
  const finishReason = /UPSTREAM-FINISH (\w+)/.exec(text)?.[1]?.toUpperCase();
  const block = /UPSTREAM-BLOCK(?: ([A-Z_]+))?/.exec(text);
  const words = readCount(text, 'WORDS', MAX_WORDS);
  const searchError = /UPSTREAM-SEARCH-ERROR (\w+)/.exec(text)?.[1];
  const say = /(?:^|[^A-Z-])SAY-TEXT (.+)/.exec(text)?.[1];
  return {
    ...(status !== undefined && status >= 400 && { status }),
    ...(finishReason !== undefined && { finishReason }),
    ...(block !== null && {
      blockReason: BLOCK_REASONS.find((reason) => reason === block[1]) ?? 'PROHIBITED_CONTENT',
    }),
    cut: text.includes('UPSTREAM-CUT'),
    hang: text.includes('UPSTREAM-HANG'),
    error: /UPSTREAM-ERROR(?![A-Z-])/.test(text),
    isTooLong: text.includes('UPSTREAM-TOO-LONG'),
    isRedacted: text.includes('UPSTREAM-REDACTED'),
    refuses: text.includes('UPSTREAM-REFUSE'),
    hasNoQuota: text.includes('UPSTREAM-QUOTA'),
    ...(searchError !== undefined && { searchError }),
    ...(say !== undefined && { say }),
    pauseMs: readCount(text, 'SLOW', MAX_PAUSE_MS) ?? 0,
    ...(words !== undefined && { words }),
  };
}

function readCount(text: string, word: string, max: number): number | undefined {
  const digits = new RegExp(`UPSTREAM-${word} (\\d{1,9})`).exec(text)?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), max);
}

interface ChosenCalls {
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[];
  /** Why a marker led to no call. */
  readonly notes: readonly string[];
}

function chooseCalls(request: GenerateRequest, turn: LastTurn, isSerial: boolean): ChosenCalls {
  const all = findMarkers(turn);
  const markers = isSerial ? all.slice(0, 1) : all;
  const callable = listCallable(request);
  if (callable.length === 0) {
    return { calls: [], notes: markers.map(({ name }) => `No function ${name} may be called.`) };
  }
  const named = markers.map((marker) => ({ marker, target: findFunction(callable, marker.name) }));
  const calls = named.flatMap(({ marker, target }) =>
    target?.name === undefined ? [] : [{ name: target.name, args: marker.args }],
  );
  const notes = named
    .filter(({ target }) => target === undefined)
    .map(({ marker }) => `No function ${marker.name} is among the ${callable.length} callable.`);
  const isForced = request.toolConfig?.functionCallingConfig?.mode === 'ANY';
  if (calls.length === 0 && isForced && turn.results.length === 0) {
    return { calls: callable.slice(0, 1).map(callSmallest), notes };
  }
  return { calls, notes };
}

/** Behind results only the next `THEN-CALL-TOOL` of the turn's prompt counts. */
function findMarkers(turn: LastTurn): CallMarker[] {
  if (turn.results.length === 0) return findCallMarkers(turn.text, 'CALL-TOOL');
  const next = findCallMarkers(turn.prompt, 'THEN-CALL-TOOL')[turn.stepsDone - 1];
  return next === undefined ? [] : [next];
}

function listCallable(request: GenerateRequest): FunctionDeclaration[] {
  const { mode, allowedFunctionNames = [] } = request.toolConfig?.functionCallingConfig ?? {};
  if (mode === 'NONE') return [];
  return declarationsOf(request).filter(
    ({ name = '' }) => allowedFunctionNames.length === 0 || allowedFunctionNames.includes(name),
  );
}

/** Clients prefix the names of their tools (`mcp__server__name`), so an ending is enough. */
function findFunction(
  callable: readonly FunctionDeclaration[],
  name: string,
): FunctionDeclaration | undefined {
  const wanted = name.toLowerCase();
  return (
    callable.find((declaration) => declaration.name === name) ??
    callable.find((declaration) => declaration.name?.toLowerCase() === wanted) ??
    callable.find((declaration) => declaration.name?.toLowerCase().endsWith(wanted))
  );
}

function callSmallest(declaration: FunctionDeclaration): { name: string; args: JsonObject } {
  const schema = declaration.parametersJsonSchema ?? { ...declaration.parameters };
  const args = smallestInstance(JSON.parse(JSON.stringify(schema)));
  return { name: declaration.name ?? '', args: isJsonObject(args) ? args : {} };
}

type CallMarkerWord = 'CALL-TOOL' | 'THEN-CALL-TOOL';

interface CallMarker {
  readonly name: string;
  readonly args: JsonObject;
}

/** What may stand right before the word without making it another word. */
const WORD_CHARACTER = /[A-Za-z0-9_-]/;
const NAME_AND_BRACE = /\s+([A-Za-z0-9_.:/-]+)\s*(?=\{)/y;
const QUOTED_OPENING = /^\{\s*\\"/;

/** The markers in order. Text after the word that is no name with a JSON object is left alone. */
export function findCallMarkers(text: string, word: CallMarkerWord): CallMarker[] {
  const markers: CallMarker[] = [];
  let from = text.indexOf(word);
  while (from !== -1) {
    const end = from + word.length;
    const standsAlone = from === 0 || !WORD_CHARACTER.test(text.charAt(from - 1));
    const marker = standsAlone ? readMarker(text, end) : undefined;
    if (marker !== undefined) markers.push(marker);
    from = text.indexOf(word, end);
  }
  return markers;
}

function readMarker(text: string, start: number): CallMarker | undefined {
  NAME_AND_BRACE.lastIndex = start;
  const name = NAME_AND_BRACE.exec(text)?.[1];
  if (name === undefined) return undefined;
  const rest = text.slice(NAME_AND_BRACE.lastIndex);
  const args = readObject(QUOTED_OPENING.test(rest) ? unquote(rest) : rest);
  return args === undefined ? undefined : { name, args };
}

function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

/** The JSON object a text begins with. */
function readObject(text: string): JsonObject | undefined {
  const end = findObjectEnd(text);
  if (end === undefined) return undefined;
  try {
    const value = parseJson(text.slice(0, end));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The index behind the brace that closes the first one; braces inside strings do not count. */
function findObjectEnd(text: string): number | undefined {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

interface Thinking {
  readonly tokens: number;
  /** Empty unless the request includes thoughts. */
  readonly summary: string;
}

const NO_THINKING: Thinking = { tokens: 0, summary: '' };

/** Thinks within its budget and within half of the output limit, so that an answer always has room. */
function planThinking(request: GenerateRequest, model: SandboxModel, turn: LastTurn): Thinking {
  const { thinkingConfig = {}, maxOutputTokens } = request.generationConfig ?? {};
  const budget = thinkingConfig.thinkingBudget ?? -1;
  if (budget === 0 || !isThinking(thinkingConfig, model)) return NO_THINKING;
  const thoughts = writeThoughts(thinkingConfig, turn);
  const tokens = Math.min(
    countTextTokens(thoughts),
    budget > 0 ? budget : Number.POSITIVE_INFINITY,
    maxOutputTokens === undefined ? Number.POSITIVE_INFINITY : Math.floor(maxOutputTokens / 2),
  );
  const summary = thinkingConfig.includeThoughts === true ? cutToTokens(thoughts, tokens) : '';
  return { tokens, summary };
}

function isThinking(config: ThinkingConfig, { thinking }: SandboxModel): boolean {
  if (thinking === undefined) return false;
  return (
    config.thinkingBudget !== undefined ||
    config.thinkingLevel !== undefined ||
    config.includeThoughts === true
  );
}

function writeThoughts(config: ThinkingConfig, turn: LastTurn): string {
  const subject =
    turn.results.length > 0
      ? `Function responses received: ${turn.results.length}.`
      : `The user says ${quote(turn.text, 40)}.`;
  return `**Reading the request**\n\n${subject} I think ${describeAmount(config)}.`;
}

function describeAmount({ thinkingBudget, thinkingLevel }: ThinkingConfig): string {
  if (thinkingBudget !== undefined && thinkingBudget > 0) {
    return `within ${thinkingBudget} tokens`;
  }
  return thinkingLevel === undefined ? 'as much as I like' : `at level ${thinkingLevel}`;
}

/** Undefined for a model that only writes, and where text or JSON alone was asked for. */
function readPictureOrder(
  request: GenerateRequest,
  model: SandboxModel,
  turn: LastTurn,
): PictureOrder | undefined {
  const { responseModalities, responseMimeType, imageConfig, seed } =
    request.generationConfig ?? {};
  const wantsPicture = responseModalities?.includes('IMAGE') ?? true;
  if (model.drawsImages !== true || !wantsPicture) return undefined;
  if (responseMimeType !== undefined && responseMimeType !== 'text/plain') return undefined;
  const inputs = findInputs(request, turn);
  return {
    prompt: turn.text,
    seed,
    ratio: imageConfig?.aspectRatio ?? ratioOf(inputs[0]),
    size: imageConfig?.imageSize ?? DEFAULT_SIZE,
    inputs,
  };
}

function draw(order: PictureOrder): DrawnPicture {
  return { base64: drawPicture(order).toString('base64'), tokens: pictureTokens(order.size) };
}

/** Two unfinished pictures come before the whole one. */
function drawDrafts(order: PictureOrder): readonly DrawnPicture[] {
  return [1, 2].map((draft) => draw({ ...order, size: DEFAULT_SIZE, draft }));
}

/** Such as `Drew 2752x1536 px (16:9, 2K)`. */
function describeOrder({ ratio, size, inputs }: PictureOrder): string {
  const { width, height } = areaOf(ratio, size);
  const pixels = `${width}x${height} px (${ratio}, ${size})`;
  if (inputs.length === 0) return `Drew ${pixels}.`;
  return `Drew ${pixels} from ${inputs.length === 1 ? 'a picture' : `${inputs.length} pictures`}.`;
}

/** A dialogue goes on with the picture drawn last, unless the user sends another. */
function findInputs(request: GenerateRequest, turn: LastTurn): readonly Blob[] {
  const given = turn.media.filter(isPicture);
  if (given.length > 0) return given;
  return picturesOf(request.contents?.findLast(({ role }) => role === 'model'));
}

function picturesOf(content: Content | undefined): readonly Blob[] {
  return partsOf(content)
    .flatMap(({ inlineData }) => inlineData ?? [])
    .filter(isPicture);
}

function isPicture({ mimeType = '' }: Blob): boolean {
  return mimeType.startsWith('image/');
}

/** An edit keeps the shape of its first picture. */
function ratioOf(input: Blob | undefined): string {
  const size = input && readPictureSize(input);
  const isArea = size !== undefined && size.width > 0 && size.height > 0;
  return isArea ? nearestRatio(size) : DEFAULT_RATIO;
}

/** The words of an answer in the format asked for, cut where a stop sequence or the output limit ends it. */
function composeText(simulation: Simulation, sentences: readonly string[]) {
  const { request, maxTokens } = simulation;
  const whole = writeWhole(simulation, sentences);
  const within = cutToTokens(whole, maxTokens);
  const [stop] = (request.generationConfig?.stopSequences ?? [])
    .map((sequence) => ({ sequence, at: within.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at);
  if (stop !== undefined) {
    const text = within.slice(0, stop.at);
    return { text, finishReason: 'STOP', stopSequence: stop.sequence };
  }
  return { text: within, finishReason: within.length < whole.length ? 'MAX_TOKENS' : 'STOP' };
}

function writeWhole(simulation: Simulation, sentences: readonly string[]): string {
  const { request, turn, directives, maxTokens } = simulation;
  const { responseMimeType, responseSchema } = request.generationConfig ?? {};
  if (responseMimeType === 'application/json') {
    return JSON.stringify(writeJson(simulation, sentences));
  }
  if (responseMimeType === 'text/x.enum') return responseSchema?.enum?.[0] ?? '';
  if (turn.results.length > 0) return writeToolResult(turn);
  const recordings = recordingsToWriteDown(turn);
  if (recordings.length > 0) return recordings.map(describeRecording).join(' ');
  if (directives.say !== undefined) return directives.say;
  if (directives.words === undefined) return writeReflection(sentences, charactersFor(maxTokens));
  return Array.from({ length: directives.words }, (_, index) => `word-${index + 1}`).join(' ');
}

/** Free strings of a schema carry the plain answer, so that it still shows what arrived. */
function writeJson({ request, turn }: Simulation, sentences: readonly string[]): JsonValue {
  const { responseSchema, responseJsonSchema } = request.generationConfig ?? {};
  const hasResults = turn.results.length > 0;
  const schema = responseSchema ?? responseJsonSchema;
  if (schema !== undefined) {
    const plain: JsonValue = JSON.parse(JSON.stringify(schema));
    const recordings = recordingsToWriteDown(turn);
    const timed = recordings.length > 0 ? writeTimedTranscript(plain, recordings) : undefined;
    if (timed !== undefined) return timed;
    return smallestInstance(plain, hasResults ? writeToolResult(turn) : GREETING);
  }
  if (hasResults) return { result: writeToolResult(turn) };
  return { greeting: GREETING, received: [...sentences] };
}

const GREETING = 'HELLO-FROM-UPSTREAM';

const QUOTE_LENGTH = 160;
const MAX_LISTED = 8;

/**
 * Sentences about the request, each true by itself, so that a short answer may leave later ones out.
 * The notes come first, such as a marker that named no declared function.
 */
function describeRequest({ request, model, turn }: Simulation, notes: readonly string[]): string[] {
  const turns = request.contents?.length ?? 0;
  return [
    ...notes,
    `${model.id} received ${turns} ${turns === 1 ? 'turn' : 'turns'}; the last user text is ${quote(turn.text)}.`,
    ...describeSystem(request),
    ...turn.media.slice(0, MAX_LISTED).map((blob) => `Attached: ${describeMedia(blob)}.`),
    ...describeFiles(request),
    ...describeTools(request),
    ...describeSettings(request),
  ];
}

/** As many sentences as fit behind the greeting; the greeting itself always stands. */
function writeReflection(sentences: readonly string[], maxCharacters: number): string {
  let text = `${GREETING}.`;
  for (const sentence of sentences) {
    const longer = `${text} ${sentence}`;
    if (longer.length > maxCharacters) break;
    text = longer;
  }
  return text;
}

function quote(text: string, length: number = QUOTE_LENGTH): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const characters = [...flat.slice(0, length * 2)];
  const cut = characters.length > length;
  return `"${characters.slice(0, length).join('')}${cut ? '…' : ''}"`;
}

function describeSystem(request: GenerateRequest): string[] {
  const text = partsOf(request.systemInstruction)
    .map((part) => part.text ?? '')
    .join('\n');
  if (text === '') return [];
  return [`System text: ${text.length} characters, beginning ${quote(text, 60)}.`];
}

function describeFiles(request: GenerateRequest): string[] {
  const addresses = (request.contents ?? [])
    .flatMap((content) => partsOf(content))
    .flatMap((part) => part.fileData?.fileUri ?? []);
  return addresses
    .slice(0, MAX_LISTED)
    .map((address) => `File named, not fetched: ${quote(address)}.`);
}

function describeTools(request: GenerateRequest): string[] {
  const functions = declarationsOf(request).map(({ name }) => name ?? '');
  const builtIn = (request.tools ?? [])
    .flatMap((tool) => Object.keys(tool))
    .filter((key) => key !== 'functionDeclarations');
  const mode = request.toolConfig?.functionCallingConfig?.mode;
  return [
    ...(functions.length > 0 ? [`Functions (${functions.length}): ${list(functions)}.`] : []),
    ...(builtIn.length > 0 ? [`Built-in tools: ${list(builtIn)}.`] : []),
    ...(mode === undefined ? [] : [`Function calling mode: ${mode}.`]),
  ];
}

function describeSettings(request: GenerateRequest): string[] {
  const { thinkingConfig, responseSchema, responseJsonSchema, stopSequences, ...plain } =
    request.generationConfig ?? {};
  const schema = responseSchema ?? responseJsonSchema;
  const settings = [
    ...Object.entries(plain),
    ...Object.entries(thinkingConfig ?? {}),
    // Counted, not quoted: quoting a stop sequence would end the answer there.
    ...(stopSequences === undefined ? [] : [['stopSequences', stopSequences.length] as const]),
    ...(schema === undefined ? [] : [['responseSchema', 'given'] as const]),
  ].map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return settings.length === 0 ? [] : [`Settings: ${settings.join(', ')}.`];
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown;
}

const SHOWN_CHARACTERS = 80;
/** Keys that commonly hold the result itself. */
const RESULT_KEYS = ['output', 'result', 'content', 'text', 'error'];
const NONCE = /NONCE-[0-9a-f]+/;

/** `TOOL-RESULT-SEEN: <first 80 characters>`, then a nonce found further in, then attached media. */
function writeToolResult(turn: LastTurn): string {
  const whole = turn.results.map(readResultText).join('\n');
  const shown = whole.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARACTERS);
  const nonce = NONCE.exec(whole)?.[0];
  const further = nonce === undefined || shown.includes(nonce) ? '' : ` ${nonce}`;
  const media = turn.media.map((blob) => ` [${describeMedia(blob)}]`).join('');
  return `TOOL-RESULT-SEEN: ${shown}${further}${media}`;
}

function readResultText({ response = {} }: FunctionResponse): string {
  for (const key of RESULT_KEYS) {
    const value = response[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(response);
}

/** Seconds from the beginning. */
type Span = { readonly start: number; readonly end: number };
type TimedText = Span & { readonly text: string };

const ASKED = /\b(?:write down|transcri)/i;
const LANGUAGE = 'English';

/** The recordings of the turn, when it asks for what is said in them. */
function recordingsToWriteDown(turn: LastTurn): readonly Blob[] {
  if (!ASKED.test(turn.text)) return [];
  return turn.media.filter(({ mimeType = '' }) => mimeType.startsWith('audio/'));
}

/**
 * Fits a schema whose object holds `segments`: one segment a recording, spanning its length, with words
 * spread evenly over it where the schema has `words`. Undefined for any other schema.
 */
function writeTimedTranscript(
  schema: JsonValue,
  recordings: readonly Blob[],
): JsonObject | undefined {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  if (!isJsonObject(properties) || !isJsonObject(properties.segments)) return undefined;
  const pieces = placeInTime(recordings);
  const words = pieces.flatMap(({ text, ...span }) => spreadWords(text, span));
  const known: JsonObject = {
    language: LANGUAGE,
    duration: pieces.at(-1)?.end ?? 0,
    segments: fitItems(properties.segments, pieces),
    ...(isJsonObject(properties.words) && {
      words: fitItems(
        properties.words,
        words.map(({ text, ...span }) => ({ ...span, word: text })),
      ),
    }),
  };
  const smallest = smallestInstance(schema);
  const fitting = Object.entries(known).filter(([name]) => name in properties);
  return { ...(isJsonObject(smallest) ? smallest : {}), ...Object.fromEntries(fitting) };
}

function describeRecording(blob: Blob): string {
  const sound = readSound(blob);
  if (sound === undefined) return `A recording: ${describeMedia(blob)}.`;
  const { durationSeconds, sampleRate, channels, bitsPerSample } = sound;
  const seconds = round(durationSeconds);
  const kind = channels === 1 ? 'one channel' : `${channels} channels`;
  return (
    `A recording of ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, ${sampleRate} Hz, ${kind}, ` +
    `${bitsPerSample} bits a sample; ${describePeak(findPeak(sound))}.`
  );
}

function describePeak(peak: number | undefined): string {
  if (peak === undefined) return 'its loudness cannot be told';
  if (peak === 0) return 'it is silent';
  return `its peak is ${Math.max(1, Math.round(peak * 100))} % of full scale`;
}

function placeInTime(recordings: readonly Blob[]): readonly TimedText[] {
  let start = 0;
  return recordings.map((blob) => {
    const end = round(start + (readSound(blob)?.durationSeconds ?? 0));
    const piece = { start, end, text: describeRecording(blob) };
    start = end;
    return piece;
  });
}

function spreadWords(text: string, { start, end }: Span): readonly TimedText[] {
  const words = text.split(' ');
  const share = (end - start) / words.length;
  return words.map((word, index) => ({
    start: round(start + index * share),
    end: round(start + (index + 1) * share),
    text: word,
  }));
}

/** What the items of the list must hold beside what is known of each. */
function fitItems(list: JsonObject, items: readonly JsonObject[]): JsonObject[] {
  const smallest = smallestInstance(list.items ?? {});
  return items.map((item) => ({ ...(isJsonObject(smallest) ? smallest : {}), ...item }));
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

const MAX_DEPTH = 12;
const DEFAULT_TEXT = 'sandbox';

const TEXT_BY_FORMAT = new Map([
  ['date-time', '2026-01-01T00:00:00Z'],
  ['date', '2026-01-01'],
  ['time', '00:00:00Z'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['email', 'sandbox@sandbox.example'],
  ['uri', 'https://sandbox.example/'],
  ['url', 'https://sandbox.example/'],
  ['ipv4', '127.0.0.1'],
  ['ipv6', '::1'],
  ['hostname', 'sandbox.example'],
]);

interface Walk {
  readonly root: JsonObject;
  /** What free strings say. */
  readonly text: string;
  readonly depth: number;
}

/** Free strings hold `text`. Patterns are not searched: a string with one may fail it. */
export function smallestInstance(schema: JsonValue, text: string = DEFAULT_TEXT): JsonValue {
  return isJsonObject(schema) ? build(schema, { root: schema, text, depth: 0 }) : null;
}

function build(schema: JsonValue | undefined, walk: Walk): JsonValue {
  if (schema === true) return walk.text;
  if (!isJsonObject(schema) || walk.depth > MAX_DEPTH) return null;
  const inner = { ...walk, depth: walk.depth + 1 };
  if (typeof schema.$ref === 'string') {
    return build(resolveReference(walk.root, schema.$ref), inner);
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0];
  if (Array.isArray(schema.allOf)) return build(mergeAll(schema, schema.allOf, walk), inner);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && branches[0] !== undefined) return build(branches[0], inner);
  return buildTyped(schema, inner);
}

function buildTyped(schema: JsonObject, walk: Walk): JsonValue {
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, walk);
    case 'array':
      return buildArray(schema, walk);
    case 'integer':
    case 'number':
      return buildNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return buildString(schema, walk.text);
  }
}

function typeOf(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (typeof type === 'string') return type.toLowerCase();
  if (schema.properties !== undefined) return 'object';
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : 'string';
}

/** The required properties; all of them when none is required, so that the value shows something. */
function buildObject(schema: JsonObject, walk: Walk): JsonValue {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const chosen = required.length > 0 ? new Set(required) : new Set(Object.keys(properties));
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => chosen.has(name))
      .map(([name, property]) => [name, build(property, walk)]),
  );
}

function buildArray(schema: JsonObject, walk: Walk): JsonValue {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const length = Math.min(numberOf(schema.minItems) ?? 0, 100);
  return Array.from({ length }, (_, index) => build(prefix[index] ?? schema.items, walk));
}

function buildNumber(schema: JsonObject): number {
  const isInteger = typeOf(schema) === 'integer';
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const least =
    numberOf(schema.minimum) ?? (above === undefined ? undefined : next(above, below, isInteger));
  const most = numberOf(schema.maximum) ?? (below === undefined ? undefined : below - 1);
  const value = least ?? Math.min(1, most ?? 1);
  const step = numberOf(schema.multipleOf) ?? 0;
  if (step > 0) return Math.ceil(value / step) * step;
  return isInteger ? Math.ceil(value) : value;
}

/** A number just above `above`: the next integer, or half way to `below`. */
function next(above: number, below: number | undefined, isInteger: boolean): number {
  if (isInteger || below === undefined) return Math.floor(above) + 1;
  return (above + below) / 2;
}

function buildString(schema: JsonObject, text: string): string {
  const format = typeof schema.format === 'string' ? TEXT_BY_FORMAT.get(schema.format) : undefined;
  if (format !== undefined) return format;
  const longest = Math.max(0, numberOf(schema.maxLength) ?? text.length);
  const shortest = Math.min(numberOf(schema.minLength) ?? 0, 10_000);
  return text.slice(0, longest).padEnd(shortest, 'x');
}

function numberOf(value: JsonValue | undefined): number | undefined {
  // int64 fields may be decimal text.
  return typeof value === 'string' && value !== '' ? Number(value) : readNumber(value);
}

/** One schema holding the properties and requirements of all branches. */
function mergeAll(schema: JsonObject, branches: readonly JsonValue[], walk: Walk): JsonObject {
  const { allOf: _merged, ...own } = schema;
  const resolved = branches.map((branch) =>
    isJsonObject(branch) && typeof branch.$ref === 'string'
      ? resolveReference(walk.root, branch.$ref)
      : branch,
  );
  const all = [own, ...resolved].filter(isJsonObject);
  const properties = all.flatMap(({ properties: some }) =>
    isJsonObject(some) ? Object.entries(some) : [],
  );
  const required = all.flatMap(({ required: some }) => (Array.isArray(some) ? some : []));
  return {
    ...Object.fromEntries(all.flatMap((branch) => Object.entries(branch))),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

const QUERY_LENGTH = 80;
const SENTENCE = /[^.;]+[.;]?/g;
const MAX_SUPPORTS = 3;

/** Grounding of `answer` by a search for the user's words. */
function writeGrounding(userText: string, answer: string): JsonObject {
  const words = userText.replace(/\s+/g, ' ').trim().toWellFormed();
  const query = [...words].slice(0, QUERY_LENGTH).join('') || 'sandbox';
  const slug = encodeURIComponent(query.toLowerCase().replaceAll(' ', '-'));
  return {
    webSearchQueries: [query],
    searchEntryPoint: { renderedContent: `<div>${escapeHtml(query)}</div>` },
    groundingChunks: [
      writeSource('www.example.com', `guide/${slug}`, `Guide: ${query}`),
      writeSource('www.example.org', `news/${slug}`, `News: ${query}`),
    ],
    groundingSupports: writeSupports(answer),
  };
}

function writeSource(domain: string, path: string, title: string): JsonObject {
  return { web: { uri: `https://${domain}/${path}`, title, domain } };
}

/** One support per sentence, up to three. A start of 0 is left out, as proto JSON does. */
function writeSupports(answer: string): JsonValue[] {
  const supports: JsonValue[] = [];
  for (const match of answer.matchAll(SENTENCE)) {
    if (supports.length === MAX_SUPPORTS) break;
    const startIndex = Buffer.byteLength(answer.slice(0, match.index));
    const endIndex = startIndex + Buffer.byteLength(match[0]);
    supports.push({
      segment: { ...(startIndex > 0 && { startIndex }), endIndex, text: match[0] },
      groundingChunkIndices: supports.length === 0 ? [0, 1] : [supports.length % 2],
    });
  }
  return supports;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const ADDRESS = /https?:\/\/[^\s"'<>)\]]+/g;
/** ai.google.dev, "URL context": at most twenty a request. */
const MAX_PAGES = 20;

/** Undefined where the words name no address. Those of hosts called `unreachable.…` cannot be opened. */
function writeUrlContext(userText: string): JsonObject | undefined {
  const urls = [...new Set(userText.match(ADDRESS))].slice(0, MAX_PAGES);
  if (urls.length === 0) return undefined;
  return {
    urlMetadata: urls.map((url) => ({
      retrievedUrl: url,
      urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${isOpen(url) ? 'SUCCESS' : 'ERROR'}`,
    })),
  };
}

function isOpen(url: string): boolean {
  return !/^https?:\/\/unreachable\./.test(url);
}

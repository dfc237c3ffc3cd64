// Writes an answer in the generate-content form, whole or as a stream, scripted damage included, and sends it.
// Source: generate-content API, GenerateContentResponse; streams end with an empty text part (thought signature docs).

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type SandboxError, writeError, writeScriptedError } from './errors.ts';
import type { JsonObject } from './json.ts';
import {
  type Answer,
  type Candidate,
  countOutputTokens,
  countPictureTokens,
  type DrawnPicture,
} from './simulate.ts';
import type { CutKind, Ending, Fault, SandboxClock, Signatures } from './state.ts';
import { sumTokens } from './tokens.ts';
import type { Part } from './wire.ts';

/** `sse` for `alt=sse`; without it a stream is one JSON array. */
export type Delivery = 'whole' | 'sse' | 'array';

export interface Frames {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes for what is no text. */
  readonly list: readonly (string | Buffer)[];
}

const JSON_TYPE = 'application/json; charset=UTF-8';
const BROKEN_JSON = '{"candidates":[{"content":{"parts":[{"te';

export function writeFrames(
  answer: Answer,
  { delivery, signatures, fault }: { delivery: Delivery; signatures: Signatures; fault: Fault },
): Frames {
  switch (delivery) {
    case 'whole':
      return { contentType: JSON_TYPE, list: [writeWholeFrame(answer, signatures, fault)] };
    case 'sse':
      return {
        contentType: 'text/event-stream',
        list: damage(listChunks(answer, signatures, fault).map(writeEvent), fault, {
          error: writeError,
          frame: writeEvent,
          broken: `data: ${BROKEN_JSON}\r\n\r\n`,
        }),
      };
    case 'array':
      return {
        contentType: JSON_TYPE,
        list: writeArray(listChunks(answer, signatures, fault), fault),
      };
    default:
      return delivery satisfies never;
  }
}

function writeWholeFrame(answer: Answer, signatures: Signatures, fault: Fault): string {
  if (fault.garbage === true) return BROKEN_JSON;
  // 200 without any candidate: what an empty answer looks like.
  if (fault.emptyStream === true)
    return JSON.stringify(writeResponse(answer, undefined, NO_TOKENS));
  return JSON.stringify(writeWhole(answer, signatures));
}

function listChunks(answer: Answer, signatures: Signatures, fault: Fault): JsonObject[] {
  return fault.emptyStream === true ? [] : writeChunks(answer, signatures);
}

/** The real service ends lines with CRLF. */
function writeEvent(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\r\n\r\n`;
}

function writeArray(chunks: readonly JsonObject[], fault: Fault): string[] {
  if (chunks.length === 0) return ['[]'];
  const separate = (text: string, index: number): string => `${index === 0 ? '[' : ',\r\n'}${text}`;
  const texts = chunks.map((chunk) => JSON.stringify(chunk));
  const form: DamageForm = {
    error: writeError,
    frame: (chunk) => JSON.stringify(chunk),
    broken: BROKEN_JSON,
  };
  return [...damage(texts, fault, form).map(separate), ']'];
}

/** How a stream says what a fault puts into it. */
interface DamageForm {
  readonly error: (error: SandboxError) => JsonObject;
  readonly frame: (content: JsonObject) => string;
  readonly broken: string;
}

/** Puts a broken line behind the first frame, or an error in place of the rest. */
export function damage(frames: readonly string[], fault: Fault, form: DamageForm): string[] {
  const whole = fault.garbage === true ? frames.toSpliced(1, 0, form.broken) : [...frames];
  if (fault.errorAfterEvents === undefined) return whole;
  const error = form.error(writeScriptedError(fault.status ?? 503, fault));
  const last = fault.rawError === true ? JSON.stringify(error, null, 2) : form.frame(error);
  return [...whole.slice(0, fault.errorAfterEvents), last];
}

interface OutputTokens {
  readonly words: number;
  readonly pictures: number;
}

/** One part of a candidate, and its output tokens with this part. */
interface Step {
  readonly part: JsonObject;
  readonly tokens: OutputTokens;
}

const NO_TOKENS: OutputTokens = { words: 0, pictures: 0 };

export function writeWhole(answer: Answer, signatures: Signatures): JsonObject {
  if (answer.blockReason !== undefined) return writeBlocked(answer);
  const candidates = answer.candidates.map((candidate, index) => {
    const { thoughts, text } = candidate;
    const parts = [
      ...(thoughts === '' ? [] : [{ text: thoughts, thought: true }]),
      ...writeDrafts(candidate),
      ...writeCalls(candidate, answer, signatures),
      ...(text === '' ? [] : [sign({ text }, answer, signatures)]),
      ...writePictures(candidate, answer, signatures),
    ];
    return { content: writeContent(parts), ...writeEnding(candidate), index };
  });
  return writeResponse(answer, candidates, sumOutput(answer.candidates.map(countCandidate)));
}

/** Every chunk carries running usage; candidates take turns. */
export function writeChunks(answer: Answer, signatures: Signatures): JsonObject[] {
  if (answer.blockReason !== undefined) return [writeBlocked(answer)];
  const tracks = answer.candidates.map((candidate) => listSteps(candidate, answer, signatures));
  const reached = tracks.map(() => NO_TOKENS);
  const chunks: JsonObject[] = [];
  const longest = Math.max(0, ...tracks.map((track) => track.length));
  for (let round = 0; round < longest; round += 1) {
    for (const [index, candidate] of answer.candidates.entries()) {
      const step = tracks[index]?.[round];
      if (step === undefined) continue;
      reached[index] = step.tokens;
      const isLast = tracks[index]?.length === round + 1;
      const content = writeContent([step.part]);
      const written = { content, ...(isLast && writeEnding(candidate)), index };
      chunks.push(writeResponse(answer, [written], sumOutput(reached)));
    }
  }
  return chunks;
}

function countCandidate(candidate: Candidate): OutputTokens {
  const { text, calls } = candidate;
  return { words: countOutputTokens(text, calls), pictures: countPictureTokens(candidate) };
}

function sumOutput(all: readonly OutputTokens[]): OutputTokens {
  const sumOf = (kind: keyof OutputTokens) => all.reduce((sum, tokens) => sum + tokens[kind], 0);
  return { words: sumOf('words'), pictures: sumOf('pictures') };
}

function listSteps(candidate: Candidate, answer: Answer, signatures: Signatures): Step[] {
  const { thoughts, text, calls } = candidate;
  const steps: Step[] = [];
  const add = (part: JsonObject, words: number, pictures = 0): void => {
    steps.push({ part, tokens: { words, pictures } });
  };
  for (const piece of splitText(thoughts)) add({ text: piece, thought: true }, 0);
  for (const part of writeDrafts(candidate)) add(part, 0);
  let said = '';
  for (const piece of splitText(text)) {
    said += piece;
    add({ text: piece }, countOutputTokens(said, []));
  }
  for (const [index, part] of writeCalls(candidate, answer, signatures).entries()) {
    add(part, countOutputTokens('', calls.slice(0, index + 1)));
  }
  const { words, pictures } = countCandidate(candidate);
  for (const part of writePictures(candidate, answer, signatures)) add(part, words, pictures);
  const closing = { text: '' };
  add(text === '' ? closing : sign(closing, answer, signatures), words, pictures);
  return steps;
}

function sign<Signed extends JsonObject & Part>(
  part: Signed,
  { family }: Answer,
  signatures: Signatures,
): JsonObject {
  return { ...part, thoughtSignature: signatures.issue(part, family) };
}

function writeDrafts({ drafts = [] }: Candidate): JsonObject[] {
  return drafts.map((draft) => ({ inlineData: writeBlob(draft), thought: true }));
}

/** Parallel calls of one step: the first alone carries the signature. */
function writeCalls({ calls }: Candidate, answer: Answer, signatures: Signatures): JsonObject[] {
  return calls.map((call, index) => {
    const part = { functionCall: { ...call } };
    return index > 0 ? part : sign(part, answer, signatures);
  });
}

/** Image models sign every picture, so that a dialogue can go on with it. */
function writePictures(
  { pictures = [] }: Candidate,
  answer: Answer,
  signatures: Signatures,
): JsonObject[] {
  return pictures.map((picture) => sign({ inlineData: writeBlob(picture) }, answer, signatures));
}

function writeBlob({ base64 }: DrawnPicture): { mimeType: string; data: string } {
  return { mimeType: 'image/png', data: base64 };
}

function writeContent(parts: JsonObject[]): JsonObject {
  return parts.length === 0 ? { role: 'model' } : { parts, role: 'model' };
}

function writeEnding(candidate: Candidate): JsonObject {
  const { finishReason, finishMessage, groundingMetadata, urlContextMetadata, logprobs } =
    candidate;
  return {
    finishReason,
    ...(logprobs !== undefined && {
      logprobsResult: writeLogprobs(logprobs.tokens),
      avgLogprobs: 0,
    }),
    ...(finishMessage !== undefined && { finishMessage }),
    ...(groundingMetadata !== undefined && { groundingMetadata }),
    ...(urlContextMetadata !== undefined && { urlContextMetadata }),
  };
}

/** The same request always gets the same words: each is certain, and there is no other. */
function writeLogprobs(tokens: readonly string[]): JsonObject {
  const chosen = tokens.map((token): JsonObject => ({ token, logProbability: 0 }));
  return {
    chosenCandidates: chosen,
    topCandidates: chosen.map((candidate) => ({ candidates: [candidate] })),
  };
}

function writeBlocked(answer: Answer): JsonObject {
  const promptFeedback = { blockReason: answer.blockReason ?? 'OTHER' };
  return { promptFeedback, ...writeResponse(answer, undefined, NO_TOKENS) };
}

function writeResponse(
  answer: Answer,
  candidates: JsonObject[] | undefined,
  output: OutputTokens,
): JsonObject {
  return {
    ...(candidates !== undefined && { candidates }),
    usageMetadata: writeUsage(answer, output),
    modelVersion: answer.modelId,
    responseId: answer.responseId,
  };
}

/** Figures of 0 are left out, as the real service does. Prompt includes cached; candidates exclude thoughts. */
function writeUsage(answer: Answer, { words, pictures }: OutputTokens): JsonObject {
  const outputTokens = words + pictures;
  const prompt = sumTokens(answer.prompt);
  const thoughts = answer.thinkingTokens * answer.candidates.length;
  const details = [...answer.prompt].map(([modality, tokenCount]) => ({ modality, tokenCount }));
  return {
    promptTokenCount: prompt,
    ...(answer.cachedTokens > 0 && { cachedContentTokenCount: answer.cachedTokens }),
    ...(outputTokens > 0 && { candidatesTokenCount: outputTokens }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: prompt + outputTokens + thoughts,
    promptTokensDetails: details,
    ...(pictures > 0 && {
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: pictures }],
    }),
  };
}

const PIECE_LENGTH = 24;
/** Long texts come in at most about this many pieces. */
const MAX_PIECES = 2_000;

export function splitText(text: string): string[] {
  const length = Math.max(PIECE_LENGTH, Math.ceil(text.length / MAX_PIECES));
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    const splitsPair = /[\ud800-\udbff]/.test(text.charAt(from + length - 1));
    const to = from + length + (splitsPair ? 1 : 0);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

interface Pace {
  readonly clock: SandboxClock;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  /** Wait before each frame but the first. */
  readonly pauseMs: number;
  readonly cutAfterFrames?: number | undefined;
  readonly cutAfterBytes?: number | undefined;
  readonly cutKind: CutKind;
  /** Falls silent there until the caller leaves. */
  readonly hangAfterFrames?: number | undefined;
}

/** Answers 200 with the frames as body. */
export async function sendFrames(
  response: ServerResponse,
  frames: Frames,
  pace: Pace,
): Promise<Ending> {
  response.writeHead(200, { 'content-type': frames.contentType, ...frames.headers });
  response.flushHeaders();
  try {
    return await sendBody(response, frames.list, pace);
  } catch (error) {
    if (pace.signal.aborted) return 'client-gone';
    throw error;
  }
}

async function sendBody(
  response: ServerResponse,
  frames: Frames['list'],
  pace: Pace,
): Promise<Ending> {
  let room = pace.cutAfterBytes ?? Number.POSITIVE_INFINITY;
  for (const [index, frame] of frames.entries()) {
    if (index === pace.cutAfterFrames) return cut(response, pace.cutKind);
    if (index === pace.hangAfterFrames) await leaving(pace.signal);
    if (index > 0 && pace.pauseMs > 0) await pace.clock.sleep(pace.pauseMs, pace.signal);
    const bytes = typeof frame === 'string' ? Buffer.from(frame) : frame;
    if (bytes.length > room) {
      await write(response, bytes.subarray(0, room), pace.signal);
      return cut(response, pace.cutKind);
    }
    room -= bytes.length;
    await write(response, bytes, pace.signal);
  }
  if (frames.length === pace.cutAfterFrames) return cut(response, pace.cutKind);
  response.end();
  return 'complete';
}

async function leaving(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await once(signal, 'abort');
}

async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!response.write(bytes)) await once(response, 'drain', { signal });
}

/** `reset` lets what was written arrive, then drops the connection without the body's proper end. */
function cut(response: ServerResponse, kind: CutKind): Ending {
  if (kind === 'end') response.end();
  else response.write('', () => response.socket?.destroySoon());
  return 'cut';
}

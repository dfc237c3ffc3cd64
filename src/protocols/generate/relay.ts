// The relay lane: native frames forwarded as they came, repaired only where clients would stumble.

import { type ErrorKind, upstreamError } from '../../canonical/error.ts';
import { joinOpening, MIN_OPENING_LENGTH } from '../../canonical/text-forms.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { GENERATE_WIRE } from '../../wire/generate.ts';
import type { LateReading, RelayCall } from '../relayed-request.ts';
import type { RelayWriter } from '../writers.ts';
import { writeError } from './errors.ts';
import type { GenerateBody } from './normalize-body.ts';
import { Framing, type FramingKind } from './write-events.ts';

interface Joined {
  /** Everything but the parts. */
  candidate: JsonObject;
  readonly parts: JsonObject[];
}

/** A single answer stays as it is. Of several the parts are put together, of everything else the last word counts. */
function joinAnswers(answers: readonly JsonObject[]): JsonObject {
  const [first = {}, ...rest] = answers;
  if (rest.length === 0) return first;
  const joined = new Map<number, Joined>();
  for (const answer of answers) {
    for (const candidate of objectsOf(answer.candidates)) addCandidate(joined, candidate);
  }
  const candidates = [...joined]
    .sort(([left], [right]) => left - right)
    .map(([, { candidate, parts }]) => ({
      ...candidate,
      content: { role: 'model', ...contentOf(candidate), parts },
    }));
  const whole: JsonObject = {};
  // One after the other: a call takes no hundred thousand arguments.
  for (const answer of answers) Object.assign(whole, answer);
  return candidates.length === 0 ? whole : { ...whole, candidates };
}

function addCandidate(joined: Map<number, Joined>, added: JsonObject): void {
  const index = readNumber(added.index) ?? 0;
  const known = joined.get(index) ?? { candidate: {}, parts: [] };
  joined.set(index, known);
  known.candidate = { ...known.candidate, ...added };
  for (const part of objectsOf(contentOf(added).parts)) addPart(known.parts, part);
}

/** Text that goes on is one part with the signature of any of its pieces (decision 018); two signed ones stay two. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isOnePart =
    last !== undefined && isText(last) && isText(part) && last.thought === part.thought;
  const areSigned = last?.thoughtSignature !== undefined && part.thoughtSignature !== undefined;
  if (!isOnePart || areSigned) parts.push(part);
  else parts[parts.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
}

function isText({ text, functionCall }: JsonObject): boolean {
  return typeof text === 'string' && functionCall === undefined;
}

/** Top-level fields of an answer; anything else is an upstream's internal matter. */
const ANSWER_FIELDS = new Set([
  'candidates',
  'promptFeedback',
  'usageMetadata',
  'modelVersion',
  'responseId',
  'createTime',
  'modelStatus',
]);

const FRAME_ERROR_KINDS: ReadonlyMap<number, ErrorKind> = new Map([
  [400, 'upstream-rejected'],
  [429, 'rate-limited'],
  [503, 'overloaded'],
  [504, 'timeout'],
]);

export function createRelayCall(
  body: GenerateBody,
  framing: FramingKind,
  reading: LateReading,
): RelayCall {
  return {
    wire: GENERATE_WIRE,
    body,
    choices: readNumber(body.generationConfig?.candidateCount),
    /** As of the canonical request. */
    openingText() {
      const { contents = [], systemInstruction } = body;
      for (const { role, parts = [] } of contents) {
        if (role === 'model') continue;
        for (const { text = '' } of parts) {
          if (text.length < MIN_OPENING_LENGTH) continue;
          const system = systemInstruction?.parts ?? [];
          return joinOpening(
            system.map((part) => part.text ?? ''),
            text,
          );
        }
      }
      return undefined;
    },
    reading,
    declaredNames: () => declaredNames(body),
    renameCalls,
    createStreamWriter: () => createRelayWriter(framing),
    writeReply: (upstreamBodies) => repairAnswer(joinAnswers(upstreamBodies)),
  };
}

function declaredNames({ tools = [] }: GenerateBody): ReadonlySet<string> {
  return new Set(
    tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.flatMap(({ name }) => name ?? []),
    ),
  );
}

/** Frames share values with those before them: what changes is copied. */
function renameCalls(frame: JsonObject, rename: (name: string) => string): JsonObject {
  const candidates = objectsOf(frame.candidates);
  if (!candidates.some(hasCall)) return frame;
  let isChanged = false;
  const renamePart = (part: JsonObject): JsonObject => {
    if (!isJsonObject(part.functionCall)) return part;
    const { name } = part.functionCall;
    const renamed = typeof name === 'string' ? rename(name) : name;
    if (renamed === undefined || renamed === name) return part;
    isChanged = true;
    return { ...part, functionCall: { ...part.functionCall, name: renamed } };
  };
  const renamed = candidates.map((candidate) => {
    const content = contentOf(candidate);
    const parts = objectsOf(content.parts).map(renamePart);
    return hasCall(candidate) ? { ...candidate, content: { ...content, parts } } : candidate;
  });
  return isChanged ? { ...frame, candidates: renamed } : frame;
}

function hasCall(candidate: JsonObject): boolean {
  return objectsOf(contentOf(candidate).parts).some((part) => part.functionCall !== undefined);
}

/** What clients take for the end of a good answer; every other reason says itself that something is wrong. */
const GOOD_ENDS: ReadonlySet<unknown> = new Set(['STOP', 'MAX_TOKENS']);

/**
 * A frame with a good end waits with what comes behind it (counts, sources) for the end of the answer, and is sent
 * without that end when the answer breaks off.
 */
function createRelayWriter(kind: FramingKind): RelayWriter {
  const framing = new Framing(kind);
  let ending: { readonly frame: JsonObject; readonly text: string }[] = [];
  /** True when the last frame went out as it came. */
  let isVerbatim = false;
  const release = (): string => {
    const text = ending.map((held) => framing.element(writeFrame(held.frame, held.text))).join('');
    ending = [];
    return text;
  };
  return {
    contentType: framing.contentType,
    write(frame, text) {
      isVerbatim = false;
      if (hasGoodEnd(frame) || (ending.length > 0 && !goesOn(frame))) {
        ending.push({ frame, text });
        return '';
      }
      const released = ending.length === 0 ? '' : release();
      const written = writeFrame(frame, text);
      if (isJsonObject(frame.error)) return released + framing.failure(written);
      isVerbatim = written === text;
      return released + framing.element(written);
    },
    repeat: (text) => (isVerbatim ? framing.element(text) : undefined),
    end: () => release() + framing.end(),
    error(error) {
      const rest = ending.map(({ frame }) =>
        framing.element(JSON.stringify(repairAnswer(withoutGoodEnd(frame)))),
      );
      ending = [];
      return rest.join('') + framing.error(error);
    },
    keepAlive: () => framing.keepAlive(),
  };
}

function writeFrame(frame: JsonObject, text: string): string {
  const answer = isJsonObject(frame.error) ? replaceError(frame.error) : repairAnswer(frame);
  const isVerbatim = answer === frame && !text.includes('\n') && !text.includes('\r');
  return isVerbatim ? text : JSON.stringify(answer);
}

function hasGoodEnd({ candidates }: JsonObject): boolean {
  return objectsOf(candidates).some(({ finishReason }) => GOOD_ENDS.has(finishReason));
}

/** True when an answer still says something: another one of several may have ended. */
function goesOn({ candidates }: JsonObject): boolean {
  return objectsOf(candidates).some(hasParts);
}

function withoutGoodEnd(frame: JsonObject): JsonObject {
  if (!hasGoodEnd(frame)) return frame;
  const candidates = objectsOf(frame.candidates).map((candidate) => {
    if (!GOOD_ENDS.has(candidate.finishReason)) return candidate;
    const { finishReason: _reason, finishMessage: _message, ...rest } = candidate;
    return rest;
  });
  return { ...frame, candidates };
}

/**
 * The same object when clients can take it as it is. Otherwise a copy in which every answer has a
 * candidate and every candidate a part: SDK chats forget a turn when one chunk has none.
 */
function repairAnswer(answer: JsonObject): JsonObject {
  let isKnown = true;
  for (const key in answer) isKnown &&= ANSWER_FIELDS.has(key);
  const { candidates } = answer;
  const isComplete = Array.isArray(candidates) && candidates.length > 0;
  if (isKnown && isComplete && candidates.every(hasParts)) return answer;
  const kept = Object.entries(answer).filter(([key]) => ANSWER_FIELDS.has(key));
  const result: JsonObject = Object.fromEntries(kept);
  if (isComplete) result.candidates = candidates.map(repairCandidate);
  else if (answer.promptFeedback === undefined) result.candidates = [repairCandidate({ index: 0 })];
  return isKnown && result.candidates === undefined ? answer : result;
}

function hasParts(candidate: JsonValue): boolean {
  if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) return false;
  const { parts, role } = candidate.content;
  return role === 'model' && Array.isArray(parts) && parts.length > 0;
}

function repairCandidate(candidate: JsonValue): JsonValue {
  if (hasParts(candidate) || !isJsonObject(candidate)) return candidate;
  const content = contentOf(candidate);
  const parts =
    Array.isArray(content.parts) && content.parts.length > 0 ? content.parts : [{ text: '' }];
  return { ...candidate, content: { ...content, role: 'model', parts } };
}

function contentOf({ content }: JsonObject): JsonObject {
  return isJsonObject(content) ? content : {};
}

/** An upstream's own error text may name its accounts and projects; the client gets the kind only. */
function replaceError(error: JsonObject): JsonObject {
  const code = readNumber(error.code) ?? 500;
  const kind = FRAME_ERROR_KINDS.get(code) ?? 'upstream-unavailable';
  const message = 'The upstream ended the answer with an error. Please send the request again.';
  return writeError(upstreamError(kind, message)).body;
}

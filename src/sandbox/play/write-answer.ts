// Writes an answer in the generate-content form: as one body, or as the chunks of a stream.
// Source: generate-content API, GenerateContentResponse; streams end with an empty text part (thought signature docs).

import type { JsonObject } from '../../lib/json.ts';
import type { Signatures } from '../signatures.ts';
import { sumTokens } from '../tokens.ts';
import { type Answer, type Candidate, countOutputTokens, type IssuedCall } from './answer.ts';
import { splitText } from './split-text.ts';

/** One chunk of one candidate, before usage is added. */
interface Step {
  readonly candidate: JsonObject;
  /** Output tokens of this candidate so far. */
  readonly tokens: number;
}

export function writeWhole(answer: Answer, signatures: Signatures): JsonObject {
  if (answer.blockReason !== undefined) return writeBlocked(answer);
  const tokens = answer.candidates.reduce((sum, { text, calls }) => {
    return sum + countOutputTokens(text, calls);
  }, 0);
  const candidates = answer.candidates.map((candidate, index) => ({
    content: writeContent(wholeParts(candidate, answer, signatures)),
    ...writeEnding(candidate),
    index,
  }));
  return writeResponse(answer, candidates, tokens);
}

/** Every chunk carries running usage; candidates take turns. */
export function writeChunks(answer: Answer, signatures: Signatures): JsonObject[] {
  if (answer.blockReason !== undefined) return [writeBlocked(answer)];
  const tracks = answer.candidates.map((candidate, index) =>
    listSteps(candidate, { answer, index, signatures }),
  );
  const reached = tracks.map(() => 0);
  const chunks: JsonObject[] = [];
  const longest = Math.max(0, ...tracks.map((track) => track.length));
  for (let round = 0; round < longest; round += 1) {
    for (const [index, track] of tracks.entries()) {
      const step = track[round];
      if (step === undefined) continue;
      reached[index] = step.tokens;
      const tokens = reached.reduce((sum, count) => sum + count, 0);
      chunks.push(writeResponse(answer, [step.candidate], tokens));
    }
  }
  return chunks;
}

/** 200 without any candidate: what an empty answer looks like. */
export function writeEmpty(answer: Answer): JsonObject {
  return writeResponse(answer, undefined, 0);
}

function wholeParts(candidate: Candidate, answer: Answer, signatures: Signatures): JsonObject[] {
  const { text } = candidate;
  const textPart = { text, thoughtSignature: signatures.issue({ text }, answer.family) };
  return [
    ...writeThoughts(candidate.thoughts),
    ...writeCalls(candidate.calls, answer, signatures),
    ...(text === '' ? [] : [textPart]),
  ];
}

function listSteps(
  candidate: Candidate,
  { answer, index, signatures }: { answer: Answer; index: number; signatures: Signatures },
): Step[] {
  const steps: Step[] = [];
  const add = (part: JsonObject, tokens: number): void => {
    steps.push({ candidate: { content: writeContent([part]), index }, tokens });
  };
  for (const piece of splitText(candidate.thoughts)) add({ text: piece, thought: true }, 0);
  let said = '';
  for (const piece of splitText(candidate.text)) {
    said += piece;
    add({ text: piece }, countOutputTokens(said, []));
  }
  writeCalls(candidate.calls, answer, signatures).forEach((part, position) => {
    add(part, countOutputTokens('', candidate.calls.slice(0, position + 1)));
  });
  const closing =
    candidate.text === ''
      ? {}
      : { thoughtSignature: signatures.issue({ text: '' }, answer.family) };
  steps.push({
    candidate: {
      content: writeContent([{ text: '', ...closing }]),
      ...writeEnding(candidate),
      index,
    },
    tokens: countOutputTokens(candidate.text, candidate.calls),
  });
  return steps;
}

function writeThoughts(thoughts: string): JsonObject[] {
  return thoughts === '' ? [] : [{ text: thoughts, thought: true }];
}

/** Parallel calls of one step: the first alone carries the signature. */
function writeCalls(
  calls: readonly IssuedCall[],
  answer: Answer,
  signatures: Signatures,
): JsonObject[] {
  return calls.map((call, index) => {
    const functionCall: JsonObject = { ...call };
    if (index > 0) return { functionCall };
    return {
      functionCall,
      thoughtSignature: signatures.issue({ functionCall: call }, answer.family),
    };
  });
}

function writeContent(parts: JsonObject[]): JsonObject {
  return parts.length === 0 ? { role: 'model' } : { parts, role: 'model' };
}

function writeEnding({ finishReason, finishMessage, groundingMetadata }: Candidate): JsonObject {
  return {
    finishReason,
    ...(finishMessage !== undefined && { finishMessage }),
    ...(groundingMetadata !== undefined && { groundingMetadata }),
  };
}

function writeBlocked(answer: Answer): JsonObject {
  const promptFeedback = { blockReason: answer.blockReason ?? 'OTHER' };
  return { promptFeedback, ...writeResponse(answer, undefined, 0) };
}

function writeResponse(
  answer: Answer,
  candidates: JsonObject[] | undefined,
  outputTokens: number,
): JsonObject {
  return {
    ...(candidates !== undefined && { candidates }),
    usageMetadata: writeUsage(answer, outputTokens),
    modelVersion: answer.modelId,
    responseId: answer.responseId,
  };
}

/** Figures of 0 are left out, as the real service does. Prompt includes cached; candidates exclude thoughts. */
function writeUsage(answer: Answer, outputTokens: number): JsonObject {
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
  };
}

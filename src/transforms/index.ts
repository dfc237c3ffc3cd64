// The ordered list of rules every canonical request goes through before it is encoded.

import { invalidRequest } from '../canonical/error.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import {
  dropBillingLine,
  placeInstructions,
  placeSystemTurns,
  promptForDomains,
  promptForJson,
} from './instructions.ts';
import { limitOutput } from './limit-output.ts';
import {
  applyImageName,
  convertGifsToPng,
  explainMasks,
  limitChunking,
  limitImageDetails,
  namePictureTypes,
} from './media.ts';
import { dropForeignSignatures, restoreSignatures } from './signatures.ts';
import { resolveThinking } from './thinking.ts';
import { pairToolResults } from './tool-results.ts';
import { acceptToolNames, chooseTools, limitTools } from './tools.ts';
import type { Conversation, Transform, TransformContext } from './transform.ts';
import {
  dropEmptyParts,
  dropLoneThoughts,
  dropOldestTurns,
  endWithUser,
  mergeTurns,
  startWithUser,
} from './turns.ts';

/** What a request holds, as bits: a rule is skipped where its subject is absent. */
const SYSTEM = 1;
/** More than one user turn of texts and media. */
const CONVERSATION = 2;
/** Media, also those of tool results. */
const MEDIA = 4;
/** Tools, a choice of tools, a search by the model name, or an output format. */
const TOOLS = 8;
const THINKING = 16;
const OUTPUT_LIMIT = 32;
const IMAGE_NAME = 64;
const IMAGE_DETAILS = 128;
const CHUNKING = 256;

/** Order matters: a rule may rely on what the ones before it established. */
const TRANSFORMS: readonly (readonly [traits: number, transform: Transform])[] = [
  // The system prompt and single parts.
  [SYSTEM, dropBillingLine],
  [CONVERSATION, dropForeignSignatures],
  [SYSTEM | CONVERSATION, dropEmptyParts],
  [MEDIA, namePictureTypes],
  [MEDIA, convertGifsToPng],
  [MEDIA, explainMasks],
  // The size that counts is that of what is sent.
  [CONVERSATION, dropOldestTurns],
  // Signatures before thinking is resolved: an unsigned call may switch it off.
  [CONVERSATION, restoreSignatures],
  // Turns: instructions become user text before same-role neighbours are merged.
  [CONVERSATION, placeSystemTurns],
  [CONVERSATION, mergeTurns],
  [CONVERSATION, dropLoneThoughts],
  [CONVERSATION, pairToolResults],
  [CONVERSATION, startWithUser],
  // Tools: those that are not allowed keep no others out.
  [TOOLS, chooseTools],
  [TOOLS, limitTools],
  [TOOLS, promptForJson],
  [TOOLS, promptForDomains],
  // After every rule that adds instructions.
  [SYSTEM | TOOLS, placeInstructions],
  // Limits: the output limit depends on the thinking budget.
  [THINKING, resolveThinking],
  [OUTPUT_LIMIT, limitOutput],
  [IMAGE_NAME, applyImageName],
  [IMAGE_DETAILS, limitImageDetails],
  [CHUNKING, limitChunking],
  // Names: all rules before know tools by the client's.
  [TOOLS | CONVERSATION, acceptToolNames],
];

/** @throws GatewayError (invalid-request) when the conversation cannot be made valid. */
export function applyTransforms(
  request: CanonicalRequest,
  context: TransformContext,
): CanonicalRequest {
  let done = request;
  for (const transform of rulesFor(request, context)) done = transform(done, context);
  return done;
}

/** Those that a request has a subject for, in their order. */
export function rulesFor(
  request: CanonicalRequest,
  context: TransformContext,
): readonly Transform[] {
  const traits = traitsOf(request, context);
  const rules: Transform[] = [];
  for (const [about, transform] of TRANSFORMS) {
    if ((traits & about) !== 0) rules.push(transform);
  }
  if ((traits & CONVERSATION) !== 0) rules.push((done) => endWithUser(done, request, context));
  return rules;
}

/**
 * The rules that a relayed conversation is under as well. What none of them changes stays the same object.
 * @throws GatewayError (invalid-request) when the conversation cannot be made valid, or nothing is left of it
 */
export function applyTurnRules(request: Conversation, context: TransformContext): Conversation {
  const signed = restoreSignatures(dropForeignSignatures(request, context), context);
  const paired = pairToolResults(mergeTurns(signed, context), context);
  if (paired.turns.length === 0) {
    throw invalidRequest('messages', 'messages: there is nothing to answer; send some content.');
  }
  return endWithUser(startWithUser(paired, context), request, context);
}

function traitsOf(request: CanonicalRequest, { variant }: TransformContext): number {
  const { system, tools, toolChoice, outputFormat, reasoning } = request;
  const { chunking, speakers } = request.transcription ?? {};
  const isFreeChoice =
    toolChoice.kind === 'auto' &&
    toolChoice.names.length === 0 &&
    toolChoice.serverTools === undefined;
  const hasTools =
    tools.length > 0 || !isFreeChoice || outputFormat.kind !== 'text' || variant.webSearch === true;
  const isThinking =
    reasoning.amount.kind !== 'unset' ||
    reasoning.showThoughts === true ||
    variant.effort !== undefined ||
    variant.thinking === 'on';
  return (
    (system.length > 0 ? SYSTEM : 0) |
    turnTraits(request) |
    (hasTools ? TOOLS : 0) |
    (isThinking ? THINKING : 0) |
    (request.maxOutputTokens === undefined ? 0 : OUTPUT_LIMIT) |
    (variant.image === undefined ? 0 : IMAGE_NAME) |
    (request.imageDetails === undefined ? 0 : IMAGE_DETAILS) |
    ((chunking ?? speakers) === undefined ? 0 : CHUNKING)
  );
}

function turnTraits({ turns }: CanonicalRequest): number {
  let traits = turns.length === 1 && turns[0]?.role === 'user' ? 0 : CONVERSATION;
  for (const { parts } of turns) {
    if (parts.length === 0) traits |= CONVERSATION;
    for (const part of parts) {
      if (part.kind === 'media') traits |= MEDIA;
      else if (part.kind === 'tool-result') traits |= MEDIA | CONVERSATION;
      else if (part.kind !== 'text' || part.text === '') traits |= CONVERSATION;
    }
  }
  return traits;
}

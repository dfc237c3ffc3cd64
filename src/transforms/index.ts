// The ordered list of rules every canonical request goes through before it is encoded.

import type { CanonicalRequest } from '../canonical/request.ts';
import {
  dropBillingLine,
  placeInstructions,
  placeSystemTurns,
  promptForDomains,
  promptForJson,
} from './instructions.ts';
import { applyImageName, convertGifsToPng, namePictureTypes } from './media.ts';
import { dropForeignSignatures, restoreSignatures } from './signatures.ts';
import { limitStops } from './stop-sequences.ts';
import { limitOutput, resolveThinking } from './thinking.ts';
import { pairToolResults } from './tool-results.ts';
import { acceptToolNames, chooseTools, dropFunctions, limitTools } from './tools.ts';
import type { Transform, TransformContext } from './transform.ts';
import {
  dropEmptyParts,
  dropOldestTurns,
  endWithUser,
  mergeTurns,
  startWithUser,
} from './turns.ts';

/** Order matters: a rule may rely on what the ones before it established. */
const TRANSFORMS: readonly Transform[] = [
  // The system prompt and single parts.
  dropBillingLine,
  dropForeignSignatures,
  dropEmptyParts,
  namePictureTypes,
  convertGifsToPng,
  // The size that counts is that of what is sent.
  dropOldestTurns,
  // Signatures before thinking is resolved: an unsigned call may switch it off.
  restoreSignatures,
  // Turns: instructions become user text before same-role neighbours are merged.
  placeSystemTurns,
  mergeTurns,
  pairToolResults,
  startWithUser,
  // Tools: those that are not allowed keep no others out.
  chooseTools,
  dropFunctions,
  limitTools,
  promptForJson,
  promptForDomains,
  // Behind every rule that has something to tell the model.
  placeInstructions,
  // Figures: the output limit depends on the thinking budget.
  limitStops,
  resolveThinking,
  limitOutput,
  applyImageName,
  // Names: all rules before know tools by the client's.
  acceptToolNames,
];

/** @throws GatewayError (invalid-request) when the conversation cannot be made valid. */
export function applyTransforms(
  request: CanonicalRequest,
  context: TransformContext,
): CanonicalRequest {
  const done = TRANSFORMS.reduce((current, transform) => transform(current, context), request);
  return endWithUser(done, request, context);
}

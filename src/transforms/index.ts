// The ordered list of rules every canonical request goes through before it is encoded.

import type { CanonicalRequest } from '../canonical/request.ts';
import { acceptToolNames } from './accept-tool-names.ts';
import { applyImageName } from './apply-image-name.ts';
import { chooseTools } from './choose-tools.ts';
import { dropBillingLine } from './drop-billing-line.ts';
import { dropEmptyParts } from './drop-empty-parts.ts';
import { dropForeignSignatures } from './drop-foreign-signatures.ts';
import { dropFunctions } from './drop-functions.ts';
import { dropOldestTurns } from './drop-oldest-turns.ts';
import { endWithUser } from './end-with-user.ts';
import { limitOutput } from './limit-output.ts';
import { limitTools } from './limit-tools.ts';
import { mergeTurns } from './merge-turns.ts';
import { namePictureTypes } from './name-picture-types.ts';
import { pairToolResults } from './pair-tool-results.ts';
import { placeInstructions } from './place-instructions.ts';
import { placeSystemTurns } from './place-system-turns.ts';
import { resolveThinking } from './resolve-thinking.ts';
import { restoreSignatures } from './restore-signatures.ts';
import { startWithUser } from './start-with-user.ts';
import { steerSearch } from './steer-search.ts';
import { stillGifs } from './still-gifs.ts';
import { limitStops } from './stop-sequences.ts';
import { tellFreeFormat } from './tell-free-format.ts';
import type { Transform, TransformContext } from './transform.ts';

/** Order matters: a rule may rely on what the ones before it established. */
const TRANSFORMS: readonly Transform[] = [
  // The system prompt and single parts.
  dropBillingLine,
  dropForeignSignatures,
  dropEmptyParts,
  namePictureTypes,
  stillGifs,
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
  tellFreeFormat,
  steerSearch,
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

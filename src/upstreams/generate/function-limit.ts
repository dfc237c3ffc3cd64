// How many functions one request may declare.

import { invalidRequest } from '../../canonical/error.ts';

/** Source: Vertex AI and Gemini API, reference of `Tool.functionDeclarations`. */
const MAX_FUNCTIONS = 512;

/** @throws GatewayError (invalid-request) above the limit: the upstream's own refusal names no tool. */
export function checkFunctionCount(count: number): void {
  if (count <= MAX_FUNCTIONS) return;
  throw invalidRequest(
    'tools',
    `tools: ${count} functions are too many; the model takes at most ${MAX_FUNCTIONS} in one request.`,
  );
}

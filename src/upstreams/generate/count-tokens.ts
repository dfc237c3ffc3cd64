// Counts the tokens of a request at the upstream.

import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamCall } from '../upstream.ts';
import type { UpstreamClient } from './client.ts';
import { pathFault } from './errors.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { modelRequest } from './requests.ts';
import { readTokenCount } from './usage.ts';

/** @throws GatewayError with `failure` set. */
export async function countTokens(
  client: UpstreamClient,
  profile: GenerateProfile,
  call: Omit<UpstreamCall, 'stream'>,
): Promise<number> {
  const body = countBody(profile, call);
  const answer = await client.readObject(modelRequest(profile, 'countTokens', { ...call, body }));
  const total = readTokenCount(answer.totalTokens);
  if (total !== undefined) return total;
  throw pathFault('The upstream gave no token count.');
}

/** Safety settings do not change the count, and some upstreams refuse them here. */
function countBody(
  { countForm }: Pick<GenerateProfile, 'countForm'>,
  { body, modelId }: { readonly body: JsonObject; readonly modelId: string },
): JsonObject {
  const { safetySettings, ...request } = body;
  switch (countForm) {
    case 'whole-request':
      return { generateContentRequest: { model: `models/${modelId}`, ...request } };
    case 'request-fields':
      return Object.fromEntries(
        COUNTED_FIELDS.flatMap((field) => {
          const value = request[field];
          return value === undefined ? [] : [[field, value]];
        }),
      );
    case 'contents':
      return { contents: request.contents ?? [] };
    default:
      return countForm satisfies never;
  }
}

/** Vertex AI, "CountTokensRequest". */
const COUNTED_FIELDS = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

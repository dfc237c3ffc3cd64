// The generate-content upstream: profile, encoder, decoder and transport put together.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { GENERATE_WIRE } from '../../wire/generate.ts';
import type { WireRules } from '../transport/client.ts';
import type { AnswerEnding } from '../transport/response.ts';
import { createWireParts, type OwnedUpstream, type WireOptions } from '../wire-parts.ts';
import { GenerateDecoder } from './decode.ts';
import { encode } from './encode.ts';
import { limitOutput, outputLimit } from './encode-config.ts';
import { typedValues } from './encode-tools.ts';
import { classifyFailure } from './errors.ts';
import { RepeatedEvents } from './event-parser.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import type { GenerateProfile } from './profiles.ts';
import {
  createQuotaReader,
  createTokenCounter,
  embed,
  encodeEmbedInput,
  listModels,
} from './queries.ts';
import { encodeBody } from './request-body.ts';
import { modelRequest } from './requests.ts';

/** `close` ends the connections at once: answers under way must have been drained before. */
export function createGenerateUpstream(options: WireOptions<GenerateProfile>): OwnedUpstream {
  const { profile, clock } = options;
  const { client, common, builtIn } = createWireParts(options, {
    rules: WIRE_RULES,
    modelIds: (name) => profile.modelIds(name),
    capabilitiesOf,
  });
  return {
    ...common,
    wire: GENERATE_WIRE,
    isSandbox: profile.isSandbox,
    unlistedId: (name) => profile.unlistedId?.(name),
    readsUri: (uri) => profile.readsUri(uri),
    encode: (request, target) => encode(request, target, profile),
    typedValues,
    outputLimit,
    limitOutput,
    patch: (body, target) => patch(body, target, profile),
    open: async (call) => {
      const { drawsImages } = builtIn(call.modelId);
      const method = call.stream ? 'streamGenerateContent' : 'generateContent';
      const request = modelRequest(profile, method, call);
      return client.open({ ...request, drawsImages, isKept: !call.stream });
    },
    createDecoder: (context) => new GenerateDecoder(context, () => clock.now()),
    countTokens: createTokenCounter({ client, profile, clock }),
    encodeEmbedInput,
    embed: (call) => embed(client, profile, call),
    listModels: (access, signal) => listModels({ client, profile }, access, signal),
    readQuota: createQuotaReader({ client, profile, clock }),
  };
}

/**
 * `finished` when every candidate names the reason why, `thought` when the last part is one: no answer ends in
 * a thought, whatever reason its frame names.
 */
function endingOf({ candidates }: JsonObject): AnswerEnding | undefined {
  if (!Array.isArray(candidates)) return undefined;
  const last = candidates.at(-1);
  const content = isJsonObject(last) ? last.content : undefined;
  const parts = isJsonObject(content) ? content.parts : undefined;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  if (isJsonObject(part) && part.thought === true) return 'thought';
  for (const candidate of candidates) {
    const reason = isJsonObject(candidate) ? candidate.finishReason : undefined;
    // Some upstreams write every field into every frame, also those that say nothing.
    if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') {
      return undefined;
    }
  }
  return candidates.length > 0 ? 'finished' : undefined;
}

/** How its bodies are written and its answers read. */
export const WIRE_RULES: WireRules = {
  classifyFailure,
  endingOf,
  createMemory: () => new RepeatedEvents(),
  encodeBody,
};

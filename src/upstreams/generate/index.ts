// The generate-content upstream: profile, encoder, decoder and transport put together.

import type { ModelCapabilities } from '../../canonical/model.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { remember } from '../../lib/once.ts';
import { type ClientLimits, UpstreamClient, type WireRules } from '../transport/client.ts';
import type { AnswerRoom } from '../transport/response.ts';
import type { Upstream, UpstreamModel } from '../upstream.ts';
import { GenerateDecoder } from './decode.ts';
import { embed, encodeEmbedInput } from './embed.ts';
import { encode } from './encode.ts';
import { outputLimit } from './encode-config.ts';
import { typedValues } from './encode-tools.ts';
import { classifyFailure } from './errors.ts';
import { RepeatedEvents } from './event-parser.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { createQuotaReader, createTokenCounter, listModels } from './queries.ts';
import { encodeBody } from './request-body.ts';
import { modelRequest } from './requests.ts';

/** The wire's name; the generate protocol's relay lane carries the same. */
const GENERATE_WIRE = 'generate-content';

export interface GenerateUpstreamOptions {
  readonly profile: GenerateProfile;
  readonly clock: Clock;
  readonly limits?: Partial<ClientLimits> | undefined;
  readonly answerRoom?: AnswerRoom | undefined;
}

export interface GenerateUpstream extends Upstream {
  /** How many requests are sent and not answered to their end. */
  callsUnderWay(): number;
}

/** `close` ends the connections at once: answers under way must have been drained before. */
export function createGenerateUpstream(options: GenerateUpstreamOptions): GenerateUpstream {
  const { profile, clock, limits, answerRoom } = options;
  const { baseUrl, userAgent } = profile;
  const client = new UpstreamClient({
    wire: WIRE_RULES,
    baseUrl,
    userAgent,
    clock,
    limits,
    answerRoom,
  });
  const builtIn = remember(MAX_NAMES, (modelId: string) => capabilitiesOf(profile, modelId));
  const listedOnes = new WeakMap<UpstreamModel, ModelCapabilities>();
  return {
    id: profile.id,
    wire: GENERATE_WIRE,
    isSandbox: profile.isSandbox,
    baseUrl,
    modelIds: remember(MAX_NAMES, (name) => profile.modelIds(name)),
    unlistedId: (name) => profile.unlistedId?.(name),
    capabilities(modelId, listed) {
      if (listed === undefined) return builtIn(modelId);
      const found = listedOnes.get(listed) ?? capabilitiesOf(profile, modelId, listed);
      listedOnes.set(listed, found);
      return found;
    },
    readsUri: (uri) => profile.readsUri(uri),
    encode: (request, target) => encode(request, target, profile),
    typedValues,
    outputLimit,
    patch: (body, target) => patch(body, target, profile),
    open: async (call) => {
      const { drawsImages } = builtIn(call.modelId);
      const method = call.stream ? 'streamGenerateContent' : 'generateContent';
      return client.open({ ...modelRequest(profile, method, call), drawsImages });
    },
    createDecoder: (context) => new GenerateDecoder(context, () => clock.now()),
    countTokens: createTokenCounter({ client, profile, clock }),
    encodeEmbedInput,
    embed: (call) => embed(client, profile, call),
    listModels: (access, signal) => listModels({ client, profile }, access, signal),
    readQuota: createQuotaReader({ client, profile, clock }),
    callsUnderWay: () => client.underWay,
    close: () => client.close(),
  };
}

/** Clients name models, so what is remembered of their names is bounded. */
const MAX_NAMES = 1000;

/**
 * `finished` when every candidate names the reason why, `thought` when the last part is one: no answer ends in
 * a thought, whatever reason its frame names.
 */
function endingOf({ candidates }: JsonObject): 'finished' | 'thought' | undefined {
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

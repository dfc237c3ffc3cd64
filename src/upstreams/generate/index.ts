// The generate-content upstream: profile, encoder, decoder and transport put together.

import { GENERATE_WIRE } from '../../wire/generate.ts';
import type { WireRules } from '../transport/client.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import { createWireParts, type OwnedUpstream, type WireOptions } from '../wire-parts.ts';
import { GenerateDecoder } from './decode.ts';
import { encode } from './encode.ts';
import { limitOutput, outputLimit } from './encode-config.ts';
import { typedValues } from './encode-tools.ts';
import { endingOf } from './endings.ts';
import { classifyErrorFrame, classifyFailure } from './errors.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import { findTextPart } from './plain-text.ts';
import type { GenerateProfile } from './profiles.ts';
import {
  createQuotaReader,
  createTokenCounter,
  embed,
  encodeEmbedInput,
  listModels,
} from './queries.ts';
import { encodeBody, modelRequest } from './requests.ts';

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

/** How its bodies are written and its answers read. */
const WIRE_RULES: WireRules = {
  classifyFailure,
  classifyErrorFrame,
  endingOf,
  createMemory: () => new RepeatedTexts(findTextPart),
  encodeBody,
};

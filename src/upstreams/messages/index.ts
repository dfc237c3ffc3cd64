// The Messages upstream: profile, encoder, decoder and transport put together.

import { GatewayError } from '../../canonical/error.ts';
import type { ModelCapabilities } from '../../canonical/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { remember } from '../../lib/once.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import { encodeJson } from '../json-body.ts';
import { type ClientLimits, UpstreamClient, type WireRules } from '../transport/client.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import type { AnswerRoom } from '../transport/response.ts';
import type { Upstream, UpstreamModel } from '../upstream.ts';
import { endingOf, MessagesDecoder } from './decode.ts';
import { encode, readsUri } from './encode.ts';
import { outputLimit } from './encode-config.ts';
import { typedValues } from './encode-tools.ts';
import { classifyFailure } from './errors.ts';
import { findTextDelta } from './event-parser.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import type { MessagesProfile } from './profiles.ts';
import { createTokenCounter, listModels } from './queries.ts';
import { postRequest } from './requests.ts';

export interface MessagesUpstreamOptions {
  readonly profile: MessagesProfile;
  readonly clock: Clock;
  readonly limits?: Partial<ClientLimits> | undefined;
  readonly answerRoom?: AnswerRoom | undefined;
}

export interface MessagesUpstream extends Upstream {
  /** How many requests are sent and not answered to their end. */
  callsUnderWay(): number;
}

/** Clients name models, so what is remembered of their names is bounded. */
const MAX_NAMES = 1000;

/** `close` ends the connections at once: answers under way must have been drained before. */
export function createMessagesUpstream(options: MessagesUpstreamOptions): MessagesUpstream {
  const { profile, clock, limits, answerRoom } = options;
  const { baseUrl, userAgent } = profile;
  const client = new UpstreamClient({
    ...{ wire: WIRE_RULES, baseUrl, userAgent, clock, limits, answerRoom },
  });
  const builtIn = remember(MAX_NAMES, (modelId: string) => capabilitiesOf(profile, modelId));
  const listedOnes = new WeakMap<UpstreamModel, ModelCapabilities>();
  return {
    id: profile.id,
    wire: MESSAGES_WIRE,
    baseUrl,
    modelIds: remember(MAX_NAMES, (name) => profile.modelIds(name)),
    capabilities(modelId, listed) {
      if (listed === undefined) return builtIn(modelId);
      const found = listedOnes.get(listed) ?? capabilitiesOf(profile, modelId, listed);
      listedOnes.set(listed, found);
      return found;
    },
    readsUri,
    encode,
    typedValues,
    outputLimit,
    patch,
    open: (call) => {
      const body: JsonObject = { ...call.body, stream: call.stream };
      return client.open(postRequest(profile, '/messages', { ...call, body }));
    },
    createDecoder: (context) => new MessagesDecoder(context, () => clock.now()),
    countTokens: createTokenCounter({ client, profile, clock }),
    encodeEmbedInput: () => {
      throw noEmbeddings();
    },
    embed: () => {
      throw noEmbeddings();
    },
    listModels: (access, signal) => listModels({ client, profile }, access, signal),
    readQuota: async () => undefined,
    callsUnderWay: () => client.underWay,
    close: () => client.close(),
  };
}

/** The wire has none: another upstream may. */
function noEmbeddings(): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'upstream',
    reason: 'unsupported',
    message: told`This upstream makes no embeddings. Name a model of another one.`,
    failure: { kind: 'rejected' },
  });
}

/** How its bodies are written and its answers read. */
const WIRE_RULES: WireRules = {
  classifyFailure,
  endingOf,
  createMemory: () => new RepeatedTexts(findTextDelta),
  encodeBody: encodeJson,
};

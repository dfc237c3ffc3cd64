// The Messages upstream: profile, encoder, decoder and transport put together.

import { type GatewayError, upstreamError } from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import { OutputLimits } from '../refusals.ts';
import { RefusedFields } from '../refused-fields.ts';
import type { WireRules } from '../transport/client.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import type { UpstreamCall } from '../upstream.ts';
import {
  createWireParts,
  encodeJson,
  type OwnedUpstream,
  type WireOptions,
} from '../wire-parts.ts';
import { endingOf, findTextDelta, MessagesDecoder } from './decode.ts';
import { encode, readsUri } from './encode.ts';
import { limitOutput, outputLimit } from './encode-config.ts';
import { typedValues } from './encode-tools.ts';
import { classifyErrorFrame, classifyFailure, MESSAGES_FIELDS, readRateLimit } from './errors.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import type { MessagesProfile } from './profiles.ts';
import { createTokenCounter, listModels } from './queries.ts';
import { RefusedBetas } from './refused-betas.ts';
import { postRequest } from './requests.ts';
import { openWhole } from './server-tools.ts';

/** `close` ends the connections at once: answers under way must have been drained before. */
export function createMessagesUpstream(options: WireOptions<MessagesProfile>): OwnedUpstream {
  const { profile, clock } = options;
  const { client, common } = createWireParts(options, {
    rules: WIRE_RULES,
    modelIds: (name) => profile.modelIds(name),
    capabilitiesOf,
  });
  const outputLimits = new OutputLimits({ outputLimit, limitOutput }, clock);
  const refusedBetas = new RefusedBetas(clock);
  const refusedFields = new RefusedFields(MESSAGES_FIELDS, clock);
  const countTokens = createTokenCounter({ client, profile, clock });
  return {
    ...common,
    wire: MESSAGES_WIRE,
    hasOwnNames: true,
    readsUri,
    encode,
    typedValues,
    outputLimit,
    limitOutput,
    patch: (body, target) => patch(body, target, profile),
    open: (call) => {
      const openOne = (one: UpstreamCall) => {
        const body: JsonObject = { ...one.body, stream: one.stream };
        const request = postRequest(profile, '/messages', { ...one, body });
        return client.open({ ...request, isKept: !one.stream });
      };
      return outputLimits.open(call, (within) =>
        refusedBetas.open(within, (known) =>
          refusedFields.open(known, (fitted) => openWhole(fitted, openOne)),
        ),
      );
    },
    createDecoder: (context) => new MessagesDecoder(context, () => clock.now()),
    countTokens: (call) =>
      refusedBetas.open(call, (known) => refusedFields.open(known, countTokens)),
    encodeEmbedInput: () => {
      throw noEmbeddings();
    },
    embed: () => {
      throw noEmbeddings();
    },
    listModels: (access, signal) => listModels({ client, profile }, access, signal),
    readQuota: async () => undefined,
  };
}

/** The wire has none: another upstream may. */
function noEmbeddings(): GatewayError {
  return upstreamError(
    'not-found',
    told`This upstream makes no embeddings. Name a model of another one.`,
    { reason: 'unsupported', failure: { kind: 'rejected' } },
  );
}

/** How its bodies are written and its answers read. */
const WIRE_RULES: WireRules = {
  classifyFailure,
  classifyErrorFrame,
  readRateLimit,
  endingOf,
  createMemory: () => new RepeatedTexts(findTextDelta),
  encodeBody: encodeJson,
};

// The Chat Completions upstream: profile, encoder, decoder and transport put together.

import type { ModelCapabilities } from '../../canonical/model.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { objectOf, textOf } from '../../lib/read-values.ts';
import { CHAT_WIRE, DONE, isUsageAlone } from '../../wire/chat.ts';
import { realModelName } from '../../wire/vocabulary.ts';
import { OutputLimits } from '../refusals.ts';
import { RefusedFields } from '../refused-fields.ts';
import type { WireRules } from '../transport/client.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import type { AnswerEnding } from '../transport/response.ts';
import type { UpstreamCall } from '../upstream.ts';
import {
  createWireParts,
  encodeJson,
  type OwnedUpstream,
  type WireOptions,
} from '../wire-parts.ts';
import { ChatDecoder, findTextChunk } from './decode.ts';
import { encode } from './encode.ts';
import { typedValues } from './encode-tools.ts';
import { CHAT_FIELDS, classifyErrorFrame, classifyFailure, readRateLimit } from './errors.ts';
import { conflictsOf, limitOutput, outputLimit, PICTURES_REFUSED } from './fit.ts';
import { encodeMedia, isForEndpoint, MediaDecoder, mediaRequest } from './media.ts';
import { capabilitiesOf, traitsOf } from './models.ts';
import { patch } from './native-body.ts';
import type { ChatProfile, ChatQuirks } from './profiles.ts';
import { embed, encodeEmbedInput, listModels, postRequest } from './queries.ts';
import { readThought } from './reasoning.ts';

/** `close` ends the connections at once: answers under way must have been drained before. */
export function createChatUpstream(options: WireOptions<ChatProfile>): OwnedUpstream {
  const { profile, clock } = options;
  const { quirks } = profile;
  const { client, common } = createWireParts(options, {
    rules: WIRE_RULES,
    modelIds: (name) => [...new Set([realModelName(name), name])],
    capabilitiesOf,
  });
  const limiting: Pick<OwnedUpstream, 'outputLimit' | 'limitOutput'> = {
    outputLimit,
    limitOutput: (body, most, { modelId }) =>
      isForEndpoint(body) ? body : limitOutput(body, most, traitsOf(quirks, modelId).limitField),
  };
  const outputLimits = new OutputLimits(limiting, clock);
  const rules = { ...CHAT_FIELDS, conflicts: conflictsOf(quirks) };
  const refusedFields = new RefusedFields(rules, clock);
  const blind = new WeakMap<ModelCapabilities, ModelCapabilities>();
  return {
    ...common,
    capabilities(modelId, listed) {
      const found = common.capabilities(modelId, listed);
      if (!refusedFields.hasMet(modelId, PICTURES_REFUSED)) return found;
      const known = blind.get(found) ?? withoutSight(found);
      blind.set(found, known);
      return known;
    },
    wire: CHAT_WIRE,
    hasOwnNames: true,
    readsUri: (uri) => quirks.images === 'any' && isPictureAddress(uri),
    encode(request, target) {
      const model = profile.findMediaModel(target.modelId);
      return model === undefined
        ? encode(request, target, profile)
        : encodeMedia(request, model, target);
    },
    typedValues,
    ...limiting,
    patch: (body, target) => patch(body, target, profile),
    open: async (call) => {
      const forMedia = mediaRequest(profile, call);
      if (forMedia !== undefined) return client.open(forMedia);
      const send = (fitted: UpstreamCall) => {
        const request = postRequest(profile, profile.paths.chat, fitted);
        return client.open({ ...request, isKept: !fitted.stream });
      };
      return outputLimits.open(call, (within) =>
        refusedFields.open({ ...within, body: sentBody(within, quirks) }, send),
      );
    },
    createDecoder: (context) =>
      isForEndpoint(context.body ?? {})
        ? new MediaDecoder(context, () => clock.now())
        : new ChatDecoder(context, {
            now: () => clock.now(),
            tracesThoughts: quirks.sendsReasoning !== undefined,
            namesEnds: quirks.namesEnds,
          }),
    // The wire has no such call.
    countTokens: async () => undefined,
    encodeEmbedInput,
    embed: (call) => embed({ client, profile }, call),
    listModels: (access, signal) => listModels({ client, profile }, access, signal),
    readQuota: async () => undefined,
  };
}

function withoutSight(capabilities: ModelCapabilities): ModelCapabilities {
  const { refusesMedia = [] } = capabilities;
  return { ...capabilities, refusesMedia: [...new Set([...refusesMedia, 'image' as const])] };
}

/** Other files than pictures are sent along, and what an address without an ending leads to is mostly a picture. */
function isPictureAddress(uri: string): boolean {
  const [path = ''] = uri.split(/[?#]/);
  const ending = /\.(\w{1,5})$/.exec(path)?.[1]?.toLowerCase();
  return /^https?:/i.test(uri) && (ending === undefined || !OTHER_FILES.has(ending));
}

const OTHER_FILES: ReadonlySet<string> = new Set([
  ...['pdf', 'wav', 'mp3', 'm4a', 'flac', 'ogg', 'mp4', 'mov', 'webm', 'txt', 'csv', 'json'],
]);

/** Usage is asked for in any case: records and quotas live on it. */
function sentBody(
  { body, stream }: UpstreamCall,
  { takesIncludeUsage, streamFields }: ChatQuirks,
): JsonObject {
  const { stream: _stream, stream_options, ...rest } = body;
  if (!stream) return rest;
  const options = { ...objectOf(stream_options), include_usage: true };
  const usage = takesIncludeUsage ? { stream_options: options } : {};
  return { ...streamFields, ...rest, stream: true, ...usage };
}

/** `over` at `[DONE]`, `finished` when every choice names the reason why, `thought` when the last one still thinks. */
function endingOf(frame: JsonObject): AnswerEnding | undefined {
  if (frame === DONE) return 'over';
  const { choices, type } = frame;
  if (!Array.isArray(choices)) return LAST_EVENTS.test(String(type)) ? 'finished' : undefined;
  // Behind the last choice comes the usage alone.
  if (isUsageAlone(frame)) return 'finished';
  if (choices.length === 0) return undefined;
  const isOver = choices.every((choice) => isJsonObject(choice) && textOf(choice.finish_reason));
  if (isOver) return 'finished';
  const last = choices.at(-1);
  const delta = isJsonObject(last) ? objectOf(last.delta) : undefined;
  return delta !== undefined && readThought(delta) !== undefined ? 'thought' : undefined;
}

/** Of streams that no conversation is. */
const LAST_EVENTS =
  /^(?:image_(?:generation|edit)\.completed|(?:transcript\.text|speech\.audio)\.done)$/;

/** How its bodies are written and its answers read. */
const WIRE_RULES: WireRules = {
  classifyFailure,
  classifyErrorFrame,
  readRateLimit,
  endingOf,
  createMemory: () => new RepeatedTexts(findTextChunk),
  done: DONE,
  encodeBody: encodeJson,
};

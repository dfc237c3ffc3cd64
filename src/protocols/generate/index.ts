// The Generate-Content protocol: its route table under each version prefix.

import { invalidRequest } from '../../canonical/error.ts';
import { once } from '../../lib/once.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  EmbedCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
  TokenCount,
} from '../protocol.ts';
import { readBatchEmbedCall, readEmbedCall } from './embed.ts';
import { writeError } from './errors.ts';
import { type ModelPrefix, writeModel, writeModels } from './models.ts';
import { booleanAt, objectAt } from './native-fields.ts';
import { normalizeBody, normalizeCountBody } from './normalize-body.ts';
import { countedFields, readCountRequest, readRequest } from './read-request.ts';
import { createRelayCall, GENERATE_WIRE } from './relay.ts';
import type { FramingKind } from './stream-framing.ts';
import { createEventWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

/** Its own guides send clients to `/v1alpha` for fields that are newer than the rest. */
const PREFIXES: readonly ModelPrefix[] = ['/v1beta', '/v1', '/v1alpha'];

export function createGenerateProtocol(): ClientProtocol {
  return {
    name: 'generate',
    routes: PREFIXES.flatMap(createRoutes),
    writeError,
  };
}

function createRoutes(prefix: ModelPrefix): ProtocolRoute[] {
  const model = `${prefix}/models/{model}`;
  return [
    {
      operation: 'generate',
      method: 'POST',
      path: `${model}:generateContent`,
      readCall: (input) => readGenerateCall(input, false),
    },
    {
      operation: 'generate',
      method: 'POST',
      path: `${model}:streamGenerateContent`,
      readCall: (input) => readGenerateCall(input, true),
    },
    countRoute(`${model}:countTokens`),
    countRoute(`${model}/countTokens`),
    embedRoute(`${model}:embedContent`, readEmbedCall),
    embedRoute(`${model}:batchEmbedContents`, readBatchEmbedCall),
    {
      operation: 'list-models',
      method: 'GET',
      path: `${prefix}/models`,
      writeModels: (models, query) => writeModels(models, query, prefix),
    },
    {
      operation: 'get-model',
      method: 'GET',
      path: model,
      writeModel: (listed) => writeModel(listed, prefix),
    },
  ];
}

function countRoute(path: string): ProtocolRoute {
  return { operation: 'count-tokens', method: 'POST', path, readCall: readCountCall };
}

function embedRoute(
  path: string,
  read: (input: RouteInput, model: string) => EmbedCall,
): ProtocolRoute {
  const readCall = (input: RouteInput): EmbedCall => read(input, readModel(input));
  return { operation: 'embed', method: 'POST', path, readCall };
}

function readGenerateCall(input: RouteInput, stream: boolean): GenerateCall {
  const model = readModel(input);
  const body = normalizeBody(input.body, model, input.receipt);
  const framing = readFraming(input.query);
  const thinking = objectAt(objectAt(body, 'generationConfig'), 'thinkingConfig');
  const options = { showThoughts: booleanAt(thinking, 'includeThoughts') === true };
  return {
    protocol: 'generate',
    model,
    stream,
    // The body has no field that names a session.
    bodySession: undefined,
    canonical: once(() => readRequest(body, input.receipt)),
    createStreamWriter: (context) => createEventWriter(context, framing, options),
    writeReply: (reply, context) => writeReply(reply, context, options),
    relay: createRelayCall(body, framing),
  };
}

function readCountCall(input: RouteInput): CountTokensCall {
  const model = readModel(input);
  const { body, wrapperKey } = normalizeCountBody(input.body, model, input.receipt);
  return {
    protocol: 'generate',
    model,
    relay: { wire: GENERATE_WIRE, body: countedFields(body), field: wrapperKey },
    canonical: once(() => readCountRequest(body, wrapperKey, input.receipt)),
    writeCount,
  };
}

function writeCount(count: TokenCount): ReturnType<CountTokensCall['writeCount']> {
  return count.cachedTokens === undefined
    ? { totalTokens: count.totalTokens }
    : { totalTokens: count.totalTokens, cachedContentTokenCount: count.cachedTokens };
}

function readModel(input: RouteInput): string {
  if (input.pathModel !== '') return input.pathModel;
  throw invalidRequest('model', 'The path must name a model.', 'missing-field');
}

/** `alt=sse` asks for events; without it the stream is one JSON array. */
function readFraming(query: URLSearchParams): FramingKind {
  const alternative = query.get('alt') ?? query.get('$alt');
  return alternative?.toLowerCase() === 'sse' ? 'events' : 'array';
}

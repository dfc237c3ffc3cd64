// The Generate-Content protocol: its route table under each version prefix.

import { GENERATE_WIRE } from '../../wire/generate.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
} from '../protocol.ts';
import { readLate } from '../relayed-request.ts';
import { writeError } from './errors.ts';
import {
  MODEL_PREFIXES,
  type ModelPrefix,
  readPathModel,
  writeModel,
  writeModels,
} from './models.ts';
import { normalizeBody, normalizeCountBody } from './normalize-body.ts';
import { countedFields, readCountRequest, readRequest } from './read-request.ts';
import { createRelayCall } from './relay.ts';
import { EventWriter, type FramingKind } from './write-events.ts';

import { writeReply } from './write-reply.ts';

/** @param more routes of surfaces that are read and answered elsewhere */
export function createGenerateProtocol(more: readonly ProtocolRoute[] = []): ClientProtocol {
  return {
    name: 'generate',
    routes: [...MODEL_PREFIXES.flatMap(createRoutes), ...more],
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
    { ...COUNT_ROUTE, path: `${model}:countTokens` },
    { ...COUNT_ROUTE, path: `${model}/countTokens` },
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

const COUNT_ROUTE = { operation: 'count-tokens', method: 'POST', readCall: readCountCall } as const;

function readGenerateCall(input: RouteInput, stream: boolean): GenerateCall {
  const model = readPathModel(input);
  const body = normalizeBody(input.body, model, input.receipt);
  const framing = readFraming(input.query);
  const { thinkingConfig } = body.generationConfig ?? {};
  const options = { showThoughts: thinkingConfig?.includeThoughts === true };
  const reading = readLate((receipt) => readRequest(body, receipt));
  return {
    protocol: 'generate',
    model,
    stream,
    // The body has no field that names a session.
    bodySession: undefined,
    get request() {
      return reading().request;
    },
    createStreamWriter: (context) => new EventWriter(context, framing, options),
    writeReply: (reply, context) => writeReply(reply, context, options),
    relay: createRelayCall(body, framing, reading),
  };
}

function readCountCall(input: RouteInput): CountTokensCall {
  const model = readPathModel(input);
  const { body, wrapperKey } = normalizeCountBody(input.body, model, input.receipt);
  const reading = readLate((receipt) => readCountRequest(body, wrapperKey, receipt));
  return {
    protocol: 'generate',
    model,
    relay: {
      wire: GENERATE_WIRE,
      body: countedFields(body),
      field: wrapperKey,
      reading,
    },
    get request() {
      return reading().request;
    },
    writeCount: (totalTokens) => ({ totalTokens }),
  };
}

/** `alt=sse` asks for events; without it the stream is one JSON array. */
function readFraming(query: URLSearchParams): FramingKind {
  const alternative = query.get('alt') ?? query.get('$alt');
  return alternative?.toLowerCase() === 'sse' ? 'events' : 'array';
}

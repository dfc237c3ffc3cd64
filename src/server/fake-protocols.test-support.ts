// Three small protocols with real paths and recognisable shapes.

import { requestOf } from '../../test/support/canonical.ts';
import { errorStatus, invalidRequest } from '../canonical/error.ts';
import type { ListedModel } from '../canonical/model.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type {
  BackgroundCall,
  ClientProtocol,
  CountTokensCall,
  GenerateCall,
  ProtocolName,
  ProtocolRoute,
  RouteInput,
} from '../protocols/protocol.ts';
import type { StreamWriter } from '../protocols/writers.ts';
import { readHeader } from '../wire/vocabulary.ts';
import type { EdgeOptions } from './edge.ts';

type EdgeProtocols = EdgeOptions['protocols'];

const talkRoute: ProtocolRoute = {
  operation: 'generate',
  method: 'POST',
  path: '/v1/talk',
  readCall: (input) => readCall('chat', input),
  webSocket: {
    isNotice: (text) => text === '"heard"',
    readCall: (input) => readCall('chat', { ...input, body: { ...input.body, stream: true } }),
    writeError: ({ status, body }, headers) => JSON.stringify({ status, ...body, headers }),
    writeConnectionLimit: (minutes) => JSON.stringify({ limit: minutes }),
  },
};

const chatRoutes: readonly ProtocolRoute[] = [
  talkRoute,
  generateRoute('chat', '/v1/chat/completions'),
  listRoute('chat', '/v1/models'),
  getRoute('chat', '/v1/models/{model}'),
];

const messagesRoutes: readonly ProtocolRoute[] = [
  generateRoute('messages', '/v1/messages'),
  countRoute('messages', '/v1/messages/count_tokens'),
  listRoute('messages', '/v1/models'),
  getRoute('messages', '/v1/models/{model}'),
  listRoute('messages', '/v1/models/claude'),
];

const generateRoutes: readonly ProtocolRoute[] = ['/v1beta', '/v1'].flatMap((version) => [
  generateRoute('generate', `${version}/models/{model}:generateContent`),
  generateRoute('generate', `${version}/models/{model}:streamGenerateContent`),
  countRoute('generate', `${version}/models/{model}:countTokens`),
  countRoute('generate', `${version}/models/{model}/countTokens`),
  listRoute('generate', `${version}/models`),
  getRoute('generate', `${version}/models/{model}`),
]);

const byName = {
  chat: protocol('chat', chatRoutes),
  messages: protocol('messages', messagesRoutes),
  generate: protocol('generate', generateRoutes),
};

export const fakeProtocols: EdgeProtocols = {
  all: [byName.chat, byName.messages, byName.generate],
  protocolForPath(path) {
    if (path.startsWith('/v1beta')) return byName.generate;
    return path.startsWith('/v1/messages') ? byName.messages : byName.chat;
  },
  pickListProtocol(headers) {
    if (readHeader(headers, 'generateApiKey') !== undefined) return byName.generate;
    return readHeader(headers, 'messagesVersion') === undefined ? byName.chat : byName.messages;
  },
};

function protocol(name: ProtocolName, routes: readonly ProtocolRoute[]): ClientProtocol {
  return {
    name,
    routes,
    writeError: (error, { requestId }) => ({
      status: errorStatus(error),
      body: {
        protocol: name,
        kind: error.kind,
        reason: error.reason ?? null,
        field: error.field ?? null,
        message: error.message,
        requestId,
      },
    }),
  };
}

function generateRoute(name: ProtocolName, path: string): ProtocolRoute {
  return {
    operation: 'generate',
    method: 'POST',
    path,
    readCall: (input) => readCall(name, input),
  };
}

function countRoute(name: ProtocolName, path: string): ProtocolRoute {
  return {
    operation: 'count-tokens',
    method: 'POST',
    path,
    readCall: (input): CountTokensCall => ({
      protocol: name,
      model: readModel(input),
      request: requestOf({}),
      writeCount: (totalTokens) => ({ totalTokens }),
    }),
  };
}

function listRoute(name: ProtocolName, path: string): ProtocolRoute {
  return {
    operation: 'list-models',
    method: 'GET',
    path,
    writeModels: (models) => ({ protocol: name, path, ids: models.map(({ id }) => id) }),
  };
}

function getRoute(name: ProtocolName, path: string): ProtocolRoute {
  return {
    operation: 'get-model',
    method: 'GET',
    path,
    writeModel: (model: ListedModel) => ({ protocol: name, id: model.id }),
  };
}

/** What answers keep is being stored, while `until` is defined; what became of one that is made in the background. */
export const keeping: { until?: Promise<void> | undefined; stands?: boolean | undefined } = {};

function readCall(name: ProtocolName, input: RouteInput): GenerateCall {
  if (input.body.lossy === true)
    input.receipt.add('dropped', 'lossy', told`Nobody knows this field.`);
  const writer: StreamWriter = {
    contentType: 'text/event-stream; charset=utf-8',
    write: (event) =>
      event.kind === 'error' ? `data: {"error":"${event.error.kind}","in":"${name}"}\n\n` : '',
    keepAlive: () => ': keep-alive\n\n',
  };
  return {
    protocol: name,
    model: readModel(input),
    stream: input.body.stream === true,
    bodySession: undefined,
    ...(input.body.background === true ? { background: backgroundOf(input, writer) } : {}),
    request: requestOf(readFormat(input.body)),
    createStreamWriter: () => writer,
    writeReply: (): JsonObject => ({}),
    kept: () => keeping.until,
  };
}

const readFormat = ({ schema }: JsonObject): Pick<CanonicalRequest, 'outputFormat'> => ({
  outputFormat: isJsonObject(schema) ? { kind: 'json-schema', schema } : { kind: 'text' },
});

const backgroundOf = ({ body }: RouteInput, writer: StreamWriter): BackgroundCall => ({
  size: 1,
  reader: body.stream === true ? writer : undefined,
  queue: ({ createId }) => {
    const id = createId('made_');
    return { id, body: { id, queued: true }, events: () => '' };
  },
  fail: () => {},
  ended: () => (keeping.stands === undefined ? undefined : Promise.resolve(keeping.stands)),
});

function readModel({ body, pathModel }: RouteInput): string {
  const model = pathModel === '' ? body.model : pathModel;
  if (typeof model !== 'string')
    throw invalidRequest('model', 'model: Field required', 'missing-field');
  return model;
}

// The Messages client protocol: its routes, and how each is read and answered.

import { MESSAGES_LIST_IDS } from '../../wire/vocabulary.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
} from '../protocol.ts';
import { writeError } from './errors.ts';
import { writeFamilyList, writeModel, writeModelList } from './models.ts';
import { askInWords, readSummaryWish } from './read-reasoning.ts';
import { readCallHead, readCanonicalRequest } from './read-request.ts';
import { MessagesWriter, type WriterOptions } from './write-events.ts';
import { createSummaryWriter, writeMessagesReply, writeSummaryReply } from './write-reply.ts';

/** Query strings such as `?beta=true` and unknown beta flags are ignored. */
export function createMessagesProtocol(): ClientProtocol {
  return { name: 'messages', routes: ROUTES, writeError };
}

const ROUTES: readonly ProtocolRoute[] = [
  { operation: 'generate', method: 'POST', path: '/v1/messages', readCall: readGenerateCall },
  {
    operation: 'count-tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    readCall: readCountTokensCall,
  },
  { operation: 'list-models', method: 'GET', path: '/v1/models', writeModels: writeModelList },
  ...MESSAGES_LIST_IDS.map(
    (id): ProtocolRoute => ({
      operation: 'list-models',
      method: 'GET',
      path: `/v1/models/${id}`,
      writeModels: writeFamilyList,
    }),
  ),
  { operation: 'get-model', method: 'GET', path: '/v1/models/{model}', writeModel },
];

function readGenerateCall(input: RouteInput): GenerateCall {
  const { receipt } = input;
  const { body, omitsThinking, ...head } = readCallHead(input.body, { needsLimit: true });
  const { compaction } = body.value;
  const wish = compaction ? readSummaryWish(compaction) : undefined;
  const asked = readCanonicalRequest(body, receipt);
  const request = wish === undefined ? asked : askInWords(asked, wish, receipt);
  const options: WriterOptions = {
    omitsThinking,
    fetchesPages: request.tools.some(({ kind }) => kind === 'url-context'),
    isFormatted: request.outputFormat.kind !== 'text',
  };
  return {
    protocol: 'messages',
    ...head,
    request,
    callIdPrefix: 'toolu_',
    createStreamWriter: (context) =>
      wish === undefined ? new MessagesWriter(context, options) : createSummaryWriter(context),
    writeReply: (reply, context) =>
      wish === undefined
        ? writeMessagesReply(reply, context, options)
        : writeSummaryReply(reply, context),
  };
}

/** An answer needs a limit of its length, a count does not. */
function readCountTokensCall({ body: value, receipt }: RouteInput): CountTokensCall {
  const { body, model } = readCallHead(value, { needsLimit: false });
  return {
    protocol: 'messages',
    model,
    request: readCanonicalRequest(body, receipt),
    writeCount: ({ totalTokens }) => ({ input_tokens: totalTokens }),
  };
}

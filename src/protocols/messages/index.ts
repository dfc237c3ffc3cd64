// The Messages client protocol: its routes, and how each is read and answered.

import { askForSummary } from '../../canonical/text-forms.ts';
import { told } from '../../lib/localized-message.ts';
import { MESSAGES_LIST_IDS } from '../../wire/vocabulary.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
} from '../protocol.ts';
import { readLate } from '../relayed-request.ts';
import { writeError } from './errors.ts';
import { writeFamilyList, writeModel, writeModelList } from './models.ts';
import { readSummaryWish } from './read-reasoning.ts';
import { readCallHead, readCanonicalRequest } from './read-request.ts';
import { createRelayCall, relayBody } from './relay.ts';
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

function readGenerateCall({ body: given, headers }: RouteInput): GenerateCall {
  const { body, omitsThinking, ...head } = readCallHead(given, { needsLimit: true });
  const { compaction } = body.value;
  const wish = compaction ? readSummaryWish(compaction) : undefined;
  const reading = readLate((receipt) => {
    const asked = readCanonicalRequest(body, receipt);
    if (wish === undefined) return asked;
    const reason = told`The model is asked for the summary in words.`;
    receipt.add('approximated', 'compaction', reason);
    return askForSummary(asked, wish);
  });
  const options = (): WriterOptions => ({
    omitsThinking,
    fetchesPages: reading().request.tools.some(({ kind }) => kind === 'url-context'),
    isFormatted: reading().request.outputFormat.kind !== 'text',
  });
  return {
    protocol: 'messages',
    ...head,
    get request() {
      return reading().request;
    },
    callIdPrefix: 'toolu_',
    createStreamWriter: (context) =>
      wish === undefined ? new MessagesWriter(context, options()) : createSummaryWriter(context),
    writeReply: (reply, context) =>
      wish === undefined
        ? writeMessagesReply(reply, context, options())
        : writeSummaryReply(reply, context),
    relay: createRelayCall({ body: given, headers }, body.value, reading),
  };
}

/** An answer needs a limit of its length, a count does not. */
function readCountTokensCall({ body: given, headers }: RouteInput): CountTokensCall {
  const { body, model } = readCallHead(given, { needsLimit: false });
  const reading = readLate((receipt) => readCanonicalRequest(body, receipt));
  return {
    protocol: 'messages',
    model,
    get request() {
      return reading().request;
    },
    relay: relayBody({ body: given, headers }, reading),
    writeCount: (totalTokens) => ({ input_tokens: totalTokens }),
  };
}

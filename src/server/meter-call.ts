// Holds a call to the limits of its key: reserved before it runs, settled with what it really used.

import { outputTokens, totalTokens } from '../canonical/usage.ts';
import { wantedAnswers } from '../canonical/wanted-answers.ts';
import type { CallRecord } from '../dispatch/dispatcher.ts';
import type { CallCost } from '../door/key-meter.ts';
import type { CountTokensCall, EmbedCall, GenerateCall } from '../protocols/protocol.ts';
import type { Edge, Exchange } from './edge.ts';

export type MeteredCall =
  | { readonly operation: 'generate'; readonly call: GenerateCall }
  | { readonly operation: 'embed'; readonly call: EmbedCall }
  | { readonly operation: 'count-tokens'; readonly call: CountTokensCall };

/** Text is about this many bytes a token; media in it would make a reservation absurd, so it has a cap. */
const BYTES_PER_TOKEN = 4;
const MOST_INPUT_TOKENS = 4_000;
/** What an answer is taken for until it is there. */
const ANSWER_TOKENS = 500;

/** @throws GatewayError forbidden, rate-limited or quota-exhausted; and whatever `run` throws */
export async function metered(
  edge: Edge,
  exchange: Exchange,
  metering: MeteredCall,
  run: () => Promise<void>,
): Promise<void> {
  const { keyGate } = edge.door;
  if (keyGate.isEmpty) return run();
  const { clientKeyId, record } = exchange;
  const { model } = metering.call;
  const cost = {
    tokens: estimateTokens(exchange, metering),
    images: await countImages(edge, exchange, metering),
  };
  const reservation = keyGate.admit(clientKeyId, { model, ...cost });
  try {
    await run();
  } catch (error) {
    reservation?.settle(readUse(record, cost, 'failed'));
    throw error;
  }
  reservation?.settle(readUse(record, cost, record.error === undefined ? 'answered' : 'failed'));
}

function estimateTokens({ headers }: Exchange, { operation }: MeteredCall): number {
  if (operation === 'count-tokens') return 0;
  const bytes = Number(headers['content-length'] ?? 0);
  const input = Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), MOST_INPUT_TOKENS);
  return operation === 'embed' ? input : input + ANSWER_TOKENS;
}

/** Pictures that the call asks for, or that its model draws whatever it is asked. */
async function countImages(
  edge: Edge,
  { clientKeyId }: Exchange,
  metering: MeteredCall,
): Promise<number> {
  if (metering.operation !== 'generate' || !edge.door.keyGate.countsImages(clientKeyId)) return 0;
  const { call } = metering;
  const { relay, fanOut } = call;
  const asked = relay?.readQuietly() ?? call.canonical();
  const { image, outputModalities } = asked;
  const draws =
    image?.aspectRatio !== undefined ||
    image?.size !== undefined ||
    outputModalities?.includes('image') === true ||
    (await edge.models.get(call.model))?.drawsImages === true;
  return draws ? wantedAnswers({ canonical: () => asked, fanOut }) : 0;
}

/**
 * What is absent counts as reserved: an answer that began, of which nobody knows the figures. Of one
 * that broke off these are the last that were told.
 */
function readUse(
  { answers = [], committedAt }: CallRecord,
  reserved: CallCost,
  outcome: 'answered' | 'failed',
): Partial<CallCost> {
  const told = answers.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  const tokens = told.reduce((sum, usage) => sum + totalTokens(usage), 0);
  const images = answers.reduce((sum, { imageCount }) => sum + imageCount, 0);
  if (tokens === 0 && images === 0) {
    return outcome === 'failed' && committedAt === undefined ? { tokens, images } : {};
  }
  // Some tell the prompt at once and the rest at the end, which never came.
  const isPromptAlone = outcome === 'failed' && told.every((usage) => outputTokens(usage) === 0);
  return {
    ...(told.length > 0 && { tokens: isPromptAlone ? Math.max(tokens, reserved.tokens) : tokens }),
    // A picture may have been drawn though it never came.
    ...((outcome === 'answered' || images > 0) && { images }),
  };
}

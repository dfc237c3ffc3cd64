// Has the upstream embed contents: in batches, in order, each batch given as soon as it is there.

import type { EmbedAnswer, Embedding, EmbedInput } from '../../canonical/embedding.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/told.ts';
import type { UpstreamEmbedCall } from '../upstream.ts';
import type { UpstreamClient } from './client.ts';
import { EMBED_FORMS, type EmbedForm } from './embed-forms.ts';
import { pathFault } from './errors.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { modelRequest } from './requests.ts';
import { readTokenCount } from './usage.ts';

/**
 * The vectors of `call.bodies` in their order, some at a time.
 * @throws GatewayError with `failure` set, or invalid-request for an input the model cannot take.
 */
export async function* embed(
  client: UpstreamClient,
  profile: GenerateProfile,
  call: UpstreamEmbedCall,
): AsyncGenerator<EmbedAnswer> {
  const form = EMBED_FORMS[profile.embedForm?.(call.modelId) ?? 'content'];
  const batches = piecesOf(call.bodies, form.batchSize);
  for (const group of piecesOf(batches, form.callsAtOnce)) {
    yield* await allOrNone(call.signal, group, (bodies, signal) =>
      embedBatch(client, profile, { call: { ...call, bodies, signal }, form }),
    );
  }
}

/** The wire body of one text. */
export function encodeEmbedInput(input: EmbedInput): JsonObject {
  const body: JsonObject = { content: { parts: [{ text: input.text }] } };
  if (input.task !== undefined) body.taskType = input.task.toUpperCase().replaceAll('-', '_');
  if (input.title !== undefined) body.title = input.title;
  if (input.dimensions !== undefined) body.outputDimensionality = input.dimensions;
  return body;
}

async function embedBatch(
  client: UpstreamClient,
  profile: GenerateProfile,
  { call, form }: { readonly call: UpstreamEmbedCall; readonly form: EmbedForm },
): Promise<EmbedAnswer> {
  const { bodies, modelId } = call;
  const { method, body } = form.encode(bodies, modelId);
  const answer = await client.readObject(modelRequest(profile, method, { ...call, body }));
  const { embeddings, usage } = form.decode(answer);
  if (embeddings.length !== bodies.length) {
    throw pathFault(
      told`The upstream gave ${embeddings.length} vectors for ${bodies.length} inputs.`,
    );
  }
  return {
    embeddings: embeddings.map(readEmbedding),
    promptTokens: readTokenCount(usage?.promptTokenCount),
    nativeUsages: usage === undefined ? [] : [usage],
  };
}

function readEmbedding(value: JsonValue): Embedding {
  const values = isJsonObject(value) ? readValues(value.values) : undefined;
  if (!isJsonObject(value) || values === undefined) {
    throw pathFault(told`The upstream gave an embedding without a vector.`);
  }
  return { values, native: value };
}

function readValues(value: JsonValue | undefined): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  // Vectors are long and many: the usual one is taken as it is.
  if (value.every(isFiniteNumber)) return value;
  const numbers: number[] = [];
  for (const item of value) {
    const number = readNumber(item);
    if (number === undefined || !Number.isFinite(number)) return undefined;
    numbers.push(number);
  }
  return numbers;
}

function isFiniteNumber(value: JsonValue): value is number {
  return Number.isFinite(value);
}

/** Runs `run` on all items at the same time; the first failure ends the others. */
async function allOrNone<Item, Result>(
  outer: AbortSignal,
  items: readonly Item[],
  run: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  try {
    return await Promise.all(items.map((item) => run(item, signal)));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

function piecesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const pieces: Item[][] = [];
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size));
  return pieces;
}

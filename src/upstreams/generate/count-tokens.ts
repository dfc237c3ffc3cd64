// Counts the tokens of a request at the upstream, in the form it takes.

import { GatewayError } from '../../canonical/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/told.ts';
import type { TokenCount, UpstreamCall } from '../upstream.ts';
import type { UpstreamClient } from './client.ts';
import { pathFault } from './errors.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { modelRequest } from './requests.ts';
import { readTokenCount } from './usage.ts';

export type CountTokens = (call: CountCall) => Promise<TokenCount>;

type CountCall = Omit<UpstreamCall, 'stream'>;

export interface TokenCounterOptions {
  readonly client: UpstreamClient;
  readonly profile: GenerateProfile;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** An upstream that refused whole requests is not sent one to count for this long. */
const CONTENTS_FOR_MS = 60 * 60 * 1000;
/** An upstream that passes over what it does not know finds nothing to count. */
const LEAST_WHOLE_COUNT = 2;

/** The counter throws GatewayError with `failure` set. */
export function createTokenCounter({ client, profile, clock }: TokenCounterOptions): CountTokens {
  let contentsUntil = Number.NEGATIVE_INFINITY;
  const count = async (call: CountCall, body: JsonObject): Promise<number> => {
    const answer = await client.readObject(modelRequest(profile, 'countTokens', { ...call, body }));
    const total = readTokenCount(answer.totalTokens);
    if (total !== undefined) return total;
    throw pathFault(told`The upstream gave no token count.`);
  };
  /** Whether it was the request that was refused, and not the form. */
  const takesWhole = async (call: CountCall): Promise<boolean> => {
    const body = { contents: contentsOf(call) };
    try {
      return (await count(call, wholeRequest({ ...call, body }))) > 0;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  };
  /** Undefined where the upstream takes no whole requests. */
  const countWhole = async (call: CountCall): Promise<number | undefined> => {
    try {
      const total = await count(call, wholeRequest(call));
      if (total >= LEAST_WHOLE_COUNT) return total;
    } catch (error) {
      if (!isRefusal(error) || (await takesWhole(call))) throw error;
    }
    return undefined;
  };
  const countAsFarAsTaken = async (call: CountCall): Promise<TokenCount> => {
    const uncounted = textBeside(call.body);
    const isTried = uncounted !== undefined && clock.monotonic() >= contentsUntil;
    const whole = isTried ? await countWhole(call) : undefined;
    if (whole !== undefined) return { total: whole };
    const total = await count(call, { contents: contentsOf(call) });
    if (isTried) contentsUntil = clock.monotonic() + CONTENTS_FOR_MS;
    return uncounted === undefined ? { total } : { total, uncounted };
  };
  return async (call) => {
    switch (profile.countForm) {
      case 'whole-request':
        return { total: await count(call, wholeRequest(call)) };
      case 'request-fields':
        return { total: await count(call, requestFields(call.body)) };
      case 'whole-or-contents':
        return countAsFarAsTaken(call);
      default:
        return profile.countForm satisfies never;
    }
  };
}

/** Safety settings do not change the count, and some upstreams refuse them here. */
function wholeRequest({ body, modelId }: CountCall): JsonObject {
  const { safetySettings, ...request } = body;
  return { generateContentRequest: { model: `models/${modelId}`, ...request } };
}

function contentsOf({ body }: CountCall): JsonValue {
  return body.contents ?? [];
}

/** Vertex AI, "CountTokensRequest". */
const COUNTED_FIELDS = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

function requestFields(body: JsonObject): JsonObject {
  return Object.fromEntries(
    COUNTED_FIELDS.flatMap((field) => {
      const value = body[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** What counts beside the contents: the system text, and tools as they are written. */
function textBeside({ systemInstruction, tools }: JsonObject): string | undefined {
  const written = Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools) : '';
  return `${readSystemText(systemInstruction)}${written}` || undefined;
}

function readSystemText(system: JsonValue | undefined): string {
  const parts = isJsonObject(system) && Array.isArray(system.parts) ? system.parts : [];
  const texts = parts.map((part) => (isJsonObject(part) ? part.text : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.failure === undefined) return false;
  const { kind, status } = error.failure;
  return kind === 'rejected' && status !== 413;
}

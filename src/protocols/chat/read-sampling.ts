// Reads how tokens are chosen and when the answer stops.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { SafetySetting, Sampling } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  asObject,
  readArray,
  readBoolean,
  readNumberIn,
  requireString,
  wrongType,
} from './fields.ts';
import type { ReadContext } from './read-context.ts';

const MAX_STOPS = 4;

/** @throws GatewayError 400 */
export function readSampling(body: JsonObject): Sampling {
  const topK = readNumberIn(body.top_k, 'top_k', { min: -1, integer: true });
  const penalty = { min: -2, max: 2 };
  return {
    temperature: readNumberIn(body.temperature, 'temperature', { min: 0, max: 2 }),
    topP: readNumberIn(body.top_p, 'top_p', { min: 0, max: 1 }),
    // Servers that know the field read 0 and −1 as "no limit".
    topK: topK !== undefined && topK > 0 ? topK : undefined,
    seed: readNumberIn(body.seed, 'seed', { integer: true }),
    presencePenalty: readNumberIn(body.presence_penalty, 'presence_penalty', penalty),
    frequencyPenalty: readNumberIn(body.frequency_penalty, 'frequency_penalty', penalty),
    logprobs: readLogprobs(body),
  };
}

function readLogprobs(body: JsonObject): Sampling['logprobs'] {
  const wanted = readBoolean(body, 'logprobs') === true;
  const alternatives = readNumberIn(body.top_logprobs, 'top_logprobs', {
    min: 0,
    max: 20,
    integer: true,
  });
  if (!wanted && alternatives !== undefined && alternatives > 0) {
    throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs to be true.');
  }
  return wanted ? { alternatives: alternatives ?? 0 } : undefined;
}

/** The newer name wins over the deprecated one; that it says something else is noted. */
export function readMaxTokens(body: JsonObject, { receipt }: ReadContext): number | undefined {
  const range = { min: 1, integer: true };
  const name = 'max_completion_tokens';
  const newer = readNumberIn(body[name], name, range);
  const older = readNumberIn(body.max_tokens, 'max_tokens', range);
  if (newer !== undefined && older !== undefined && newer !== older) {
    receipt.add('dropped', 'max_tokens', told`${name} says something else and wins.`);
  }
  return newer ?? older;
}

/** A string, at most four strings, or null; empty strings would stop every answer and are left out. */
export function readStops(body: JsonObject, { receipt }: ReadContext): readonly string[] {
  const value = body.stop;
  const stops = typeof value === 'string' ? [value] : (readArray(body, 'stop') ?? []);
  if (stops.length > MAX_STOPS) {
    throw invalidRequest('stop', `stop may hold at most ${MAX_STOPS} strings.`);
  }
  return stops.flatMap((stop, index) => {
    const path = typeof value === 'string' ? 'stop' : `stop[${index}]`;
    if (typeof stop !== 'string') throw wrongType(path, 'a string');
    if (stop !== '') return [stop];
    receipt.add('dropped', path, told`An empty stop sequence stops nothing.`);
    return [];
  });
}

/** `safety_settings: [{category, threshold}]`, as some clients add them. */
export function readSafety(body: JsonObject): readonly SafetySetting[] {
  return (readArray(body, 'safety_settings') ?? []).map((value, index) => {
    const path = `safety_settings[${index}]`;
    const setting = asObject(value, path);
    return {
      category: requireString(setting, 'category', path),
      threshold: requireString(setting, 'threshold', path),
    };
  });
}

// What a request asked for besides its words, as attributes of the GenAI semantic conventions.

import type { Attributes } from '@opentelemetry/api';
import { GatewayError } from '../canonical/error.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { wantedAnswers } from '../canonical/wanted-answers.ts';
import type { AskedFor } from '../monitor/observer.ts';

/** Absent fields are undefined; stop sequences are words of the client, and not among them. */
export function requestParameters(
  asked: AskedFor | undefined,
): Readonly<Record<string, Attributes[string] | undefined>> {
  const request = asked && readRequest(asked);
  if (asked === undefined || request === undefined) return {};
  const { sampling, maxOutputTokens } = request;
  const choices = wantedAnswers(asked);
  return {
    'gen_ai.request.choice.count': choices === 1 ? undefined : choices,
    'gen_ai.request.max_tokens': maxOutputTokens,
    'gen_ai.request.temperature': sampling.temperature,
    'gen_ai.request.top_p': sampling.topP,
    'gen_ai.request.top_k': sampling.topK,
    'gen_ai.request.seed': sampling.seed,
    'gen_ai.request.frequency_penalty': sampling.frequencyPenalty,
    'gen_ai.request.presence_penalty': sampling.presencePenalty,
    'gen_ai.output.type': outputType(request),
  };
}

/** What went to the upstream as it came may say things that only its wire has. */
function readRequest(asked: AskedFor): CanonicalRequest | undefined {
  try {
    return asked.canonical();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** Only where the request says one. */
function outputType(request: CanonicalRequest): string | undefined {
  const { outputFormat, outputModalities = [], image } = request;
  if (outputFormat.kind !== 'text') return 'json';
  if (outputModalities.includes('audio')) return 'speech';
  if (outputModalities.includes('image') || image !== undefined) return 'image';
  return outputModalities.includes('text') ? 'text' : undefined;
}

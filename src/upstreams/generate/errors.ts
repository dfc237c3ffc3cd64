// Decides what a refusal of the upstream means: one failure kind for the retry table, one error for the client.

import type { GatewayError, UpstreamFailureKind } from '../../canonical/error.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { Sentence } from '../../lib/localized-message.ts';
import { scrubText } from '../../lib/redact.ts';
import { isPage, refusalError, type UpstreamRefusal, WRONG_PLACE } from '../errors.ts';
import { itemsOf, objectOf, textOf } from '../read-values.ts';
import { headerOf, readRetryHeaders } from '../retry-delay.ts';
import {
  blamesPlace,
  failureKind,
  type RefusalFacts,
  readErrorObject,
  readErrorText,
} from './failure.ts';

/** "GenerateContentRequest.tools[0].function_declarations[3].parameters…: should be non-empty", in either spelling. */
const PLACE = /\btools\[(\d+)\]\.function_?declarations\[(\d+)\]/gi;

/** The complaint with the name behind each place: clients know their tools by name, and may have sent others as well. */
function nameFunctions(complaint: string, tools: JsonValue | undefined): string {
  return complaint.replace(PLACE, (place, tool: string, declaration: string) => {
    const name = nameAt(tools, Number(tool), Number(declaration));
    return name === undefined ? place : `${place} ("${name}")`;
  });
}

function nameAt(tools: JsonValue | undefined, tool: number, at: number): string | undefined {
  const list = objectOf(itemsOf(tools)[tool])?.functionDeclarations;
  return textOf(objectOf(itemsOf(list)[at])?.name);
}

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { status, headers, body, now, secrets = [], tools } = refusal;
  const error = readErrorText(body, now);
  const headerMs = readRetryHeaders(headers, now);
  return toGatewayError({
    ...error,
    // A header that says "at once" does not outweigh a body that knows better.
    retryAfterMs: headerMs || (error.retryAfterMs ?? headerMs),
    status,
    isPage: isPage(headerOf(headers, 'content-type') ?? '', body),
    secrets,
    tools,
    excerpt: scrubText(body, secrets),
  });
}

/** The error an `error` object inside a 200 answer amounts to, as if it had been the status. */
export function classifyErrorFrame(
  value: JsonValue,
  now: number,
  secrets: readonly string[] = [],
): GatewayError {
  const error = readErrorObject(value, now);
  return toGatewayError({
    ...error,
    status: error.code ?? 500,
    isPage: false,
    secrets,
    excerpt: scrubText(JSON.stringify(value), secrets),
  });
}

interface Facts extends RefusalFacts {
  readonly secrets: readonly string[];
  readonly tools?: JsonValue | undefined;
  readonly excerpt: string;
}

function toGatewayError(facts: Facts): GatewayError {
  const { metadata } = facts;
  const kind = failureKind(facts);
  const link = metadata.get('validation_url') ?? '';
  const isLink = link.startsWith('https://') && URL.canParse(link);
  return refusalError({
    ...facts,
    kind,
    reason: facts.reasons[0],
    clientMessage: clientMessageOf(kind, facts),
    lead: isLink ? link : undefined,
  });
}

function clientMessageOf(kind: UpstreamFailureKind, facts: Facts): string | Sentence | undefined {
  if (kind === 'rejected')
    return nameFunctions(scrubText(facts.message, facts.secrets), facts.tools);
  return blamesPlace(facts) ? WRONG_PLACE : undefined;
}

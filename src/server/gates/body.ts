// Reads a JSON body: media type, encoding and size first, then a guard against bombs, then the text.

import { constants, isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseSurveyed } from '../../lib/json.ts';
import { parseInSteps, StepwiseSyntaxError } from '../../lib/json-steps.ts';
import { JSON_LIMITS, type JsonExcess, JsonSurvey } from '../../lib/json-survey.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../../lib/next-turn.ts';
import { type Sentence, told } from '../../lib/told.ts';
import { findJsonError } from './json-error.ts';
import { type ByteLimits, readBytes } from './read-bytes.ts';

export interface BodyInput extends ByteLimits {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * The JSON object a request carries.
 * @throws GatewayError unsupported-media-type, too-large, overloaded, timeout, client-gone, or invalid-request
 * with reason invalid-json and the position where the text stops being JSON.
 */
export async function readJsonBody(given: BodyInput): Promise<JsonObject> {
  const input = given.maxBytes > MOST_TEXT ? { ...given, ...TEXT_LIMIT } : given;
  const { request } = input;
  checkEncoding(request);
  if (hasBody(request) && !isJsonType(request.headers['content-type'])) {
    throw unsupported(told`Send the request body as JSON, with Content-Type: application/json.`);
  }
  wantBody(input);
  const survey = new JsonSurvey(JSON_LIMITS);
  const received = await readBytes(request, input, (piece) => {
    const excess = survey.read(piece);
    if (excess !== undefined) throw invalidJson(EXCESS_MESSAGES[excess]);
    return survey.tokens;
  });
  if (received.length < STEPWISE_FROM_BYTES) {
    return requireObject(parseText(decodeBody(received), survey.mayHoldRiskyNumber));
  }
  const value = await parseLarge(received, survey);
  await nextTurn();
  return requireObject(value);
}

/** What node can hold as one text, whatever limit is set. */
const { MAX_STRING_LENGTH: MOST_TEXT } = constants;
const TEXT_LIMIT = { maxBytes: MOST_TEXT, limitOf: told`a JSON text` };

/** The position of an error is looked for in the whole text. */
async function parseLarge(received: Buffer, survey: JsonSurvey): Promise<JsonValue> {
  if (!isUtf8(received)) throw invalidJson(NOT_UTF8);
  await nextTurn();
  try {
    return await parseInSteps(received, survey);
  } catch (error) {
    if (!(error instanceof StepwiseSyntaxError)) throw error;
    return parseText(error.text, survey.mayHoldRiskyNumber);
  }
}

/** @throws GatewayError unsupported-media-type for a compressed body */
export function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw unsupported(told`Send the request body without Content-Encoding.`);
}

/**
 * Tells a client that waits for it that its body is wanted, unless it is too large. HTTP/1.0 knows no
 * interim answers: a client of it would take one for the answer (RFC 9110, 10.1.1).
 */
export function wantBody({ request, response, maxBytes }: Omit<BodyInput, 'clock'>): void {
  const { headers, httpVersion } = request;
  const waits = headers.expect?.toLowerCase() === '100-continue' && httpVersion !== '1.0';
  if (waits && Number(headers['content-length'] ?? 0) <= maxBytes) response.writeContinue();
}

/** `application/json` or a `+json` type; any charset but UTF-8 (or its subset ASCII) is another type. */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (!/^application\/(?:json|[\w.!#$&^-]+\+json)$/.test(mediaType.trim())) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    const charset = value.trim().replaceAll('"', '');
    return name.trim() !== 'charset' || ['utf-8', 'utf8', 'us-ascii'].includes(charset);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  return headers['content-length'] !== undefined && headers['content-length'] !== '0';
}

/** Most bodies are ASCII, which is read faster as what is the same for it. */
function decodeBody(received: Buffer): string {
  if (received.length === 0)
    throw invalidJson(told`The request body is empty; send a JSON object.`);
  if (isAscii(received)) return received.toString('latin1');
  if (!isUtf8(received)) throw invalidJson(NOT_UTF8);
  return withoutMark(received).toString();
}

function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) {
    throw invalidRequest('body', told`The request body must be a JSON object.`, 'invalid-type');
  }
  return value;
}

function parseText(text: string, mayHoldRiskyNumber: boolean): JsonValue {
  try {
    return parseSurveyed(text, mayHoldRiskyNumber);
  } catch {
    const position = findJsonError(text);
    const found =
      position >= text.length
        ? told`the text ends too early`
        : told`unexpected ${JSON.stringify(text.charAt(position))}`;
    throw invalidJson(told`The request body is not valid JSON: ${found} at position ${position}.`);
  }
}

/** Some editors and shells put a byte order mark before the text; RFC 8259 lets readers skip it. */
function withoutMark(bytes: Buffer): Buffer {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return marked ? bytes.subarray(3) : bytes;
}

const NOT_UTF8 = told`The request body is not UTF-8 text.`;

const EXCESS_MESSAGES: Readonly<Record<JsonExcess, Sentence>> = {
  depth: told`The request body is nested deeper than ${JSON_LIMITS.maxDepth} levels.`,
  tokens: told`The request body has more than ${JSON_LIMITS.maxTokens} JSON tokens.`,
  key: told`The request body has an object key longer than ${JSON_LIMITS.maxKeyBytes} bytes.`,
};

function invalidJson(message: string): GatewayError {
  return invalidRequest('body', message, 'invalid-json');
}

function unsupported(message: string): GatewayError {
  return new GatewayError({ kind: 'unsupported-media-type', source: 'client', message });
}

// A native request body in the API's official spelling, validated: what the relay lane sends on.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { plainModelName } from '../../canonical/model-name.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { objectAt, objectsAt, textAt } from './native-fields.ts';
import { normalizeGenerationConfig } from './normalize-config.ts';
import { normalizeContents, normalizeSystemInstruction } from './normalize-contents.ts';
import { normalizeMessage } from './normalize-message.ts';
import { normalizeTools } from './normalize-tools.ts';
import type { Place } from './place.ts';

const WRAPPER_KEYS = ['generateContentRequest', 'generate_content_request'];

/**
 * Accepts camelCase, snake_case and the neutral words at every level; gives official camelCase.
 * Free-form JSON (arguments, results, JSON schemas, labels) is the client's own object, not a copy.
 * Normalising twice gives the same body.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeBody(body: JsonObject, model: string, receipt: Receipt): JsonObject {
  return normalizeRequest(body, model, { path: '', receipt });
}

/** A countTokens body: the request it counts, and the field it stands in ('' for the body itself). */
interface CountBody {
  readonly body: JsonObject;
  readonly wrapperKey: string;
}

/**
 * As normalizeBody, for a countTokens body: the request itself, or `{generateContentRequest}`.
 * @throws GatewayError (invalid-request) naming the field.
 */
export function normalizeCountBody(body: JsonObject, model: string, receipt: Receipt): CountBody {
  const wrapperKey = WRAPPER_KEYS.find((key) => (body[key] ?? null) !== null);
  if (wrapperKey === undefined) {
    return { body: normalizeRequest(body, model, { path: '', receipt }), wrapperKey: '' };
  }
  if ((body.contents ?? null) !== null) {
    const message = `Send either contents or ${wrapperKey}, not both.`;
    throw invalidRequest(wrapperKey, message);
  }
  for (const [key, value] of Object.entries(body)) {
    if (key === wrapperKey || value === null || (key === 'model' && isSameModel(value, model)))
      continue;
    receipt.add('dropped', key, told`Only what stands in ${wrapperKey} is counted.`);
  }
  const request = body[wrapperKey] ?? null;
  return { body: normalizeRequest(request, model, { path: wrapperKey, receipt }), wrapperKey };
}

function normalizeRequest(value: JsonValue, model: string, place: Place): JsonObject {
  const request = normalizeMessage(value, 'Request', place);
  rejectCachedContent(request, place);
  noteRoutingFields(request, model, place);
  const { model: _model, project: _project, cachedContent: _none, ...body } = request;
  body.contents = normalizeContents(objectsAt(request, 'contents'), place);
  normalizeSections(body, place);
  return body;
}

function normalizeSections(body: JsonObject, place: Place): void {
  const config = objectAt(body, 'generationConfig');
  if (config !== undefined) body.generationConfig = normalizeGenerationConfig(config, place);
  const system = normalizeSystemInstruction(objectAt(body, 'systemInstruction'), place);
  if (system === undefined) delete body.systemInstruction;
  else body.systemInstruction = system;
  const tools = normalizeTools(objectsAt(body, 'tools'), place);
  if (tools.length === 0) delete body.tools;
  else body.tools = tools;
}

/** An empty name names no cache: what proto JSON writes for a field that was never set. */
function rejectCachedContent(request: JsonObject, place: Place): void {
  if (!textAt(request, 'cachedContent')) return;
  const message =
    'cachedContent is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.';
  throw invalidRequest(memberPath(place.path, 'cachedContent'), message, 'unsupported');
}

/** The path names the model and the pool names the project; a body saying otherwise is overruled. */
function noteRoutingFields(request: JsonObject, model: string, place: Place): void {
  if (request.model !== undefined && !isSameModel(request.model, model)) {
    const path = memberPath(place.path, 'model');
    place.receipt.add('dropped', path, told`The model is the one in the path.`);
  }
  if (request.project !== undefined) {
    const path = memberPath(place.path, 'project');
    place.receipt.add('dropped', path, told`The project is the one of the account that is used.`);
  }
}

function isSameModel(value: JsonValue, model: string): boolean {
  return typeof value === 'string' && plainModelName(value) === model;
}

// Tells a native output format in words where the upstream takes none: by its model, beside tools, or of free member names.

import { formatInWords, refusedFormat } from '../../canonical/format-in-words.ts';
import { createReceipt, told } from '../../canonical/receipt.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { editFields, type FieldEdits } from './edits.ts';
import { cleanRelayedResponseSchema } from './schema/clean-response-schema.ts';

/** The same body where the format can be sent. `tools` are those that are sent. */
export function patchOutputFormat(
  body: JsonObject,
  tools: readonly JsonValue[],
  { capabilities, receipt }: EncodeTarget,
): JsonObject {
  const { generationConfig: config } = body;
  const tell = capabilities.takesInstructions ? instruct : askFirst;
  const format = isJsonObject(config) ? formatOf(config) : undefined;
  if (format === undefined || !isJsonObject(config)) return body;
  const path = 'generationConfig';
  const refusal = refusedFormat(capabilities, tools.length > 0);
  if (refusal !== undefined) {
    receipt.add('approximated', `${path}.responseMimeType`, refusal);
    return tell(withConfig(body, editFields(config, NO_FORMAT)), format);
  }
  if (capabilities.takesJsonSchema || !isFree(config.responseSchema)) return body;
  const reason = told`The upstream takes no objects of free member names: the schema is told in words.`;
  receipt.add('approximated', `${path}.responseSchema`, reason);
  return tell(withConfig(body, editFields(config, { responseSchema: undefined })), format);
}

const NO_FORMAT: FieldEdits = {
  responseMimeType: undefined,
  responseSchema: undefined,
  responseJsonSchema: undefined,
};

/** Undefined for plain text. */
function formatOf(config: JsonObject): OutputFormat | undefined {
  const { responseMimeType: mimeType } = config;
  const schema = config.responseJsonSchema ?? config.responseSchema;
  if (isJsonObject(schema)) {
    return { kind: mimeType === 'text/x.enum' ? 'enum' : 'json-schema', schema };
  }
  return mimeType === 'application/json' ? { kind: 'json' } : undefined;
}

/** True for a schema of which nothing is left to send, though it says something. */
function isFree(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return false;
  const path = 'responseSchema';
  return cleanRelayedResponseSchema(schema, { receipt: createReceipt(), path }) === undefined;
}

function withConfig(body: JsonObject, config: JsonObject): JsonObject {
  const isEmpty = Object.keys(config).length === 0;
  return editFields(body, { generationConfig: isEmpty ? undefined : config });
}

function instruct(body: JsonObject, format: OutputFormat): JsonObject {
  const { systemInstruction } = body;
  const system = isJsonObject(systemInstruction) ? systemInstruction : {};
  const parts = [...partsOf(system), wish(format)];
  return editFields(body, { systemInstruction: { ...system, parts } });
}

/** For models that refuse instructions: it stands before the first question. */
function askFirst(body: JsonObject, format: OutputFormat): JsonObject {
  const [first, ...rest] = Array.isArray(body.contents) ? body.contents : [];
  if (!isJsonObject(first)) return body;
  const question =
    first.role === 'model'
      ? [{ role: 'user', parts: [wish(format)] }, first]
      : [{ ...first, parts: [wish(format), ...partsOf(first)] }];
  return editFields(body, { contents: [...question, ...rest] });
}

function partsOf({ parts }: JsonObject): readonly JsonValue[] {
  return Array.isArray(parts) ? parts : [];
}

function wish(format: OutputFormat): JsonObject {
  return { text: formatInWords(format) };
}

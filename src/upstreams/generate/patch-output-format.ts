// Tells a native output format in words where the upstream takes none: beside tools, or of free member names.

import { formatInWords } from '../../canonical/format-in-words.ts';
import { createReceipt } from '../../canonical/receipt.ts';
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
  const format = isJsonObject(config) ? formatOf(config) : undefined;
  if (format === undefined || !isJsonObject(config)) return body;
  const path = 'generationConfig';
  if (tools.length > 0 && !capabilities.jsonWithTools) {
    const reason = 'This model takes no output format beside tools: it is told in words.';
    receipt.add('approximated', `${path}.responseMimeType`, reason);
    return tell(body, format, editFields(config, NO_FORMAT));
  }
  if (capabilities.takesJsonSchema || !isFree(config.responseSchema)) return body;
  const reason = 'The upstream takes no objects of free member names: the schema is told in words.';
  receipt.add('approximated', `${path}.responseSchema`, reason);
  return tell(body, format, editFields(config, { responseSchema: undefined }));
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

function tell(body: JsonObject, format: OutputFormat, generationConfig: JsonObject): JsonObject {
  const { systemInstruction: system } = body;
  const parts = isJsonObject(system) && Array.isArray(system.parts) ? system.parts : [];
  const wish = { text: formatInWords(format) };
  return editFields(body, {
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
    systemInstruction: { ...(isJsonObject(system) ? system : {}), parts: [...parts, wish] },
  });
}

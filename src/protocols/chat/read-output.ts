// Reads what the answer may be: its format and its modalities.

import { invalidRequest } from '../../canonical/error.ts';
import type { OutputFormat, OutputModality } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  readArray,
  readBoolean,
  readObject,
  readString,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from './fields.ts';
import { readSchema } from './read-tools.ts';

/** @throws GatewayError 400 */
export function readOutputFormat(body: JsonObject): OutputFormat {
  const format = readObject(body, 'response_format');
  if (format === undefined) return { kind: 'text' };
  const path = 'response_format';
  const type = requireString(format, 'type', path);
  switch (type) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return readSchemaFormat(format);
    default:
      throw unknownWord('response_format.type', ['text', 'json_object', 'json_schema']);
  }
}

/** The schema is optional in the protocol: without one any JSON will do. */
function readSchemaFormat(format: JsonObject): OutputFormat {
  const path = 'response_format.json_schema';
  const holder = requireObject(format, 'json_schema', 'response_format');
  const name = readString(holder, 'name', path);
  const strict = readBoolean(holder, 'strict', path);
  const schema = readSchema(holder.schema, `${path}.schema`);
  const description = readString(holder, 'description', path);
  if (schema === undefined) return { kind: 'json' };
  return { kind: 'json-schema', schema: describeSchema(schema, description), name, strict };
}

/** What the format is for belongs to its schema, unless that says it itself. */
export function describeSchema(
  schema: JsonObject | boolean,
  description: string | undefined,
): JsonObject | boolean {
  if (typeof schema === 'boolean' || !description || schema.description !== undefined) {
    return schema;
  }
  return { ...schema, description };
}

/** Undefined for plain text. @throws GatewayError 400, also for audio, which no answer can carry yet. */
export function readModalities(body: JsonObject): readonly OutputModality[] | undefined {
  const values = readArray(body, 'modalities');
  if (values === undefined) return undefined;
  const modalities = values.map((value, index): OutputModality => {
    const path = `modalities[${index}]`;
    if (typeof value !== 'string') throw wrongType(path, 'a string');
    const word = value.toLowerCase();
    if (word === 'text' || word === 'image') return word;
    if (word !== 'audio') throw unknownWord(path, ['text', 'image']);
    throw invalidRequest(path, 'Audio answers are not supported; ask for text.', 'unsupported');
  });
  return modalities.includes('image') ? modalities : undefined;
}

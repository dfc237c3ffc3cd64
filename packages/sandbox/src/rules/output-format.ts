// Rules for structured output: which media types exist, and what a response schema needs.

import { isJsonObject } from '../json.ts';
import { checkReferences } from './json-schema.ts';
import type { Rule } from './rule.ts';
import { checkSchema } from './schema.ts';

const AT = 'generation_config';
const JSON_TYPE = 'application/json';
const ENUM_TYPE = 'text/x.enum';

export const checkOutputFormat: Rule = ({ request }, report) => {
  const config = request.generationConfig ?? {};
  const { responseMimeType, responseSchema, responseJsonSchema } = config;
  const type = responseMimeType ?? '';
  if (!['', 'text/plain', JSON_TYPE, ENUM_TYPE].includes(type)) {
    report(`${AT}.response_mime_type`, `${JSON.stringify(type)} is not a supported output type`);
  }
  if (responseSchema !== undefined && responseJsonSchema !== undefined) {
    report(AT, 'response_schema and response_json_schema exclude each other');
  }
  const hasSchema = responseSchema !== undefined || responseJsonSchema !== undefined;
  if (hasSchema && type !== JSON_TYPE && type !== ENUM_TYPE) {
    report(`${AT}.response_mime_type`, `must be ${JSON_TYPE} when a response schema is given`);
  }
  if (type === ENUM_TYPE && !responseSchema?.enum?.length) {
    report(`${AT}.response_schema`, `${ENUM_TYPE} needs a STRING schema with enum`);
  }
  if (responseSchema !== undefined) checkSchema(responseSchema, `${AT}.response_schema`, report);
  if (responseJsonSchema === undefined) return;
  if (isJsonObject(responseJsonSchema)) {
    checkReferences(responseJsonSchema, `${AT}.response_json_schema`, report);
  } else {
    report(`${AT}.response_json_schema`, 'must be a JSON Schema object');
  }
};

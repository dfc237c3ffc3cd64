// Checks a parsed config file: shape, values, and keys that look like misspelt ones.

import { Errors } from 'typebox/schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import { upstreamProblems } from './check-upstreams.ts';
import { findNearMisses } from './near-miss.ts';
import { CONFIG_SCHEMA, type ConfigFile } from './schema.ts';
import { type SchemaError, sayKeyword, sayWords } from './schema-words.ts';
import {
  readAddressRange,
  readClientKey,
  readHost,
  readHostName,
  readOrigin,
  readPassword,
  readWebUrl,
  ValueError,
} from './values.ts';

export type CheckedConfig =
  | { readonly kind: 'good'; readonly config: ConfigFile }
  /** One problem a line, each starting with the JSON path. Secrets are never repeated. */
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

export function checkConfig(raw: JsonValue): CheckedConfig {
  if (!isJsonObject(raw)) return { kind: 'bad', problems: [`(root): ${told`must be an object`}`] };
  const [isGood, errors] = Errors(CONFIG_SCHEMA, raw);
  const problems = isGood
    ? []
    : errors.filter(isOwnError).map((error) => `${jsonPath(error)}: ${sayError(error)}`);
  problems.push(...findNearMisses(raw));
  if (problems.length > 0) return { kind: 'bad', problems: [...new Set(problems)] };
  // The one narrowing of this file: the schema just said so.
  const config = raw as ConfigFile & JsonObject;
  const wrong = valueProblems(config);
  return wrong.length > 0 ? { kind: 'bad', problems: wrong } : { kind: 'good', config };
}

/** A map whose entry is wrong is said to be wrong as well: only the entry helps. */
function isOwnError(
  { keyword, instancePath }: SchemaError,
  _index: number,
  all: readonly SchemaError[],
): boolean {
  if (keyword !== 'additionalProperties') return true;
  return !all.some((other) => other.instancePath.startsWith(`${instancePath}/`));
}

function jsonPath({ instancePath }: SchemaError): string {
  const steps = instancePath.split('/').slice(1);
  const path = steps.map((step, index) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (/^\d+$/.test(key)) return `[${key}]`;
    if (/^[A-Za-z_]\w*$/.test(key)) return index === 0 ? key : `.${key}`;
    return `[${JSON.stringify(key)}]`;
  });
  return path.join('') || '(root)';
}

function sayError(error: SchemaError): string {
  const { keyword, params } = error;
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues)) {
    return sayWords([...new Set(params.allowedValues.map((word) => String(word).toLowerCase()))]);
  }
  return sayKeyword(error);
}

function valueProblems({
  api_key,
  admin_password,
  proxy = {},
  upstreams = {},
}: ConfigFile): string[] {
  return [
    ...tryValues('api_key', readClientKey, [api_key]),
    ...tryValues('admin_password', readPassword, [admin_password]),
    ...tryValues('proxy.host', readHost, [proxy.host]),
    ...tryValues('proxy.trusted_proxies', readAddressRange, proxy.trusted_proxies),
    ...tryValues('proxy.cors_origins', readOrigin, proxy.cors_origins),
    ...tryValues('proxy.allowed_hosts', readHostName, proxy.allowed_hosts),
    ...tryValues('proxy.extprov.base_url', readWebUrl, [proxy.extprov?.base_url]),
    ...tryValues('proxy.pool.fixed_account', readOneLine, [proxy.pool?.fixed_account]),
    ...upstreamProblems(upstreams),
  ];
}

function tryValues(
  path: string,
  read: (text: string) => string,
  values: readonly (string | undefined)[] = [],
): string[] {
  for (const value of values) {
    try {
      if (value !== undefined) read(value);
    } catch (error) {
      if (error instanceof ValueError) return [`${path}: ${error.message}`];
      throw error;
    }
  }
  return [];
}

function readOneLine(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new ValueError(told`must be one line`);
  return text;
}

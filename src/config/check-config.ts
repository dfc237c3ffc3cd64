// Checks a parsed config file: shape, values, prices, and keys that look like misspelt ones.

import { Errors } from 'typebox/schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { distinct, type Sentence, told } from '../lib/localized-message.ts';
import { nearestName } from '../lib/names.ts';
import {
  CONFIG_SCHEMA,
  type ConfigFile,
  findUnknownKeys,
  type PriceSettings,
  type SettingSchema,
  TOKEN_RATE_NAMES,
} from './settings.ts';
import { upstreamProblems } from './upstreams.ts';
import { ValueError } from './values.ts';

export type CheckedConfig =
  | { readonly kind: 'good'; readonly config: ConfigFile }
  /** One problem a line, each starting with the JSON path. Secrets are never repeated. */
  | { readonly kind: 'bad'; readonly problems: readonly Sentence[] };

export function checkConfig(raw: JsonValue): CheckedConfig {
  if (!isJsonObject(raw)) return { kind: 'bad', problems: [told`(root): must be an object`] };
  const [isGood, errors] = Errors(CONFIG_SCHEMA, raw);
  const problems = isGood
    ? []
    : errors.filter(isOwnError).map((error) => told`${jsonPath(error)}: ${sayError(error)}`);
  problems.push(...nearMissesIn(raw));
  if (problems.length > 0) return { kind: 'bad', problems: distinct(problems) };
  // The one narrowing of this file: the schema just said so.
  const config = raw as ConfigFile & JsonObject;
  const wrong = [
    ...valueProblems(raw, CONFIG_SCHEMA),
    ...upstreamProblems(config.upstreams ?? {}),
    ...priceProblems(config.proxy?.prices ?? {}),
  ];
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
  const keys = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce(pathBelow, '') || '(root)';
}

function pathBelow(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (!/^[A-Za-z_]\w*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** A word counts in any case: it is named once. */
function sayError(error: SchemaError): string | Sentence {
  const { keyword, params } = error;
  if (keyword !== 'enum' || !('allowedValues' in params)) return sayKeyword(error);
  const words = [params.allowedValues].flat().map((word) => String(word).toLowerCase());
  return sayWords([...new Set(words)]);
}

/** What a schema cannot check: the values of `schema`, each by its own reader. */
function valueProblems(section: JsonObject, schema: SettingSchema, path = ''): Sentence[] {
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(section).flatMap(([key, value]) => {
    // Of entries with names of the operator's choice each is as the others.
    const { check, ...inner } = properties[key] ?? additionalProperties ?? {};
    const place = pathBelow(path, key);
    if (isJsonObject(value)) return valueProblems(value, inner, place);
    if (check === undefined || value === undefined) return [];
    try {
      for (const text of [value].flat()) check(String(text));
      return [];
    } catch (error) {
      if (error instanceof ValueError) return [told`${place}: ${error.sentence}`];
      throw error;
    }
  });
}

const PRICE_NAMES = [...TOKEN_RATE_NAMES, 'image', 'above', 'source', 'date'];
const STEP_NAMES = ['input_tokens', ...TOKEN_RATE_NAMES];
const DAY = /^20\d\d-\d\d-\d\d$/;

/** A price that says less than it seems would make costs wrong in silence. One problem a line, each starting with the JSON path. */
function priceProblems(prices: PriceSettings): readonly Sentence[] {
  return Object.entries(prices).flatMap(([model, price]) => {
    const path = `proxy.prices[${JSON.stringify(model)}]`;
    const { above = [], date } = price;
    const problems = unknownNames(price, { path, names: PRICE_NAMES });
    if (![...TOKEN_RATE_NAMES, 'image'].some((name) => Object.hasOwn(price, name))) {
      problems.push(told`${path}: needs a rate, such as "input" and "output"`);
    }
    if (date !== undefined && !(DAY.test(date) && isDay(date))) {
      problems.push(told`${path}.date: must be a day, such as 2026-11-27`);
    }
    const seen = new Set<number>();
    for (const [index, step] of above.entries()) {
      const place = `${path}.above[${index}]`;
      problems.push(...unknownNames(step, { path: place, names: STEP_NAMES }));
      if (!TOKEN_RATE_NAMES.some((name) => Object.hasOwn(step, name))) {
        problems.push(told`${place}: needs a rate, such as "input" and "output"`);
      }
      if (seen.has(step.input_tokens)) {
        problems.push(told`${place}.input_tokens: another step begins there too`);
      }
      seen.add(step.input_tokens);
    }
    return problems;
  });
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function unknownNames(
  given: object,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
): Sentence[] {
  return Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = nearestName(name, names);
      return near === undefined
        ? told`${path}.${name}: unknown; a price has ${names.join(', ')}`
        : told`${path}.${name}: unknown; was "${near}" meant?`;
    });
}

/** Problems such as `proxy.auth_modf: unknown key; "auth_mode" was meant?`. */
function nearMissesIn(raw: JsonObject): Sentence[] {
  return findUnknownKeys(raw).flatMap(({ path, free }) => {
    const meant = nearestName(path.at(-1) ?? '', free);
    if (meant === undefined) return [];
    const why = told`unknown key; was "${meant}" meant? (Its setting would be lost.)`;
    return [told`${path.join('.')}: ${why}`];
  });
}

/** What TypeBox says of a value that does not fit. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

type Params = Readonly<Record<string, unknown>>;

/** What is wrong, by the keyword of the schema. */
const SAYINGS: Readonly<Record<string, (params: Params) => Sentence>> = {
  type: ({ type }) => told`must be ${[type].flat().join(' or ')}`,
  minLength: ({ limit }) => told`must not have fewer than ${String(limit)} characters`,
  maxLength: ({ limit }) => told`must not have more than ${String(limit)} characters`,
  minItems: ({ limit }) => told`must not have fewer than ${String(limit)} items`,
  maxItems: ({ limit }) => told`must not have more than ${String(limit)} items`,
  minProperties: ({ limit }) => told`must not have fewer than ${String(limit)} properties`,
  minimum: ({ comparison, limit }) => told`must be ${String(comparison)} ${String(limit)}`,
  maximum: ({ comparison, limit }) => told`must be ${String(comparison)} ${String(limit)}`,
  pattern: ({ pattern }) => told`must match pattern "${String(pattern)}"`,
  const: () => told`must be equal to constant`,
  anyOf: () => told`must match a schema in anyOf`,
  additionalProperties: () => told`must not have additional properties`,
  required: ({ requiredProperties }) => told`lacks ${[requiredProperties].flat().join(', ')}`,
};

/** Of a keyword that no schema of ours has, what TypeBox says of it. */
export function sayKeyword({ keyword, message, params: given }: SchemaError): string | Sentence {
  const params: Params = { ...given };
  if (Array.isArray(params.allowedValues)) return sayWords(params.allowedValues);
  return SAYINGS[keyword]?.(params) ?? message;
}

/** @param values of a list of words, in the spelling to be shown */
function sayWords(values: readonly unknown[]): Sentence {
  return told`must be one of ${values.map(String).join(', ')}`;
}

// What a schema finds wrong with a value, in words that follow the name of the place.

import { type Sentence, told } from '../lib/told.ts';

/** What TypeBox says of a value that does not fit. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** Of a keyword that no schema of ours has, what TypeBox says of it. */
export function sayKeyword({ keyword, message, params }: SchemaError): string {
  return wordsOf(keyword, Object.fromEntries(Object.entries(params))) ?? message;
}

/** @param values of a list of words, in the spelling to be shown */
export function sayWords(values: readonly unknown[]): Sentence {
  return told`must be one of ${values.map(String).join(', ')}`;
}

function wordsOf(keyword: string, params: Readonly<Record<string, unknown>>): Sentence | undefined {
  const limit = String(params.limit);
  switch (keyword) {
    case 'type':
      return told`must be ${[params.type].flat().join(' or ')}`;
    case 'minLength':
      return told`must not have fewer than ${limit} characters`;
    case 'maxLength':
      return told`must not have more than ${limit} characters`;
    case 'minItems':
      return told`must not have fewer than ${limit} items`;
    case 'maxItems':
      return told`must not have more than ${limit} items`;
    case 'minProperties':
      return told`must not have fewer than ${limit} properties`;
    case 'minimum':
    case 'maximum':
      return told`must be ${String(params.comparison)} ${limit}`;
    case 'enum':
      return Array.isArray(params.allowedValues) ? sayWords(params.allowedValues) : undefined;
    case 'pattern':
      return told`must match pattern "${String(params.pattern)}"`;
    case 'const':
      return told`must be equal to constant`;
    case 'anyOf':
      return told`must match a schema in anyOf`;
    case 'additionalProperties':
      return told`must not have additional properties`;
    case 'required':
      return told`lacks ${[params.requiredProperties].flat().join(', ')}`;
    default:
      return undefined;
  }
}

// Rules for the OpenAPI-like Schema of `parameters` and `responseSchema`.

import type { Schema } from '../wire.ts';
import type { Report } from './rule.ts';

const FORMATS = new Map([
  ['STRING', ['enum', 'date-time']],
  ['NUMBER', ['float', 'double']],
  ['INTEGER', ['int32', 'int64']],
]);

/** Reports every violation in the schema and in all it holds. */
export function checkSchema(schema: Schema, at: string, report: Report): void {
  if (schema.type === undefined && !schema.anyOf?.length) {
    report(`${at}.type`, 'must be given, or any_of');
  }
  checkFormat(schema, at, report);
  checkEnum(schema, at, report);
  checkItems(schema, at, report);
  checkProperties(schema, at, report);
  schema.anyOf?.forEach((branch, index) => {
    checkSchema(branch, `${at}.any_of[${index}]`, report);
  });
}

function checkFormat({ type = '', format }: Schema, at: string, report: Report): void {
  if (format === undefined || format === '') return;
  const known = FORMATS.get(type);
  if (known === undefined) {
    if (type !== '') report(`${at}.format`, `has no meaning for type ${type}`);
  } else if (!known.includes(format)) {
    report(
      `${at}.format`,
      `type ${type} knows ${known.join(' and ')}, not ${JSON.stringify(format)}`,
    );
  }
}

function checkEnum(schema: Schema, at: string, report: Report): void {
  if (schema.enum === undefined) return;
  if (schema.type !== 'STRING') report(`${at}.enum`, 'is allowed for type STRING only');
  if (schema.enum.length === 0 || schema.enum.includes('')) {
    report(`${at}.enum`, 'must hold non-empty values');
  }
}

function checkItems(schema: Schema, at: string, report: Report): void {
  if (schema.type === 'ARRAY' && schema.items === undefined) {
    report(`${at}.items`, 'is missing for type ARRAY');
  }
  if (schema.items === undefined) return;
  if (schema.type !== 'ARRAY') report(`${at}.items`, 'is allowed for type ARRAY only');
  checkSchema(schema.items, `${at}.items`, report);
}

function checkProperties(schema: Schema, at: string, report: Report): void {
  const properties = schema.properties ?? {};
  const entries = Object.entries(properties);
  if (schema.type === 'OBJECT' && entries.length === 0) {
    report(`${at}.properties`, 'must not be empty for type OBJECT');
  }
  if (schema.type !== 'OBJECT' && schema.properties !== undefined) {
    report(`${at}.properties`, 'is allowed for type OBJECT only');
  }
  for (const list of ['required', 'propertyOrdering'] as const) {
    const unknown = schema[list]?.find((name) => !Object.hasOwn(properties, name));
    if (unknown !== undefined) {
      const field = list === 'required' ? 'required' : 'property_ordering';
      report(`${at}.${field}`, `names ${JSON.stringify(unknown)}, which is not a property`);
    }
  }
  for (const [name, property] of entries) {
    checkSchema(property, `${at}.properties[${JSON.stringify(name)}]`, report);
  }
}

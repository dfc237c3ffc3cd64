// Says in words what a schema allows, for the reference page.

import { escapeHtml } from '../lib/html.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { htmlText } from './reference-html.ts';

const COMPONENT = '#/components/schemas/';
/** Objects within objects are listed with their path; deeper ones are just called objects. */
const MAX_DEPTH = 3;

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** One row a field: name, whether it is required, type, meaning; all of it markup. */
export function listFields(schema: JsonValue, prefix = '', depth = 0): readonly string[][] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties) || depth > MAX_DEPTH) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = [
      `<code>${escapeHtml(path)}</code>`,
      required.includes(name) ? 'required' : '',
      sayType(field),
      htmlText(textOf(isJsonObject(field) && field.description)),
    ];
    return [row, ...innerFields(field, path, depth + 1)];
  });
}

function innerFields(field: JsonValue, path: string, depth: number): readonly string[][] {
  if (!isJsonObject(field)) return [];
  if (field.items !== undefined) return listFields(field.items, `${path}[].`, depth);
  return listFields(field, `${path}.`, depth);
}

/** Markup; named schemas are links to their place on the page. */
export function sayType(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return '';
  const reference = textOf(schema.$ref);
  if (reference.startsWith(COMPONENT)) {
    const name = escapeHtml(reference.slice(COMPONENT.length));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.map(sayType).join(' or ');
  if (Array.isArray(schema.enum)) return schema.enum.map(sayValue).join(' or ');
  if (schema.const !== undefined) return sayValue(schema.const);
  if (schema.items !== undefined) return `list of ${sayType(schema.items) || 'anything'}`;
  return `${sayPlainType(schema)}${sayRange(schema)}`;
}

function sayPlainType({ type, additionalProperties }: JsonObject): string {
  if (type === 'object' && isJsonObject(additionalProperties)) {
    return `object of ${sayType(additionalProperties) || 'anything'}`;
  }
  const types = Array.isArray(type) ? type : [type];
  return escapeHtml(types.map(textOf).join(' or ')) || 'anything';
}

function sayRange({ minimum, maximum }: JsonObject): string {
  if (minimum !== undefined && maximum !== undefined) {
    return escapeHtml(`, ${minimum} to ${maximum}`);
  }
  if (minimum !== undefined) return escapeHtml(`, at least ${minimum}`);
  return maximum === undefined ? '' : escapeHtml(`, at most ${maximum}`);
}

function sayValue(value: JsonValue): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`;
}

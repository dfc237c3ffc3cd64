// Writes the description of the admin API as one page for people: no script, every text escaped.

import { hash } from 'node:crypto';
import { escapeHtml } from '../lib/html.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import type { AdminAnswer } from '../server/admin-route.ts';
import { listFields, sayType, textOf } from './reference-fields.ts';
import { htmlTable, htmlText } from './reference-html.ts';

const STYLE =
  ':root{color-scheme:light dark;--page:#fff;--text:#15181d;--line:#e3e6ea;--link:#3b4fd8}' +
  '@media (prefers-color-scheme:dark){:root{--page:#0d1014;--text:#e9ecf0;--line:#2a2f36;--link:#98a5ff}}' +
  'body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:var(--page);color:var(--text)}' +
  'main{max-width:60rem;margin:2rem auto;padding:0 1rem}a{color:var(--link)}' +
  'code{font:.9em ui-monospace,monospace}h2{margin-top:3rem}h3{margin-top:2rem}' +
  'table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}caption{text-align:left;font-weight:600}' +
  // The narrowest phone has room for every word, if it may be broken.
  'code,th,td{overflow-wrap:anywhere}' +
  'th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}';
const STYLE_HASH = hash('sha256', STYLE, 'base64');

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly description: JsonObject;
}

/** The page of an OpenAPI document as `describeApi` writes it. */
export function writeReferencePage(document: JsonObject): AdminAnswer {
  const title = textOf(objectIn(document, 'info').title);
  const groups = groupByTag(operationsOf(document));
  const html =
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style><main>` +
    writeHead(document, [...groups.keys()]) +
    [...groups].map(([tag, operations]) => writeGroup(tag, operations)).join('') +
    `${writeSchemas(objectIn(document, 'components', 'schemas'))}</main></html>`;
  return { kind: 'page', html, styleHash: STYLE_HASH };
}

function writeHead(document: JsonObject, tags: readonly string[]): string {
  const { title, version, description } = objectIn(document, 'info');
  const links = [...tags.map((tag) => `group-${tag}`), 'schemas'].map(
    (id) => `<a href="#${escapeHtml(id)}">${escapeHtml(id.replace('group-', ''))}</a>`,
  );
  return (
    `<h1>${escapeHtml(textOf(title))} ${escapeHtml(textOf(version))}</h1>` +
    `<p>${htmlText(textOf(description))} Programs send it as <code>Authorization: Bearer</code>. ` +
    'Bodies and answers are JSON. The same for programs: <a href="/api/openapi.json">openapi.json</a>.</p>' +
    `<nav>${links.join(' · ')}</nav>`
  );
}

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(objectIn(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isJsonObject(methods) ? methods : {}).flatMap(([method, description]) =>
      isJsonObject(description) ? [{ method: method.toUpperCase(), path, description }] : [],
    ),
  );
}

function groupByTag(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  return Map.groupBy(operations, ({ description: { tags } }) =>
    textOf(Array.isArray(tags) ? tags[0] : undefined),
  );
}

function writeGroup(tag: string, operations: readonly Operation[]): string {
  const heading = `<h2 id="group-${escapeHtml(tag)}">${escapeHtml(tag)}</h2>`;
  return heading + operations.map(writeOperation).join('');
}

function writeOperation({ method, path, description }: Operation): string {
  const { operationId, summary, parameters, requestBody, responses } = description;
  const given = (Array.isArray(parameters) ? parameters : []).filter(isJsonObject);
  const answers = Object.entries(isJsonObject(responses) ? responses : {});
  const body = isJsonObject(requestBody) ? bodyOf(requestBody) : undefined;
  return (
    `<h3 id="${escapeHtml(textOf(operationId))}"><code>${method} ${escapeHtml(path)}</code></h3>` +
    `<p>${htmlText(textOf(summary))}</p>` +
    htmlTable('Parameters', given.map(writeParameter)) +
    (body === undefined ? '' : writeBody(body)) +
    htmlTable('Answers', answers.map(writeAnswer))
  );
}

function writeParameter({ name, in: place, required, schema, description }: JsonObject): string[] {
  const meaning = textOf(description) || textOf(isJsonObject(schema) && schema.description);
  return [
    `<code>${escapeHtml(textOf(name))}</code>`,
    escapeHtml(`${textOf(place)}${required === true ? ', required' : ''}`),
    sayType(schema),
    htmlText(meaning),
  ];
}

function writeBody(schema: JsonValue): string {
  const fields = listFields(schema);
  return fields.length > 0 ? htmlTable('Body', fields) : `<p>Body: ${sayType(schema)}</p>`;
}

function writeAnswer([status, answer]: [string, JsonValue]): string[] {
  const described = isJsonObject(answer) ? answer : {};
  const schema = bodyOf(described);
  return [
    `<code>${escapeHtml(status)}</code>`,
    htmlText(textOf(described.description)),
    schema === undefined ? '' : sayType(schema),
  ];
}

/** The schema of the one content type a body or an answer has. */
function bodyOf({ content }: JsonObject): JsonValue | undefined {
  const [typed] = Object.values(isJsonObject(content) ? content : {});
  return isJsonObject(typed) ? typed.schema : undefined;
}

function writeSchemas(schemas: JsonObject): string {
  const written = Object.entries(schemas).map(([name, schema]) => {
    const fields = listFields(schema);
    const text = htmlText(textOf(isJsonObject(schema) && schema.description));
    return (
      `<h3 id="schema-${escapeHtml(name)}"><code>${escapeHtml(name)}</code></h3><p>${text}</p>` +
      (fields.length > 0 ? htmlTable('Fields', fields) : `<p>${sayType(schema)}</p>`)
    );
  });
  return `<h2 id="schemas">schemas</h2>${written.join('')}`;
}

function objectIn(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return keys.reduce<JsonObject>((inner, key) => {
    const value = inner[key];
    return isJsonObject(value) ? value : {};
  }, object);
}

// Describes the admin API as OpenAPI 3.1 and as a page, from the routes and schemas that serve it.

import { hash } from 'node:crypto';
import type { XSchema } from 'typebox/schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { TEXT } from '../lib/object-schema.ts';
import { type AdminAnswer, plainCookieName } from '../server/admin-route.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';
import { ERROR_SCHEMA } from './schemas.ts';

/** Statuses every route may answer with; the edge itself gives them. */
const SHARED_ANSWERS: Readonly<Record<string, string>> = {
  400: 'The request is wrong; `field` names where.',
  401: 'The console password is missing or wrong.',
  403: 'A web page from elsewhere asked, or this may not be changed.',
  404: 'There is no such thing.',
  default: 'Something went wrong in the gateway or at the upstream.',
};

const NAME = /\{(\w+)\}/;

interface DescriptionOptions extends Pick<AdminOptions, 'version'> {
  readonly access: { readonly login: Pick<AdminOptions['access']['login'], 'cookieTag'> };
}

/** The description of the routes given, itself among them: `/api/openapi.json`, and for people `/api/docs`. */
export function createDescriptionRoutes(
  routes: readonly ApiRoute[],
  { version, access: { login } }: DescriptionOptions,
): readonly ApiRoute[] {
  const cookieName = plainCookieName(login.cookieTag);
  const describeAll = () => describeApi([...routes, ...own], { version, cookieName });
  const own: readonly ApiRoute[] = [
    defineRoute({
      at: 'GET /api/openapi.json',
      access: 'viewer',
      title: 'describes this API',
      answers: {
        200: {
          description: 'An OpenAPI 3.1 document.',
          schema: { title: 'OpenApi', type: 'object' },
        },
      },
      run: async () => answerJson(describeAll()),
    }),
    defineRoute({
      at: 'GET /api/docs',
      access: 'viewer',
      title: 'shows this API as a page',
      answers: {
        200: { description: 'A page.', schema: { type: 'string' }, contentType: 'text/html' },
      },
      run: async () => writeReferencePage(describeAll()),
    }),
  ];
  return own;
}

interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** Path → method → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: JsonObject };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ApiAnswer>>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonValue;
  readonly description?: string | undefined;
}

interface ApiAnswer {
  readonly description: string;
  readonly content?: Content;
}

/** By content type; an answer may have two. */
type Content = Readonly<Record<string, { readonly schema: JsonValue }>>;

function describeApi(
  routes: readonly ApiRoute[],
  { version, cookieName }: { readonly version: string; readonly cookieName: string },
): ApiDocument {
  const components = createComponents();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = describeRoute(route, components);
    paths[route.path] = operations;
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'isthmus admin API',
      version,
      description:
        'Accounts, quotas, sessions and settings of the gateway. Every request needs the console ' +
        'password; while none is set, requests of this machine pass without one.',
    },
    servers: [{ url: '/' }],
    security: [{ consolePassword: [] }, { consoleCookie: [] }],
    paths,
    components: {
      securitySchemes: {
        consolePassword: { type: 'http', scheme: 'bearer' },
        consoleCookie: { type: 'apiKey', in: 'cookie', name: cookieName },
      },
      schemas: components.written(),
    },
  };
  return document;
}

function describeRoute(route: ApiRoute, components: Components): Operation {
  const { title, method, path, description } = route;
  const { body } = description;
  const parameters = describeParameters(route);
  return {
    operationId: operationId(method, path),
    summary: `${title.charAt(0).toUpperCase()}${title.slice(1)}.`,
    tags: [path.split('/')[2] ?? 'api'],
    ...(route.access === 'public'
      ? { security: [] }
      : { description: `The least role that may: ${route.access}.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            // Without a required field it may be left out.
            required: 'required' in body,
            content: { 'application/json': { schema: components.refer(body) } },
          },
        }),
    responses: describeAnswers(route, components),
  };
}

function describeAnswers({ description }: ApiRoute, components: Components) {
  const content = { 'application/json': { schema: components.refer(ERROR_SCHEMA) } };
  const answers: Record<string, ApiAnswer> = {};
  for (const [status, answer] of Object.entries(description.answers)) {
    const { schema, contentType = 'application/json', jsonSchema, hasRevision } = answer;
    answers[status] = {
      description: answer.description,
      ...(hasRevision ? { headers: { ETag: { schema: { type: 'string' } } } } : {}),
      ...(schema === undefined
        ? {}
        : {
            content: {
              [contentType]: { schema: components.refer(schema) },
              ...(jsonSchema && { 'application/json': { schema: components.refer(jsonSchema) } }),
            },
          }),
    };
  }
  for (const [status, text] of Object.entries(SHARED_ANSWERS)) {
    answers[status] ??= { description: text, content };
  }
  if (description.takesRevision) {
    answers['412'] = { description: 'It was changed meanwhile: read it again.', content };
  }
  return answers;
}

function describeParameters(route: ApiRoute): readonly Parameter[] {
  const { path, method, access, description } = route;
  const { parameter, query = {}, takesRevision, asksAgain } = description;
  const parameters: Parameter[] = [];
  const name = NAME.exec(path)?.[1];
  if (name !== undefined) {
    const words = parameter === undefined ? {} : { description: parameter };
    parameters.push({ name, in: 'path', required: true, schema: TEXT, ...words });
  }
  const { properties = {}, required = [] } = query as {
    readonly properties?: JsonObject;
    readonly required?: readonly string[];
  };
  for (const [field, schema] of Object.entries(properties)) {
    parameters.push({ name: field, in: 'query', required: required.includes(field), schema });
  }
  const addHeader = (header: string, text: string, isRequired = false) =>
    parameters.push({
      ...{ name: header, in: 'header', required: isRequired, schema: TEXT },
      description: text,
    });
  if (takesRevision) addHeader('If-Match', IF_MATCH);
  if (asksAgain) addHeader('x-isthmus-password', PASSWORD_AGAIN);
  if (method !== 'GET') addHeader('x-isthmus-console', OWN_PAGE, access === 'public');
  return parameters;
}

const IF_MATCH = 'The ETag of what is changed; without it, whatever stands there is changed.';
const PASSWORD_AGAIN =
  'The console password, percent-encoded, from a browser that is signed in, for what a session alone may not do. ' +
  'Whoever shows the password instead of a cookie leaves it out.';

const OWN_PAGE =
  '`1`, which no page from elsewhere can send: with the session cookie, and where no credential is asked for. ' +
  'Whoever shows the password leaves it out.';

/** `POST /api/accounts/{id}/clear-cooldowns` → `postAccountsIdClearCooldowns`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, '').match(/[a-zA-Z]+/g) ?? [];
  const rest = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${method.toLowerCase()}${rest.join('')}`;
}

type Components = ReturnType<typeof createComponents>;

/** Schemas with a title are written once and referred to by it. */
function createComponents() {
  const sources = new Map<string, unknown>();
  const schemas: JsonObject = {};
  const refer = (schema: JsonValue): JsonValue => {
    if (Array.isArray(schema)) return schema.map(refer);
    if (!isJsonObject(schema)) return schema;
    const { title } = schema;
    if (typeof title !== 'string') return mapValues(schema, refer);
    const known = sources.get(title);
    if (known !== undefined && known !== schema)
      throw new Error(`Two schemas are called ${title}.`);
    if (known === undefined) {
      sources.set(title, schema);
      schemas[title] = mapValues(schema, refer);
    }
    return { $ref: `#/components/schemas/${title}` };
  };
  return {
    // The one narrowing of this file: schemas are written as JSON.
    refer: (schema: XSchema) => refer(schema as unknown as JsonObject),
    written: () => schemas,
  };
}

function mapValues(object: JsonObject, map: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

const COMPONENT = '#/components/schemas/';
/** Objects within objects are listed with their path; deeper ones are just called objects. */
const MAX_DEPTH = 3;

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** One row a field: name, whether it is required, type, meaning; all of it markup. */
function listFields(schema: JsonValue, prefix = '', depth = 0): readonly string[][] {
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
function sayType(schema: JsonValue | undefined): string {
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

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Safe between tags and within quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? character);
}

/** Running text as markup; what stands between backticks is code. */
function htmlText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** A table of rows whose cells are markup already; nothing when there are no rows. */
function htmlTable(caption: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const written = rows.map(([head = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${head}</th>${rest}</tr>`;
  });
  return `<table><caption>${escapeHtml(caption)}</caption>${written.join('')}</table>`;
}

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

function writeReferencePage({ info, paths, components }: ApiDocument): AdminAnswer {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  );
  const groups = Map.groupBy(operations, ({ tags: [tag = ''] }) => tag);
  const links = [...[...groups.keys()].map((tag) => `group-${tag}`), 'schemas'].map(
    (id) => `<a href="#${escapeHtml(id)}">${escapeHtml(id.replace('group-', ''))}</a>`,
  );
  const written = Array.from(groups, ([tag, group]) => {
    const heading = `<h2 id="group-${escapeHtml(tag)}">${escapeHtml(tag)}</h2>`;
    return heading + group.map(writeOperation).join('');
  });
  const html =
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(info.title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style><main>` +
    `<h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1>` +
    `<p>${htmlText(info.description)} Programs send it as <code>Authorization: Bearer</code>. ` +
    'Bodies and answers are JSON. The same for programs: <a href="/api/openapi.json">openapi.json</a>.</p>' +
    `<nav>${links.join(' · ')}</nav>${written.join('')}${writeSchemas(components.schemas)}</main></html>`;
  return { kind: 'page', html, styleHash: STYLE_HASH };
}

function writeOperation(operation: Operation & { readonly method: string; readonly path: string }) {
  const { method, path, operationId: id, parameters = [], requestBody, responses } = operation;
  const body = schemaOf(requestBody?.content);
  const fields = body === undefined ? [] : listFields(body);
  const parameterRows = parameters.map(({ name, in: place, required, schema, description }) => [
    `<code>${escapeHtml(name)}</code>`,
    `${place}${required ? ', required' : ''}`,
    sayType(schema),
    htmlText(description ?? textOf(isJsonObject(schema) && schema.description)),
  ]);
  const answerRows = Object.entries(responses).map(([status, { description, content }]) => [
    `<code>${escapeHtml(status)}</code>`,
    htmlText(description),
    sayType(schemaOf(content)),
  ]);
  return (
    `<h3 id="${escapeHtml(id)}"><code>${escapeHtml(`${method.toUpperCase()} ${path}`)}</code></h3>` +
    `<p>${htmlText(operation.summary)}</p>` +
    htmlTable('Parameters', parameterRows) +
    (body === undefined || fields.length > 0
      ? htmlTable('Body', fields)
      : `<p>Body: ${sayType(body)}</p>`) +
    htmlTable('Answers', answerRows)
  );
}

function schemaOf(content: Content = {}): JsonValue | undefined {
  return Object.values(content)[0]?.schema;
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

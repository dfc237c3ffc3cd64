// Describes the admin API as OpenAPI 3.1, from the very routes and schemas that answer it.

import type { XSchema } from 'typebox/schema';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { plainCookieName } from '../server/gates/session-cookie.ts';
import { type ApiRoute, answerJson, defineRoute } from './api-route.ts';
import type { AdminOptions } from './options.ts';
import { writeReferencePage } from './reference-page.ts';
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

/** The description of the routes given, itself among them: `/api/openapi.json`, and for people `/api/docs`. */
export function createDescriptionRoutes(
  routes: readonly ApiRoute[],
  { version, door }: Pick<AdminOptions, 'version' | 'door'>,
): readonly ApiRoute[] {
  const cookieName = plainCookieName(door?.login.cookieTag ?? '');
  const describeAll = () => describeApi([...routes, ...own], { version, cookieName });
  const own: readonly ApiRoute[] = [
    defineRoute({
      method: 'GET',
      path: '/api/openapi.json',
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
      method: 'GET',
      path: '/api/docs',
      title: 'describes this API for people',
      answers: {
        200: { description: 'A page.', schema: { type: 'string' }, contentType: 'text/html' },
      },
      run: async () => writeReferencePage(describeAll()),
    }),
  ];
  return own;
}

/** @throws Error when two schemas have one title. */
function describeApi(
  routes: readonly ApiRoute[],
  { version, cookieName }: { readonly version: string; readonly cookieName: string },
): JsonObject {
  const components = createComponents();
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = describeRoute(route, components);
    paths[route.path] = operations;
  }
  return {
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
}

function describeRoute(route: ApiRoute, components: Components): JsonObject {
  const { title, method, path, description } = route;
  const parameters = [
    ...[...pathParameters(route), ...queryParameters(route)],
    ...[...revision(route), ...passwordAgain(route)],
  ];
  const { body, isBodyRequired } = description;
  return {
    operationId: operationId(method, path),
    summary: `${title.charAt(0).toUpperCase()}${title.slice(1)}.`,
    tags: [path.split('/')[2] ?? 'api'],
    ...(route.access === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: isBodyRequired,
            content: { 'application/json': { schema: components.refer(body) } },
          },
        }),
    responses: describeAnswers(route, components),
  };
}

function describeAnswers({ description }: ApiRoute, components: Components): JsonObject {
  const error = { 'application/json': { schema: components.refer(ERROR_SCHEMA) } };
  const answers: { [status: string]: JsonObject } = {};
  for (const [status, answer] of Object.entries(description.answers)) {
    const { schema, contentType = 'application/json', hasRevision } = answer;
    answers[status] = {
      description: answer.description,
      ...(hasRevision ? { headers: { ETag: { schema: { type: 'string' } } } } : {}),
      ...(schema === undefined
        ? {}
        : { content: { [contentType]: { schema: components.refer(schema) } } }),
    };
  }
  for (const [status, text] of Object.entries(SHARED_ANSWERS)) {
    answers[status] ??= { description: text, content: error };
  }
  if (description.takesRevision) {
    answers['412'] = { description: 'It was changed meanwhile: read it again.', content: error };
  }
  return answers;
}

function pathParameters({ path, description }: ApiRoute): JsonObject[] {
  const name = NAME.exec(path)?.[1];
  if (name === undefined) return [];
  const text = description.parameter;
  return [
    {
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      ...(text === undefined ? {} : { description: text }),
    },
  ];
}

function queryParameters({ description: { query } }: ApiRoute): JsonObject[] {
  const { properties, required } = toJsonObject(query);
  if (!isJsonObject(properties)) return [];
  const names = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: names.includes(name),
    schema,
  }));
}

function revision({ description }: ApiRoute): JsonObject[] {
  if (!description.takesRevision) return [];
  const text = 'The ETag of what is changed; without it, whatever stands there is changed.';
  return [
    {
      name: 'If-Match',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description: text,
    },
  ];
}

function passwordAgain({ description }: ApiRoute): JsonObject[] {
  if (!description.asksAgain) return [];
  return [
    {
      name: 'x-isthmus-password',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description:
        'The console password, percent-encoded, from a browser that is signed in, for what a session alone may not do. ' +
        'Whoever shows the password instead of a cookie leaves it out.',
    },
  ];
}

/** `POST /api/accounts/{id}/clear-cooldowns` → `postAccountsIdClearCooldowns`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, '').match(/[a-zA-Z]+/g) ?? [];
  const rest = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${method.toLowerCase()}${rest.join('')}`;
}

/** Schemas with a title are written once and referred to by it. */
interface Components {
  refer(schema: XSchema): JsonValue;
  written(): JsonObject;
}

function createComponents(): Components {
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
  return { refer: (schema) => refer(toJsonObject(schema)), written: () => schemas };
}

function mapValues(object: JsonObject, map: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

/** The one narrowing of this file: schemas are written as JSON. */
function toJsonObject(schema: XSchema): JsonObject {
  return schema as unknown as JsonObject;
}

// Declares a route of the admin API: schemas of input and output, the check of the input, then its work.

import type { XSchema, XStatic } from 'typebox/schema';
import { StoreError, type StoreFault } from '../accounts/account-store.ts';
import { clientError, type GatewayError, invalidRequest } from '../canonical/error.ts';
import { type SchemaError, sayKeyword } from '../config/check-config.ts';
import type { JsonObject } from '../lib/json.ts';
import { onField, type Sentence, told } from '../lib/localized-message.ts';
import { partial } from '../lib/object-schema.ts';
import type {
  AdminAccess,
  AdminAnswer,
  AdminInput,
  AdminMethod,
  AdminRoute,
} from '../server/admin-route.ts';
import { patternWords } from './schemas.ts';

/** An object schema; a `title` makes it a named component of the API's description. */
type ObjectSchema = XSchema & { readonly type: 'object' };

interface AnswerDescription {
  readonly description: string;
  /** Undefined for answers without a body and for pages. */
  readonly schema?: XSchema | undefined;
  readonly contentType?:
    | 'application/json'
    | 'text/html'
    | 'text/plain'
    | 'text/csv'
    | 'text/event-stream'
    | undefined;
  /** Of the same as JSON, where it may be asked for so. */
  readonly jsonSchema?: XSchema | undefined;
  readonly hasRevision?: boolean | undefined;
}

export interface ApiRoute extends AdminRoute {
  readonly description: Omit<
    RouteSpec<ObjectSchema, ObjectSchema>,
    'at' | 'title' | 'access' | 'changes' | 'shows' | 'run'
  >;
}

export interface ApiInput<Body, Query> extends Omit<AdminInput, 'body' | 'query' | 'ifMatch'> {
  readonly body: Body;
  readonly query: Query;
  /** What `If-Match` holds, without quotes; undefined when it was not sent or is `*`. */
  readonly revision: string | undefined;
}

const NOTHING = partial({});

interface RouteSpec<Body extends ObjectSchema, Query extends ObjectSchema> {
  /** Such as `GET /api/accounts/{id}`. */
  readonly at: `${AdminMethod} /${string}`;
  readonly title: string;
  /** The least role that may use it. */
  readonly access: AdminAccess;
  /** As of `AdminRoute`. */
  readonly changes?: boolean;
  /** As of `AdminRoute`. */
  readonly shows?: AdminRoute['shows'];
  /** What the `{…}` of the path is. */
  readonly parameter?: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly takesRevision?: true;
  /** Some of what it does needs the password again from a signed-in browser. */
  readonly asksAgain?: true;
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** @throws GatewayError or StoreError */
  run(input: ApiInput<XStatic<Body>, XStatic<Query>>): Promise<AdminAnswer>;
}

/** A route whose input is checked before it runs. */
export function defineRoute<
  const Body extends ObjectSchema = typeof NOTHING,
  const Query extends ObjectSchema = typeof NOTHING,
>(spec: RouteSpec<Body, Query>): ApiRoute {
  const { at, title, access, body = NOTHING, query = NOTHING } = spec;
  const [method, path = ''] = at.split(' ') as [AdminMethod, string];
  const checkBody = createCheck(body);
  const checkQuery = createCheck(query);
  return {
    method,
    path,
    title,
    access,
    takesBody: spec.body !== undefined,
    changes: spec.changes,
    shows: spec.shows,
    description: spec,
    async run(input) {
      const given = { body: input.body ?? {}, query: readQuery(input.query) };
      await checkQuery(given.query);
      await checkBody(given.body);
      try {
        return await spec.run({
          ...input,
          // The one narrowing of this file: the checks just said so.
          ...(given as unknown as { body: XStatic<Body>; query: XStatic<Query> }),
          revision: readRevision(input.ifMatch, spec.takesRevision === true),
        });
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const [status, code] = FAULTS[error.fault];
        return answerWith(status, { error: { code, message: error.sentence } });
      }
    },
  };
}

export function answerJson(body: object, revision?: string | number): AdminAnswer {
  return answerWith(200, body, revision);
}

export function answerWith(status: number, body: object, revision?: string | number): AdminAnswer {
  return {
    kind: 'json',
    status,
    // Views are made of JSON types alone; a field of undefined is left out when written.
    body: body as JsonObject,
    revision: revision === undefined ? undefined : String(revision),
  };
}

/** @throws GatewayError not-found */
export function refuseUnknown(message: Sentence): never {
  throw clientError('not-found', message);
}

/** @throws GatewayError invalid-request */
export function refuseMissing(field: string): never {
  throw invalidRequest(field, told`${field}: is missing.`, 'missing-field');
}

/** A number of a query, whose schema lets digits alone through. */
export function queryNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function readQuery(query: URLSearchParams): Readonly<Record<string, string>> {
  for (const name of query.keys()) {
    if (query.getAll(name).length > 1)
      throw invalidRequest(name, told`${name}: came more than once.`);
  }
  return Object.fromEntries(query);
}

/** RFC 9110, 13.1.1: one strong entity tag, or `*` for whatever stands there. */
function readRevision(header: string | undefined, isTaken: boolean): string | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tag = /^\s*"?([\w.-]{1,128})"?\s*$/.exec(header)?.[1];
  if (isTaken && tag !== undefined) return tag;
  throw invalidRequest(
    'if-match',
    isTaken ? SEND_TAG : told`If-Match: this route knows no revisions; leave the header out.`,
  );
}

const SEND_TAG = told`If-Match: send the ETag of the last answer, with its quotes.`;

/** The revision of an entity that counts them. @throws GatewayError invalid-request for what no answer gave as its ETag */
export function readNumber(revision: string | undefined, words = SEND_TAG): number | undefined {
  if (revision === undefined) return undefined;
  if (/^\d{1,15}$/.test(revision)) return Number(revision);
  throw invalidRequest('if-match', words);
}

const FAULTS: Readonly<Record<StoreFault, readonly [status: number, code: string]>> = {
  conflict: [409, 'conflict'],
  stale: [412, 'stale-revision'],
  missing: [404, 'not-found'],
  unreadable: [503, 'unreadable-credential'],
  unavailable: [503, 'storage-unavailable'],
};

/** @throws GatewayError invalid-request naming the first field that is wrong; values are never repeated. */
type Check = (value: unknown) => void;

/** Compiled on first use: most routes are never called, and the compiler takes time to load. */
function createCheck(schema: XSchema): (value: unknown) => Promise<void> {
  let compiled: Promise<Check> | undefined;
  return async (value) => {
    compiled ??= compile(schema);
    (await compiled)(value);
  };
}

async function compile(schema: XSchema): Promise<Check> {
  const { Compile } = await import('typebox/schema');
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return;
    const [, errors] = validator.Errors(value);
    throw sayProblem(errors.find(({ keyword }) => keyword !== 'boolean'));
  };
}

function sayProblem(problem: SchemaError | undefined): GatewayError {
  if (problem === undefined) return invalidRequest('body', told`The request does not fit.`);
  const path = problem.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { keyword, params } = problem;
  if (keyword === 'required') {
    return refuseMissing(fieldName([...path, firstOf(params, 'requiredProperties')]));
  }
  if (keyword === 'additionalProperties') {
    const field = fieldName([...path, firstOf(params, 'additionalProperties')]);
    return invalidRequest(field, told`${field}: there is no such field here.`);
  }
  const field = fieldName(path);
  const words = (keyword === 'pattern' && patternWords(params)) || sayKeyword(problem);
  const reason = keyword === 'type' ? 'invalid-type' : undefined;
  return invalidRequest(field, onField(field, words), reason);
}

function firstOf(params: object, key: string): string {
  const names = Object.entries(params).find(([name]) => name === key)?.[1];
  return Array.isArray(names) ? String(names[0]) : '';
}

function fieldName(steps: readonly string[]): string {
  const text = steps
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('');
  return text === '' ? 'body' : text;
}

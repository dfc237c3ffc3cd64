// The one place that talks to the admin API: headers, revisions, and errors a person can use.

import type { ErrorAnswer } from '../../../src/admin/contract.ts';
import { loadSentences } from '../i18n/load-sentences.ts';
import { isMessage } from '../i18n/sentences.ts';
import { askForPassword } from './ask-password.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';

export interface CallOptions {
  readonly body?: object;
  /** What the answer that is changed had as its revision. */
  readonly revision?: string | number;
  readonly signal?: AbortSignal;
  /** The console password once more, for what a session alone may not do. */
  readonly password?: string;
}

/** A refusal of the gateway, or no answer at all: then `status` is 0. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(given: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly field?: string | undefined;
    readonly retryAfterSeconds?: number | undefined;
  }) {
    super(given.message);
    this.name = 'ApiError';
    this.status = given.status;
    this.code = given.code;
    this.field = given.field;
    this.retryAfterSeconds = given.retryAfterSeconds;
  }
}

/** The state of the query client: nobody is signed in any more. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401;

export const isUnreachable = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 0;

export const isStale = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 412;

/** A key that its upstream refuses is stored only when that is said again. */
export const isKeyRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'key-refused';

/** Said by the gateway itself: nothing of what was sent is in force. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500;

/** A session alone may not do this. */
const isPasswordAsked = (error: ApiError): boolean =>
  error.status === 400 && error.field === 'password' && error.code === 'missing-field';

/** The session goes on; only what it asked for was not done. */
export const isWrongPassword = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 403 && error.field === 'password';

/** Somebody was asked for the password once more, and did not give it. */
export const isWithheld = (error: unknown): boolean =>
  error instanceof ApiError && error.code === WITHHELD;

const WITHHELD = 'password-withheld';

/** An answer that is none of the gateway's. */
export const isForeign = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === FOREIGN;

const FOREIGN = 'foreign';

/** What the gateway says of a revision that is no longer the last. */
export function staleError(): ApiError {
  return new ApiError({ status: 412, code: 'stale', message: 'It was changed meanwhile.' });
}

/**
 * Calls a route of the admin API; where that needs the password once more, a person is asked for it.
 * @throws ApiError; a call that was cancelled throws what its signal says.
 */
export async function callApi<Answer>(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  try {
    return await callOnce<Answer>(method, path, options);
  } catch (error) {
    if (!(error instanceof ApiError) || !isPasswordAsked(error)) throw error;
    const { status, message } = error;
    return askForPassword({
      run: (password) => callOnce<Answer>(method, path, { ...options, password }),
      isRefusal: (refusal): refusal is ApiError =>
        refusal instanceof ApiError && (isWrongPassword(refusal) || refusal.status === 429),
      withheld: new ApiError({ status, code: WITHHELD, message }),
    });
  }
}

/** The `queryFn` of a query that one path answers. */
export const read =
  <Answer>(path: string) =>
  ({ signal }: { readonly signal: AbortSignal }): Promise<Answer> =>
    callApi<Answer>('GET', path, { signal });

async function callOnce<Answer>(
  method: Method,
  path: string,
  { body, revision, signal, password }: CallOptions,
): Promise<Answer> {
  const headers = new Headers({ accept: 'application/json', 'x-isthmus-console': '1' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (revision !== undefined) headers.set('if-match', `"${revision}"`);
  if (password !== undefined) headers.set('x-isthmus-password', encodeURIComponent(password));
  const response = await send(path, {
    method,
    headers,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw await readRefusal(response);
  const answer: unknown = response.status === 204 ? undefined : await readJson(response);
  // The one narrowing of this file: the routes hold their answers to the schemas of these types.
  return answer as Answer;
}

/** Puts a query behind a path, without what is undefined or empty. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** The path of one account: slashes in its id are sent as they are. */
export function pathOf(prefix: string, id: string, action = ''): string {
  const encoded = id.split('/').map(encodeURIComponent).join('/');
  return `${prefix}/${encoded}${action === '' ? '' : `/${action}`}`;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw unreachable();
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw foreignAnswer(response);
  }
}

/** Said by what stands before the gateway, such as a proxy; three of its refusals mean that the gateway is away. */
function foreignAnswer({ status }: Response): ApiError {
  if (status >= 502 && status <= 504) return unreachable();
  return new ApiError({
    status,
    code: FOREIGN,
    message: `The request failed with status ${status}.`,
  });
}

const unreachable = (): ApiError =>
  new ApiError({ status: 0, code: 'unreachable', message: 'The gateway does not answer.' });

async function readRefusal(response: Response): Promise<ApiError> {
  const { status } = response;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  if (isErrorAnswer(answer)) {
    const { error } = answer;
    return new ApiError({ status, retryAfterSeconds, ...error, message: await translate(error) });
  }
  return foreignAnswer(response);
}

/** In the language of the console; as the gateway says it where that cannot be loaded. */
async function translate({ message }: ErrorAnswer['error']): Promise<string> {
  try {
    const say = await loadSentences();
    return say(message);
  } catch {
    return message.text;
  }
}

function isErrorAnswer(value: unknown): value is ErrorAnswer {
  if (typeof value !== 'object' || value === null || !('error' in value)) return false;
  const { error } = value;
  return (
    typeof error === 'object' &&
    error !== null &&
    'message' in error &&
    isMessage(error.message) &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

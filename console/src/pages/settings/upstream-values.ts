// The form of an upstream: its fields as they are typed, and the entry of the config file they make.

import { readFieldErrors } from '../../components/read-field-error.ts';
import { isSecretSet, readTexts, valueAt } from '../../settings/section-values.ts';

export const PROFILES = ['generic', 'gemini-api', 'vertex', 'sandbox'] as const;
export const VOCABULARIES = ['neutral', 'real'] as const;
export const AUTH_WAYS = ['bearer', 'header', 'query'] as const;

export interface UpstreamValues {
  readonly id: string;
  readonly profile: string;
  readonly base_url: string;
  readonly vocabulary: string | null;
  readonly auth: string | null;
  readonly location: string;
  readonly quota_path: string;
  /** One a line: `model = requests / minutes`. */
  readonly limits: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly authorization_url: string;
  readonly token_url: string;
  readonly revocation_url: string;
  readonly userinfo_url: string;
  readonly issuer: string;
  readonly redirect_url: string;
  readonly scopes: string[];
  /** One a line: `name = value`. */
  readonly extra_parameters: string;
}

const OAUTH_TEXTS = [
  ...(['authorization_url', 'token_url', 'revocation_url'] as const),
  ...(['userinfo_url', 'issuer', 'redirect_url'] as const),
];

export function readUpstream(id: string, entry: unknown): UpstreamValues {
  const text = (...path: readonly string[]): string => {
    const value = valueAt(entry, path);
    return typeof value === 'string' ? value : '';
  };
  const word = (name: string): string | null => (text(name) === '' ? null : text(name));
  return {
    id,
    profile: text('profile') === '' ? 'generic' : text('profile'),
    base_url: text('base_url'),
    vocabulary: word('vocabulary'),
    auth: word('auth'),
    location: text('location'),
    quota_path: text('quota_path'),
    limits: writeLimits(valueAt(entry, ['limits'])),
    client_id: text('oauth', 'client_id'),
    client_secret: '',
    authorization_url: text('oauth', 'authorization_url'),
    token_url: text('oauth', 'token_url'),
    revocation_url: text('oauth', 'revocation_url'),
    userinfo_url: text('oauth', 'userinfo_url'),
    issuer: text('oauth', 'issuer'),
    redirect_url: text('oauth', 'redirect_url'),
    scopes: readTexts(valueAt(entry, ['oauth', 'scopes'])),
    extra_parameters: writePairs(valueAt(entry, ['oauth', 'extra_parameters'])),
  };
}

export const hasClientSecret = (entry: unknown): boolean =>
  isSecretSet(valueAt(entry, ['oauth', 'client_secret']));

export type UpstreamProblem =
  | { readonly field: 'id'; readonly kind: 'bad' | 'taken' }
  | { readonly field: 'client_id' }
  | { readonly field: 'limits' | 'extra_parameters'; readonly line: number };

export function findUpstreamProblem(
  values: UpstreamValues,
  takenIds: readonly string[],
): UpstreamProblem | undefined {
  if (!/^[\w.-]{1,64}$/.test(values.id)) return { field: 'id', kind: 'bad' };
  if (takenIds.includes(values.id)) return { field: 'id', kind: 'taken' };
  const limitLine = findBadLine(values.limits, LIMIT_LINE);
  if (limitLine !== undefined) return { field: 'limits', line: limitLine };
  const pairLine = findBadLine(values.extra_parameters, PAIR_LINE);
  if (pairLine !== undefined) return { field: 'extra_parameters', line: pairLine };
  return values.client_id === '' && hasOAuth(values) ? { field: 'client_id' } : undefined;
}

export interface RefusedField {
  readonly field: keyof UpstreamValues;
  readonly words: string;
}

/** Undefined where the gateway refused something else than fields of this form. */
export function listRefused(
  error: unknown,
  values: UpstreamValues,
): readonly RefusedField[] | undefined {
  const { id } = values;
  // As the gateway writes a place in the config file.
  const key = /^[A-Za-z_]\w*$/.test(id) ? `.${id}` : `[${JSON.stringify(id)}]`;
  const faults = readFieldErrors(error, `upstreams${key}`);
  if (faults === undefined) return undefined;
  const found = Array.from(faults, ([place, words]) => {
    const name = /^(?:oauth\.)?(\w+)/.exec(place)?.[1] ?? '';
    return isField(name, values) ? [{ field: name, words }] : [];
  });
  return found.every(({ length }) => length > 0) ? found.flat() : undefined;
}

function isField(name: string, values: UpstreamValues): name is keyof UpstreamValues {
  return Object.hasOwn(values, name);
}

/**
 * The merge patch of the entry. What was emptied is taken out; limits and parameters that are gone
 * too, as a merge would keep them.
 */
export function writeUpstream(values: UpstreamValues, known: unknown): Record<string, unknown> {
  const orNull = (text: string | null): string | null => (text === '' ? null : text);
  const { profile, base_url, vocabulary, auth, location, quota_path } = values;
  return {
    profile,
    base_url: orNull(base_url),
    vocabulary,
    auth,
    location: orNull(location),
    quota_path: orNull(quota_path),
    limits: mergeTable(readLimits(values.limits), valueAt(known, ['limits'])),
    oauth: values.client_id === '' ? null : writeOAuth(values, known),
  };
}

function writeOAuth(values: UpstreamValues, known: unknown): Record<string, unknown> {
  const texts = OAUTH_TEXTS.map((name) => [name, values[name] === '' ? null : values[name]]);
  return {
    client_id: values.client_id,
    ...(values.client_secret === '' ? {} : { client_secret: values.client_secret }),
    ...Object.fromEntries(texts),
    scopes: values.scopes.length === 0 ? null : values.scopes,
    extra_parameters: mergeTable(
      readPairs(values.extra_parameters),
      valueAt(known, ['oauth', 'extra_parameters']),
    ),
  };
}

function mergeTable(
  table: Readonly<Record<string, unknown>>,
  known: unknown,
): Record<string, unknown> | null {
  const before = typeof known === 'object' && known !== null ? Object.keys(known) : [];
  if (Object.keys(table).length === 0) return null;
  return { ...Object.fromEntries(before.map((name) => [name, null])), ...table };
}

function hasOAuth(values: UpstreamValues): boolean {
  return values.scopes.length > 0 || OAUTH_TEXTS.some((name) => values[name] !== '');
}

const LIMIT_LINE = /^\s*(\S+)\s*=\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/;
const PAIR_LINE = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/;

/** Counted from 1. */
function findBadLine(text: string, form: RegExp): number | undefined {
  const bad = text.split('\n').findIndex((line) => line.trim() !== '' && !form.test(line));
  return bad === -1 ? undefined : bad + 1;
}

function readLimits(text: string): Record<string, unknown> {
  const entries = text.split('\n').flatMap((line) => {
    const [, model, requests, minutes] = LIMIT_LINE.exec(line) ?? [];
    if (model === undefined) return [];
    return [[model, { requests: Number(requests), window_minutes: Number(minutes) }] as const];
  });
  return Object.fromEntries(entries);
}

function readPairs(text: string): Record<string, unknown> {
  const entries = text.split('\n').flatMap((line) => {
    const [, name, value] = PAIR_LINE.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function writeLimits(limits: unknown): string {
  if (typeof limits !== 'object' || limits === null) return '';
  return Object.entries(limits)
    .map(([model, limit]) => {
      const requests = valueAt(limit, ['requests']);
      return `${model} = ${requests} / ${valueAt(limit, ['window_minutes'])}`;
    })
    .join('\n');
}

function writePairs(pairs: unknown): string {
  if (typeof pairs !== 'object' || pairs === null) return '';
  return Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');
}

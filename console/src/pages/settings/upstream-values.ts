// The form of an upstream: its fields as they are typed, and the entry of the config file they make.

import { type AmountRange, isGoodAmount, takeAmount } from '../../components/read-amount.ts';
import { readFieldErrors } from '../../components/read-field-error.ts';
import { isSecretSet, readTexts, valueAt } from '../../settings/section-values.ts';
import { hasField, isProfile, needsAddress, type OwnField, PROFILES } from './upstream-profiles.ts';

export const VOCABULARIES = ['neutral', 'real'] as const;

/** The id of the external provider, which is an upstream of its own. */
const PROVIDER_ID = 'extprov';

export interface UpstreamValues {
  readonly id: string;
  readonly profile: string;
  readonly base_url: string;
  readonly vocabulary: string | null;
  readonly auth: string | null;
  readonly quirks: string | null;
  readonly key_header: string;
  /** One a line, as the query: `name = value`. */
  readonly headers: string;
  readonly query: string;
  readonly chat_path: string;
  readonly models_path: string;
  readonly embeddings_path: string;
  readonly images_path: string;
  readonly edits_path: string;
  readonly transcriptions_path: string;
  readonly translations_path: string;
  readonly speech_path: string;
  /** Patterns of models with endpoints of their own. */
  readonly images_models: string[];
  readonly transcriptions_models: string[];
  readonly speech_models: string[];
  readonly ends_with: string | null;
  /** JSON; '' for none. */
  readonly extra_body: string;
  /** As they are typed. */
  readonly max_concurrency: string;
  readonly max_concurrency_per_account: string;
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

export const CALLS_AT_ONCE: AmountRange = { least: 1, most: 10_000, isWhole: true };

const AT_ONCE = ['max_concurrency', 'max_concurrency_per_account'] as const;
const PATHS = [
  ...(['chat', 'models', 'embeddings', 'images', 'edits'] as const),
  ...(['transcriptions', 'translations', 'speech'] as const),
];
const ENDPOINTS = ['images', 'transcriptions', 'speech'] as const;

export function readUpstream(id: string, entry: unknown): UpstreamValues {
  const text = (...path: readonly string[]): string => {
    const value = valueAt(entry, path);
    return typeof value === 'string' ? value : '';
  };
  const word = (name: string): string | null => (text(name) === '' ? null : text(name));
  const amount = (name: string): string => String(valueAt(entry, [name]) ?? '');
  return {
    id,
    profile: text('profile') === '' ? PROFILES[0] : text('profile'),
    base_url: text('base_url'),
    vocabulary: word('vocabulary'),
    auth: word('auth'),
    quirks: word('quirks'),
    key_header: text('key_header'),
    headers: writePairs(valueAt(entry, ['headers'])),
    query: writePairs(valueAt(entry, ['query'])),
    chat_path: text('paths', 'chat'),
    models_path: text('paths', 'models'),
    embeddings_path: text('paths', 'embeddings'),
    images_path: text('paths', 'images'),
    edits_path: text('paths', 'edits'),
    transcriptions_path: text('paths', 'transcriptions'),
    translations_path: text('paths', 'translations'),
    speech_path: text('paths', 'speech'),
    images_models: readTexts(valueAt(entry, ['endpoints', 'images'])),
    transcriptions_models: readTexts(valueAt(entry, ['endpoints', 'transcriptions'])),
    speech_models: readTexts(valueAt(entry, ['endpoints', 'speech'])),
    ends_with: word('ends_with'),
    extra_body: writeJson(valueAt(entry, ['extra_body'])),
    max_concurrency: amount('max_concurrency'),
    max_concurrency_per_account: amount('max_concurrency_per_account'),
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
  | { readonly field: 'id'; readonly kind: 'bad' | 'taken' | 'reserved' }
  | { readonly field: 'base_url' | 'client_id' | 'extra_body' | (typeof AT_ONCE)[number] }
  | { readonly field: (typeof LINES)[number][0]; readonly line: number };

export function findUpstreamProblem(
  values: UpstreamValues,
  takenIds: readonly string[],
): UpstreamProblem | undefined {
  const { id, profile } = values;
  if (!/^[a-z\d][a-z\d._-]{0,39}$/i.test(id)) return { field: 'id', kind: 'bad' };
  if (takenIds.includes(id)) return { field: 'id', kind: 'taken' };
  if (id === PROVIDER_ID || (isProfile(id) && id !== profile)) {
    return { field: 'id', kind: 'reserved' };
  }
  if (needsAddress(profile) && values.base_url === '') return { field: 'base_url' };
  for (const [field, form] of LINES) {
    const line = findBadLine(values[field], form);
    if (line !== undefined) return { field, line };
  }
  if (readJson(values.extra_body) === undefined) return { field: 'extra_body' };
  const many = AT_ONCE.find((field) => !isGoodAmount(values[field], CALLS_AT_ONCE));
  if (many !== undefined) return { field: many };
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
    const [, group, word = ''] = /^(?:(oauth|paths|endpoints)\.)?(\w+)/.exec(place) ?? [];
    const name = word + (SUFFIXES.get(group) ?? '');
    return isField(name, values) ? [{ field: name, words }] : [];
  });
  return found.every(({ length }) => length > 0) ? found.flat() : undefined;
}

/** Of the fields of this form, by the group of the file they stand in. */
const SUFFIXES: ReadonlyMap<string | undefined, string> = new Map([
  ['paths', '_path'],
  ['endpoints', '_models'],
]);

function isField(name: string, values: UpstreamValues): name is keyof UpstreamValues {
  return Object.hasOwn(values, name);
}

/**
 * The merge patch of the entry. What was emptied is taken out; limits and parameters that are gone
 * too, as a merge would keep them.
 */
export function writeUpstream(values: UpstreamValues, known: unknown): Record<string, unknown> {
  const orNull = (text: string | null): string | null => (text === '' ? null : text);
  const { profile, base_url } = values;
  const own = (name: OwnField, value: unknown) => (hasField(profile, name) ? value : null);
  const pairs = (name: 'headers' | 'query') =>
    own(name, mergeTable(readPairs(values[name]), valueAt(known, [name])));
  return {
    profile,
    base_url: orNull(base_url),
    vocabulary: own('vocabulary', values.vocabulary),
    auth: own('auth', values.auth),
    quirks: own('quirks', values.quirks),
    key_header: own('key_header', orNull(values.key_header)),
    headers: pairs('headers'),
    query: pairs('query'),
    paths: own('paths', writePaths(values)),
    endpoints: own('endpoints', writeEndpoints(values, known)),
    ends_with: own('ends_with', values.ends_with),
    extra_body: own(
      'extra_body',
      mergeTable(readJson(values.extra_body) ?? {}, valueAt(known, ['extra_body'])),
    ),
    location: own('location', orNull(values.location)),
    quota_path: own('quota_path', orNull(values.quota_path)),
    ...Object.fromEntries(
      AT_ONCE.map((name) => [name, takeAmount(values[name], CALLS_AT_ONCE) ?? null]),
    ),
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

function writePaths(values: UpstreamValues): Table | null {
  const entries = PATHS.map((name) => [name, values[`${name}_path`].trim() || null] as const);
  return entries.every(([, path]) => path === null) ? null : Object.fromEntries(entries);
}

/** An empty list that the file has says that there is no such endpoint: it stays until models are named. */
function writeEndpoints(values: UpstreamValues, known: unknown): Table | null {
  const entries = ENDPOINTS.map((name) => {
    const models = values[`${name}_models`];
    const isSaid = models.length > 0 || Array.isArray(valueAt(known, ['endpoints', name]));
    const isGone = models.length === 0 && readTexts(valueAt(known, ['endpoints', name])).length > 0;
    return [name, isSaid && !isGone ? models : null] as const;
  });
  return entries.every(([, models]) => models === null) ? null : Object.fromEntries(entries);
}

/** The patch that leaves of a table what is wanted, and nothing else; null takes it out. */
function mergeTable(wanted: Table, known: unknown): Table | null {
  return Object.keys(wanted).length === 0 ? null : replaceTable(wanted, known);
}

function replaceTable(wanted: Table, known: unknown): Table {
  const before = isTable(known) ? known : {};
  const gone = Object.keys(before).map((name) => [name, null] as const);
  const kept = Object.entries(wanted).map(([name, value]) => {
    const old = before[name];
    return [name, isTable(value) && isTable(old) ? replaceTable(value, old) : value] as const;
  });
  return Object.fromEntries([...gone, ...kept]);
}

type Table = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function writeJson(value: unknown): string {
  return isTable(value) ? JSON.stringify(value, null, 2) : '';
}

/** Undefined for what is no JSON object. */
function readJson(text: string): Table | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function hasOAuth(values: UpstreamValues): boolean {
  return values.scopes.length > 0 || OAUTH_TEXTS.some((name) => values[name] !== '');
}

const LIMIT_LINE = /^\s*(\S+)\s*=\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/;
const PAIR_LINE = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/;

/** The fields that are read line by line. */
const LINES = [
  ['headers', PAIR_LINE],
  ['query', PAIR_LINE],
  ['limits', LIMIT_LINE],
  ['extra_parameters', PAIR_LINE],
] as const;

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

// What the sandbox knows while it runs: accounts, quotas, faults, cached prompts, the last requests, signatures.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  badRequest,
  notFound,
  reasonDetail,
  retryDetail,
  SandboxError,
  type Violation,
} from './errors.ts';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from './json.ts';
import { findModel, MODEL_FAMILIES, type ModelFamily, ownIdOf } from './models.ts';
import { countContentTokens, countJsonTokens, identifyContent } from './tokens.ts';
import type { GenerateRequest, Part } from './wire.ts';

/** The part of a clock that the sandbox uses. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason when that aborts first. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** `prefix` followed by 24 random characters of [A-Za-z0-9_-]. */
export function createId(prefix: string): string {
  return prefix + randomBytes(18).toString('base64url');
}

/** Makes an entry the youngest of its map; the oldest goes where there are more than `most`. */
export function touchLru<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

/** Compared in a time that does not depend on the content. */
export function isSame(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}

export function isSameSecret(expected: string, given: string): boolean {
  return isSame(hash(expected), hash(given));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export type SandboxTier = 'ultra' | 'pro' | 'free';
export const SANDBOX_TIERS: readonly SandboxTier[] = ['ultra', 'pro', 'free'];

/** Who makes a call, whatever the credential. */
export interface SandboxCaller {
  /** Lower case. */
  readonly email: string;
  readonly tier: SandboxTier;
  /** The only value accepted in a body's `project`, and in a path. */
  readonly project: string;
  /** For every model; absent for the tier's own allowances. */
  readonly quota?: SandboxQuota;
}

/** An account that was given to the sandbox at its start, with a key. */
export interface SandboxAccount extends SandboxCaller {
  /** The credential: `Authorization: Bearer`, `x-vendora-api-key` or `?key=`. */
  readonly key: string;
}

interface SandboxQuota {
  /** Generate calls per model and window. */
  readonly requests: number;
  /** Length of a window, which starts at a multiple of it. */
  readonly windowMs: number;
}

/** What a plan allows of each text model and of each model that draws. */
interface TierQuota {
  readonly text: SandboxQuota;
  readonly image: SandboxQuota;
}
export type TierQuotas = Readonly<Record<SandboxTier, TierQuota>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_TIER_QUOTAS: TierQuotas = {
  ultra: {
    text: { requests: 1_000_000, windowMs: 5 * HOUR_MS },
    image: { requests: 100_000, windowMs: DAY_MS },
  },
  pro: {
    text: { requests: 200_000, windowMs: 5 * HOUR_MS },
    image: { requests: 20_000, windowMs: DAY_MS },
  },
  free: {
    text: { requests: 20_000, windowMs: DAY_MS },
    image: { requests: 1_000, windowMs: DAY_MS },
  },
};

const PERSON = /^([a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9])?)@sandbox\.example$/;
const SERVICE_ACCOUNT =
  /^[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?@(sandbox-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?)\.iam\.sandbox\.example$/;

/** Two accounts with fresh random keys. */
export function createDefaultAccounts(): SandboxAccount[] {
  return [
    createAccount('ada@sandbox.example', 'ultra'),
    createAccount('grace@sandbox.example', 'pro'),
  ];
}

/** The e-mail in lower case when it is one a person of the sandbox can have. */
export function readPersonEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return PERSON.test(email) ? email : undefined;
}

/** True for `<name>@sandbox-<project>.iam.sandbox.example`. */
export function isServiceAccountEmail(email: string): boolean {
  return SERVICE_ACCOUNT.test(email);
}

/** The one project of a person or service account. Names a project cannot have get a tail that keeps them apart. */
export function projectOf(email: string): string {
  const ofServiceAccount = SERVICE_ACCOUNT.exec(email)?.[1];
  if (ofServiceAccount !== undefined) return ofServiceAccount;
  const name = PERSON.exec(email)?.[1] ?? email;
  const plain = name.replace(/[^a-z0-9-]/g, '-').slice(0, 30);
  if (plain === name) return `sandbox-${name}`;
  return `sandbox-${plain}-${createHash('sha256').update(email).digest('hex').slice(0, 6)}`;
}

function createAccount(email: string, tier: SandboxTier): SandboxAccount {
  const key = `sandbox-${randomBytes(24).toString('base64url')}`;
  return { email, tier, key, project: projectOf(email) };
}

type MemberKind = 'key' | 'person' | 'service-account';

/** Immutable: a change makes a new object. */
export interface Member extends SandboxCaller {
  readonly kind: MemberKind;
  readonly standing: Standing;
}

interface Standing {
  /** Every call is 403 until a person has verified the account. */
  readonly verificationRequired: boolean;
  /** Every call is 403. */
  readonly forbidden: boolean;
  /** Calls of these models, by the sandbox's own ids, are 403. */
  readonly forbiddenModels: readonly string[];
}

const GOOD_STANDING: Standing = {
  verificationRequired: false,
  forbidden: false,
  forbiddenModels: [],
};

export type Members = ReturnType<typeof createMembers>;

export function createMembers(accounts: readonly SandboxAccount[]) {
  const members = new Map<string, Member>(
    accounts.map(({ key: _key, ...caller }) => [
      caller.email,
      { ...caller, kind: 'key', standing: GOOD_STANDING },
    ]),
  );
  const put = (member: Member): Member => {
    members.set(member.email, member);
    return member;
  };
  const create = (email: string, tier: SandboxTier): Member => ({
    email,
    tier,
    project: projectOf(email),
    kind: isServiceAccountEmail(email) ? 'service-account' : 'person',
    standing: GOOD_STANDING,
  });
  /** @throws SandboxError 404 for someone who has not been seen since the start. */
  const require = (email: string): Member => {
    const known = members.get(email.toLowerCase());
    if (known !== undefined) return known;
    throw notFound(
      `${JSON.stringify(email)} has no key here and has not called since the sandbox was started; GET /sandbox/accounts lists who has.`,
    );
  };
  return {
    require,
    list: () => [...members.values()],
    /** Who just signed in, with the plan chosen there; it becomes the plan of all their credentials. */
    enter: (email: string, tier: SandboxTier) =>
      put({ ...(members.get(email) ?? create(email, tier)), tier }),
    /** Who comes with a token: as known, or else with the plan the token was made for. */
    restore: (email: string, tier: SandboxTier) => members.get(email) ?? put(create(email, tier)),
    change(email: string, change: Partial<Standing> & { readonly tier?: SandboxTier }): Member {
      const known = require(email);
      const { tier = known.tier, ...standing } = change;
      return put({ ...known, tier, standing: { ...known.standing, ...standing } });
    },
  };
}

/**
 * Lets only members in good standing pass; `modelId` is the model of the call, where it has one.
 * @throws SandboxError 403 with the reason.
 */
export function requireStanding({ standing, email, project }: Member, modelId?: string): void {
  if (standing.verificationRequired) {
    throw new SandboxError(403, 'Verify your account to continue.', [
      reasonDetail('VALIDATION_REQUIRED', { account: email }),
    ]);
  }
  if (standing.forbidden) {
    throw new SandboxError(403, 'This account may not use the sandbox.', [
      reasonDetail('CONSUMER_SUSPENDED', { consumer: `projects/${project}` }),
    ]);
  }
  if (modelId !== undefined && standing.forbiddenModels.includes(ownIdOf(modelId))) {
    throw new SandboxError(403, `This account may not use models/${modelId}.`, [
      reasonDetail('MODEL_ACCESS_DENIED', { model: modelId }),
    ]);
  }
}

/** What is absent stays; a new `windowMs` starts a window of its own, full unless `left` says otherwise. */
export interface QuotaChange extends Partial<SandboxQuota> {
  readonly left?:
    | { readonly unit: 'calls'; readonly calls: number }
    | { readonly unit: 'fraction'; readonly fraction: number };
}

interface Usage {
  readonly resetsAt: number;
  readonly spent: number;
}

export type QuotaCounters = ReturnType<typeof createQuotaCounters>;

/** Models may go by any of their ids; a refusal names the id of the request. */
export function createQuotaCounters(clock: SandboxClock, tiers: TierQuotas) {
  const usages = new Map<string, Usage>();
  const limits = new Map<string, SandboxQuota>();
  const limitOf = (account: SandboxCaller, modelId: string): SandboxQuota => {
    const kind = findModel(ownIdOf(modelId))?.drawsImages === true ? 'image' : 'text';
    return limits.get(keyOf(account, modelId)) ?? account.quota ?? tiers[account.tier][kind];
  };
  const current = (account: SandboxCaller, modelId: string): Usage => {
    const { windowMs } = limitOf(account, modelId);
    const resetsAt = (Math.floor(clock.now() / windowMs) + 1) * windowMs;
    const usage = usages.get(keyOf(account, modelId));
    return usage?.resetsAt === resetsAt ? usage : { resetsAt, spent: 0 };
  };
  return {
    /** Counts one call. @throws SandboxError 429 with the time until the reset when none is left. */
    spend(account: SandboxCaller, modelId: string): void {
      const usage = current(account, modelId);
      if (usage.spent >= limitOf(account, modelId).requests) {
        throw exhausted(modelId, usage.resetsAt, clock.now());
      }
      usages.set(keyOf(account, modelId), { ...usage, spent: usage.spent + 1 });
    },
    /** `remaining` calls of this window, also as a fraction, 0 to 1. */
    read(account: SandboxCaller, modelId: string) {
      const { resetsAt, spent } = current(account, modelId);
      const limit = limitOf(account, modelId);
      const remaining = Math.max(0, limit.requests - spent);
      const remainingFraction = limit.requests > 0 ? remaining / limit.requests : 0;
      return { ...limit, remaining, remainingFraction, resetsAt };
    },
    /** Sets other limits, for good, and what is left in the current window. */
    set(account: SandboxCaller, modelId: string, { left, ...limit }: QuotaChange): void {
      const key = keyOf(account, modelId);
      if (Object.keys(limit).length > 0)
        limits.set(key, { ...limitOf(account, modelId), ...limit });
      if (left === undefined) return;
      const { requests } = limitOf(account, modelId);
      const calls = left.unit === 'calls' ? left.calls : Math.round(left.fraction * requests);
      usages.set(key, { ...current(account, modelId), spent: requests - calls });
    },
  };
}

/** `GET /v1beta/quota`: `{tier, project, models: [{name, remainingFraction, remainingAmount, resetTime}]}`. */
export function writeQuota(
  account: SandboxCaller,
  modelIds: readonly string[],
  counters: QuotaCounters,
): JsonObject {
  return {
    tier: account.tier,
    project: account.project,
    models: modelIds.map((name) => {
      const { remaining, remainingFraction, resetsAt } = counters.read(account, name);
      return {
        name,
        remainingFraction,
        // Proto-JSON writes large integers as text.
        remainingAmount: String(remaining),
        resetTime: new Date(resetsAt).toISOString(),
      };
    }),
  };
}

function exhausted(model: string, resetsAt: number, now: number): SandboxError {
  const delay = `${Math.ceil((resetsAt - now) / 1000)}s`;
  const quotaResetTimeStamp = new Date(resetsAt).toISOString();
  return new SandboxError(429, `The quota of ${model} is used up; it resets after ${delay}.`, [
    reasonDetail('QUOTA_EXHAUSTED', { model, quotaResetDelay: delay, quotaResetTimeStamp }),
    retryDetail(delay),
  ]);
}

function keyOf(account: SandboxCaller, modelId: string): string {
  return `${account.email}\n${ownIdOf(modelId)}`;
}

export interface Fault {
  /** Which calls; `generate` unless given. */
  readonly endpoint?: FaultEndpoint;
  /** Only calls of this account's e-mail. */
  readonly account?: string;
  /** Only calls of this model id. */
  readonly model?: string;
  /** OAuth error code of the token endpoint, such as `invalid_grant`; with 400 unless `status` is given. */
  readonly error?: string;
  /** Answer with this HTTP error; with `errorAfterEvents`, the code of the error inside the stream. */
  readonly status?: number;
  /** `ErrorInfo.reason` of that error, such as `RATE_LIMIT_EXCEEDED`. */
  readonly reason?: string;
  readonly message?: string;
  /** `RetryInfo.retryDelay` of that error, such as `12s`. */
  readonly retryDelay?: string;
  /** Wait before the response headers. */
  readonly delayMs?: number;
  /** Wait before every stream event. */
  readonly pauseMs?: number;
  /** Break off after that many events (a unary answer is one event). */
  readonly cutAfterEvents?: number;
  /** Break off after that many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** How a cut looks: the connection dies, or the body ends as if it were complete. */
  readonly cutKind?: CutKind;
  /** Send an error event after that many events and end. */
  readonly errorAfterEvents?: number;
  /** That error comes as bare JSON without `data:`, as the real service sometimes does. */
  readonly rawError?: boolean;
  /** A line of broken JSON behind the first event; a unary answer is no JSON at all. */
  readonly garbage?: boolean;
  /** 200 without a single event; a unary answer has no candidate. */
  readonly emptyStream?: boolean;
}

type FaultEndpoint = 'generate' | 'count-tokens' | 'embed' | 'models' | 'quota' | 'token';

export type CutKind = 'reset' | 'end';

interface ScriptedFault extends Fault {
  readonly id: number;
  /** Calls it still applies to. */
  readonly remaining: number;
}

export interface FaultyCall {
  readonly endpoint: FaultEndpoint;
  /** E-mail of the caller; undefined when it is not known. */
  readonly account: string | undefined;
  /** Every id the model of the call goes by. */
  readonly models: readonly string[];
}

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const isBetween =
  (from: number, to: number): Check =>
  (value) => {
    const number = readNumber(value);
    return number !== undefined && Number.isInteger(number) && number >= from && number <= to;
  };
const isCount = isBetween(0, 1e9);
const isDelay = isBetween(0, 600_000);

/** The faults of each endpoint but `generate`, which knows every field but `error`. */
const REFUSALS = ['status', 'reason', 'message', 'retryDelay', 'delayMs'];
const FIELDS_ELSEWHERE: Readonly<Record<Exclude<FaultEndpoint, 'generate'>, readonly string[]>> = {
  'count-tokens': ['model', ...REFUSALS],
  embed: ['model', ...REFUSALS],
  models: REFUSALS,
  quota: REFUSALS,
  token: ['status', 'error', 'message', 'retryDelay', 'delayMs', 'cutAfterBytes', 'garbage'],
};
const FIELDS_EVERYWHERE = ['endpoint', 'account', 'count'];

const CHECKS: Readonly<Record<keyof Fault | 'count', Check>> = {
  endpoint: (value) =>
    value === 'generate' || (typeof value === 'string' && Object.hasOwn(FIELDS_ELSEWHERE, value)),
  error: isText,
  account: isText,
  model: isText,
  status: isBetween(400, 599),
  reason: isText,
  message: isText,
  retryDelay: isText,
  delayMs: isDelay,
  pauseMs: isDelay,
  cutAfterEvents: isCount,
  cutAfterBytes: isCount,
  cutKind: (value) => value === 'reset' || value === 'end',
  errorAfterEvents: isCount,
  rawError: isFlag,
  garbage: isFlag,
  emptyStream: isFlag,
  count: isBetween(1, 1e9),
};
const CHECK_BY_NAME = new Map<string, Check>(Object.entries(CHECKS));

export type Faults = ReturnType<typeof createFaults>;

export function createFaults() {
  let faults: readonly ScriptedFault[] = [];
  let lastId = 0;
  return {
    /** @throws SandboxError 400 naming every field that is unknown or wrong. */
    add(body: JsonValue): ScriptedFault {
      const { count, fault } = readFault(body);
      lastId += 1;
      const scripted = { ...fault, id: lastId, remaining: count };
      faults = [...faults, scripted];
      return scripted;
    },
    list: () => faults,
    clear(): void {
      faults = [];
    },
    /** The oldest fault for this call, counted down; undefined when none applies. */
    take(call: FaultyCall): Fault | undefined {
      const taken = faults.find(
        ({ endpoint = 'generate', account = call.account, model }) =>
          endpoint === call.endpoint &&
          account === call.account &&
          (model === undefined || call.models.includes(model)),
      );
      faults = faults
        .map((one) => (one === taken ? { ...one, remaining: one.remaining - 1 } : one))
        .filter(({ remaining }) => remaining > 0);
      return taken;
    },
  };
}

function readFault(body: JsonValue): { readonly count: number; readonly fault: Fault } {
  if (!isJsonObject(body)) throw badRequest([{ field: '', description: 'must be a JSON object' }]);
  const violations: Violation[] = [];
  for (const [field, value] of Object.entries(body)) {
    const check = CHECK_BY_NAME.get(field);
    if (check === undefined) violations.push({ field, description: 'is not a field of a fault' });
    else if (!check(value)) violations.push({ field, description: 'has no acceptable value' });
    else if (!suits(body.endpoint, field)) {
      violations.push({ field, description: 'is not something this endpoint can suffer' });
    }
  }
  if (violations.length > 0) throw badRequest(violations);
  const { count, ...fault } = body;
  // The one narrowing: every field was just checked against the table of the interface's own keys.
  return { count: readNumber(count) ?? 1, fault: fault as Fault };
}

function suits(endpoint: JsonValue = 'generate', field: string): boolean {
  if (endpoint === 'generate') return field !== 'error';
  const fields = new Map(Object.entries(FIELDS_ELSEWHERE)).get(String(endpoint)) ?? [];
  return FIELDS_EVERYWHERE.includes(field) || fields.includes(field);
}

/** Shorter beginnings are not cached. */
const MIN_CACHED_TOKENS = 1024;
const MAX_REMEMBERED = 5_000;

export type PrefixCache = ReturnType<typeof createPrefixCache>;

/** Implicit prompt caching: long prompt beginnings per account and model. */
export function createPrefixCache() {
  const seen = new Map<string, true>();
  return {
    /** Tokens of the longest beginning seen before in `scope` (0 below the minimum); remembers this one. */
    visit(scope: string, request: GenerateRequest): number {
      const prefixes = listPrefixes(scope, request).filter(
        ({ tokens }) => tokens >= MIN_CACHED_TOKENS,
      );
      const hit = prefixes.findLast(({ digest }) => seen.has(digest));
      for (const { digest } of prefixes) touchLru(seen, [digest, true], MAX_REMEMBERED);
      return hit?.tokens ?? 0;
    },
  };
}

/** The beginnings that end with the instructions and tools, then with each content. */
function listPrefixes(scope: string, request: GenerateRequest) {
  const { contents = [], systemInstruction = {}, tools = [] } = request;
  const head = canonicalJson(JSON.parse(JSON.stringify([systemInstruction, tools])));
  let digest = chain(scope, head);
  let tokens =
    countContentTokens(systemInstruction) + (tools.length > 0 ? countJsonTokens(tools) : 0);
  const prefixes = [{ digest, tokens }];
  for (const content of contents) {
    digest = chain(digest, identifyContent(content));
    tokens += countContentTokens(content);
    prefixes.push({ digest, tokens });
  }
  return prefixes;
}

function chain(previous: string, text: string): string {
  return createHash('sha256').update(previous).update('\n').update(text).digest('base64');
}

interface ReceivedRequest {
  /** ISO 8601. */
  readonly time: string;
  readonly account: string;
  readonly path: string;
  /** JSON text. */
  readonly body: string;
}

/** `client-gone` when the caller left first; `cut` when a fault ended the body. */
export type Ending = 'complete' | 'cut' | 'client-gone';

const MAX_RECORDS = 50;
const MAX_BODY_CHARACTERS = 64 * 1024;

/** The last requests as they arrived. Never holds credentials. */
export function createRequestLog() {
  const records: { readonly received: ReceivedRequest; outcome?: JsonObject }[] = [];
  return {
    /** Starts a record; the returned function notes how the answer ended. */
    add(received: ReceivedRequest) {
      const body = copyBeginning(received.body, MAX_BODY_CHARACTERS + 1);
      const record: (typeof records)[number] = { received: { ...received, body } };
      records.push(record);
      if (records.length > MAX_RECORDS) records.shift();
      return (status: number, ended: Ending): void => {
        record.outcome = { status, ended };
      };
    },
    /** Oldest first. */
    list: () =>
      records.map(({ received, outcome }) => ({ ...received, ...outcome, ...writeBody(received) })),
  };
}

/** A text of its own: a slice of a long one would keep all of it in memory. */
function copyBeginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}

/** Bodies too long to keep are shown by their beginning. */
function writeBody({ body }: ReceivedRequest): JsonObject {
  return body.length <= MAX_BODY_CHARACTERS
    ? { body: parseJson(body) }
    : { body: null, bodyBeginning: body.slice(0, MAX_BODY_CHARACTERS) };
}

type SignatureVerdict = 'valid' | 'stand-in' | 'other-family' | 'invalid' | 'absent';

/** Values documented for calls that never had a signature (generate-content docs, "Thought signatures"). */
const STAND_INS = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((word) => [
    word,
    Buffer.from(word).toString('base64'),
  ]),
);

const LEADING_BYTE = 0x12;
/** Real signatures are some hundred bytes; carriers must cope with the length. */
const FILLER_BYTES = 223;

export type Signatures = ReturnType<typeof createSignatures>;

/** Thought signatures: opaque proofs of a model family and of the call or text they stand on. */
export function createSignatures(seed: string) {
  const issueBytes = (part: Part, family: ModelFamily): Buffer => {
    const code = createHmac('sha256', seed)
      .update(`${family}\n${describeBinding(part)}`)
      .digest();
    const filler = createHash('shake256', { outputLength: FILLER_BYTES }).update(code).digest();
    return Buffer.concat([Buffer.from([LEADING_BYTE]), code, filler]);
  };
  const isFrom = (family: ModelFamily, part: Part, given: Buffer): boolean =>
    isSame(issueBytes(part, family), given);
  return {
    /** In base64. The same part always gets the same one. */
    issue: (part: Part, family: ModelFamily) => issueBytes(part, family).toString('base64'),
    check(part: Part, family: ModelFamily): SignatureVerdict {
      const text = part.thoughtSignature;
      if (text === undefined || text === '') return 'absent';
      if (STAND_INS.has(text)) return 'stand-in';
      const given = Buffer.from(text, 'base64');
      if (isFrom(family, part, given)) return 'valid';
      return MODEL_FAMILIES.some((other) => isFrom(other, part, given))
        ? 'other-family'
        : 'invalid';
    },
  };
}

export type Seals = ReturnType<typeof createSeals>;

/** Opaque values that prove that the sandbox issued something, as it is, over the Messages or the Chat wire. */
export function createSeals(seed: string) {
  const sealBytes = (kind: SealKind, what: string): Buffer => {
    const code = createHmac('sha256', seed).update(`${kind}\n${what}`).digest();
    const filler = createHash('shake256', { outputLength: FILLER_BYTES }).update(code).digest();
    return Buffer.concat([Buffer.from([LEADING_BYTE]), code, filler]);
  };
  return {
    /** In base64. The same thing always gets the same one. */
    issue: (kind: SealKind, what: string) => sealBytes(kind, what).toString('base64'),
    isGenuine: (kind: SealKind, what: string, given: string): boolean =>
      isSame(sealBytes(kind, what), Buffer.from(given, 'base64')),
  };
}

/** Thoughts by their words, sealed thoughts by nothing, search results and citations by their address. */
type SealKind = 'thinking' | 'redacted' | 'content' | 'index';

/**
 * What a signature is bound to: a call's name and arguments, or being text. Not the words of a text,
 * because a stream carries its signature on an empty closing part.
 */
function describeBinding(part: Part): string {
  const call = part.functionCall;
  if (call !== undefined) return `call\n${call.name ?? ''}\n${canonicalJson(call.args ?? {})}`;
  return part.text === undefined ? 'other' : 'text';
}

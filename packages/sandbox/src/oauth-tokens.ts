// Tokens, codes, grants, scopes and keys of the sign-in; tokens and keys come from the seed, so that they outlive a restart.

import {
  checkPrime,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, readNumber } from './json.ts';
import {
  createId,
  isSame,
  isServiceAccountEmail,
  projectOf,
  type SandboxClock,
  type SandboxTier,
  touchLru,
} from './state.ts';

export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** Of RFC 6749, 4.1.2.1 and 5.2, or what a scripted fault asks for. */
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    description: string,
    { status = 400, headers = {} }: ErrorOptions = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

interface ErrorOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `{error, error_description}`. */
export function writeOAuthError(code: string, description: string): JsonObject {
  return { error: code, error_description: description };
}

/** What a scope lets its holder do. */
export type ScopeMeaning = 'models' | 'email' | 'profile';

/** Shown on the consent page. */
export const SCOPE_WORDS: Readonly<Record<ScopeMeaning, string>> = {
  models: 'Call the models in your name and on your quota',
  email: 'See your e-mail address',
  profile: 'See your name',
};

/** Listed in the metadata. */
export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPE_WORDS);
const DEFAULT_SCOPES: readonly string[] = ['models', 'email'];

/** The second names are those of addresses, such as `https://<vendor>/auth/cloud-platform`. */
const MEANINGS: ReadonlyMap<string, ScopeMeaning> = new Map([
  ['models', 'models'],
  ['cloud-platform', 'models'],
  ['generative-language', 'models'],
  ['generative-language.retriever', 'models'],
  ['email', 'email'],
  ['userinfo.email', 'email'],
  ['profile', 'profile'],
  ['userinfo.profile', 'profile'],
]);

/** Asked for out of habit and left out of what is granted: the sandbox makes no ID tokens. */
const IDENTITY_SCOPE = 'openid';

/** The scopes to grant, as they were written; undefined when one of them is unknown. */
export function readScopes(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return DEFAULT_SCOPES;
  const asked = new Set(text.split(' ').filter((scope) => scope !== ''));
  asked.delete(IDENTITY_SCOPE);
  const scopes = [...asked];
  return scopes.every((scope) => meaningOf(scope) !== undefined) ? scopes : undefined;
}

export function meaningsOf(scopes: readonly string[]): ReadonlySet<ScopeMeaning> {
  return new Set(scopes.flatMap((scope) => meaningOf(scope) ?? []));
}

function meaningOf(scope: string): ScopeMeaning | undefined {
  return MEANINGS.get(/^https:\/\/[a-z0-9.-]+\/auth\/(.+)$/.exec(scope)?.[1] ?? scope);
}

/** What a person allowed a client, or a service account took for itself. */
export interface Grant {
  /** The same for every token that comes of one consent. */
  readonly familyId: string;
  readonly email: string;
  readonly tier: SandboxTier;
  /** Undefined for service accounts, which need no client. */
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly grantedAt: number;
}

interface AccessToken {
  readonly grant: Grant;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface RefreshToken {
  readonly grant: Grant;
  /** Rises with every rotation; only one of them is good. */
  readonly generation: number;
}

interface Ticket {
  /** The query of the authorization request. */
  readonly query: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

type Kind = 'access' | 'refresh' | 'ticket';

export type Tokens = ReturnType<typeof createTokens>;

/**
 * Tokens that prove themselves: what they say, sealed with a code made from the seed. Reading gives undefined
 * for anything this sandbox did not make, and says nothing of expiry or revocation.
 */
export function createTokens(seed: string) {
  const codeOf = (kind: Kind, payload: string): Buffer =>
    createHmac('sha256', seed).update(`oauth\n${kind}\n${payload}`).digest();
  const mint = (kind: Kind, content: AccessToken | RefreshToken | Ticket): string => {
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `sandbox-${kind}.${payload}.${codeOf(kind, payload).toString('base64url')}`;
  };
  /** The payload's JSON once its code is right. */
  const open = (kind: Kind, text: string): unknown => {
    const [head, payload = '', code = '', ...rest] = text.split('.');
    if (head !== `sandbox-${kind}` || rest.length > 0) return undefined;
    if (!isSame(codeOf(kind, payload), Buffer.from(code, 'base64url'))) return undefined;
    return parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  };
  // The narrowings: whoever made the code made the payload, and only the functions here do.
  return {
    mintAccess: (token: AccessToken) => mint('access', token),
    mintRefresh: (token: RefreshToken) => mint('refresh', token),
    /** The consent page's proof that it was this sandbox that showed it. */
    mintTicket: (ticket: Ticket) => mint('ticket', ticket),
    readAccess: (text: string) => open('access', text) as AccessToken | undefined,
    readRefresh: (text: string) => open('refresh', text) as RefreshToken | undefined,
    readTicket: (text: string) => open('ticket', text) as Ticket | undefined,
  };
}

interface CodeRequest {
  readonly grant: Grant;
  readonly redirectUrl: string;
  /** PKCE, method S256 (RFC 7636, 4.2). */
  readonly challenge: string;
}

interface Redemption {
  readonly clientId: string;
  readonly redirectUrl: string | undefined;
  readonly verifier: string;
}

type RedeemedCode =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /** A code that was used before: whoever got tokens for it must lose them (RFC 6749, 4.1.2). */
  | { readonly kind: 'reused'; readonly grant: Grant }
  | { readonly kind: 'refused'; readonly because: string };

interface Entry extends CodeRequest {
  readonly expiresAt: number;
  readonly isUsed: boolean;
}

const LIFETIME_MS = 60_000;
/** Used and expired ones are remembered too; the oldest go first. */
const MAX_CODES = 10_000;

export type Codes = ReturnType<typeof createCodes>;

/** Authorization codes: for one use within a minute, by the holder of the verifier. */
export function createCodes(clock: SandboxClock) {
  const codes = new Map<string, Entry>();
  return {
    issue(request: CodeRequest): string {
      const code = createId('sandbox-code-');
      const entry = { ...request, expiresAt: clock.now() + LIFETIME_MS, isUsed: false };
      touchLru(codes, [code, entry], MAX_CODES);
      return code;
    },
    /** Whose code it is, without using it; undefined for unknown codes. */
    emailOf: (code: string) => codes.get(code)?.grant.email,
    /** Any try uses the code up, also one that is refused. */
    redeem(code: string, redemption: Redemption): RedeemedCode {
      const entry = codes.get(code);
      if (entry === undefined) return { kind: 'refused', because: 'The code is unknown.' };
      if (entry.isUsed) return { kind: 'reused', grant: entry.grant };
      codes.set(code, { ...entry, isUsed: true });
      const because = complain(entry, redemption, clock.now());
      return because === undefined
        ? { kind: 'granted', grant: entry.grant }
        : { kind: 'refused', because };
    },
  };
}

function complain(entry: Entry, redemption: Redemption, now: number): string | undefined {
  if (now >= entry.expiresAt) return 'The code has expired.';
  if (entry.grant.clientId !== redemption.clientId) return 'The code belongs to another client.';
  if (entry.redirectUrl !== redemption.redirectUrl) {
    return 'redirect_uri is not the one of the authorization request.';
  }
  const challenge = createHash('sha256').update(redemption.verifier).digest();
  const isRight = isSame(challenge, Buffer.from(entry.challenge, 'base64url'));
  return isRight ? undefined : 'code_verifier does not match the code_challenge.';
}

type Rotation =
  | { readonly kind: 'next'; readonly generation: number }
  | { readonly kind: 'revoked' | 'reused' };

interface Family {
  readonly email: string;
  readonly youngest: number;
  readonly isRevoked: boolean;
}

/** The families longest unused are forgotten first; then the rule for restarts applies to them. */
const MAX_FAMILIES = 100_000;

export type Grants = ReturnType<typeof createGrants>;

/** Which grants are still good: a family of refresh tokens each, where only the youngest counts. */
export function createGrants() {
  const families = new Map<string, Family>();
  /** When all grants of an account were revoked: holds for grants not seen yet. */
  const revokedAt = new Map<string, number>();
  const closed = new Set<string>();
  const put = (id: string, family: Family): void => touchLru(families, [id, family], MAX_FAMILIES);
  const isRevoked = ({ familyId, email, grantedAt }: Grant): boolean =>
    families.get(familyId)?.isRevoked ?? grantedAt <= (revokedAt.get(email) ?? -1);
  const revoke = ({ familyId, email }: Pick<Grant, 'familyId' | 'email'>): void => {
    const youngest = families.get(familyId)?.youngest ?? 0;
    put(familyId, { email, youngest, isRevoked: true });
  };
  const listGood = (email: string): string[] =>
    [...families].flatMap(([id, family]) =>
      family.email === email && !family.isRevoked ? [id] : [],
    );
  return {
    /** A new family; its first refresh token is of generation 1. */
    start: ({ familyId, email }: Grant) => put(familyId, { email, youngest: 1, isRevoked: false }),
    isRevoked,
    /**
     * Uses up a refresh token. `reused` when it was not the youngest: then the whole family is revoked
     * (RFC 9700, 4.14.2). After a restart the first one seen of a family counts as the youngest.
     */
    rotate(grant: Grant, generation: number): Rotation {
      if (isRevoked(grant)) return { kind: 'revoked' };
      const youngest = families.get(grant.familyId)?.youngest ?? generation;
      if (generation !== youngest) {
        revoke(grant);
        return { kind: 'reused' };
      }
      const next = generation + 1;
      put(grant.familyId, { email: grant.email, youngest: next, isRevoked: false });
      return { kind: 'next', generation: next };
    },
    revoke,
    /** Also grants not seen since the start; gives the number of known ones. Closes a service account. */
    revokeAll(email: string, now: number): number {
      revokedAt.set(email, now);
      closed.add(email);
      const good = listGood(email);
      for (const familyId of good) revoke({ familyId, email });
      return good.length;
    },
    /** A closed service account gets no new grants until it is reopened. */
    isClosed: (email: string) => closed.has(email),
    reopen: (email: string) => void closed.delete(email),
    /** How many known grants of the account are good. */
    count: (email: string) => listGood(email).length,
  };
}

interface ServiceAccountKey {
  /** 40 hexadecimal digits, the `kid` of its assertions. */
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const PRIME_BYTES = 128;
const PUBLIC_EXPONENT = 65_537n;
const MAX_REMEMBERED = 1_000;
const isPrime = promisify(checkPrime);

export type ServiceAccountKeys = ReturnType<typeof createServiceAccountKeys>;

/** Always the same pair for an e-mail and a seed, so that key files outlive a restart. */
export function createServiceAccountKeys(seed: string) {
  const keys = new Map<string, Promise<ServiceAccountKey>>();
  return {
    /** Takes some tenths of a second the first time. */
    keyOf(email: string): Promise<ServiceAccountKey> {
      const known = keys.get(email);
      if (known !== undefined) return known;
      const key = deriveKey(`${seed}\nservice-account\n${email}`);
      touchLru(keys, [email, key], MAX_REMEMBERED);
      return key;
    },
  };
}

/** The downloadable file, in the form client libraries read. */
export function writeKeyFile(email: string, key: ServiceAccountKey, issuer: string): JsonObject {
  return {
    type: 'service_account',
    project_id: projectOf(email),
    private_key_id: key.id,
    private_key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: email,
    client_id: createHash('sha256').update(email).digest('hex').slice(0, 21),
    auth_uri: `${issuer}/oauth/authorize`,
    token_uri: `${issuer}/oauth/token`,
  };
}

/** RSA of 2048 bits from two primes that a hash of the label leads to (RFC 8017, 3.2). */
async function deriveKey(label: string): Promise<ServiceAccountKey> {
  const [p, q] = await Promise.all([derivePrime(`${label}\np`), derivePrime(`${label}\nq`)]);
  const d = invert(PUBLIC_EXPONENT, (p - 1n) * (q - 1n));
  const jwk = {
    kty: 'RSA',
    n: encode(p * q),
    e: encode(PUBLIC_EXPONENT),
    d: encode(d),
    p: encode(p),
    q: encode(q),
    dp: encode(d % (p - 1n)),
    dq: encode(d % (q - 1n)),
    qi: encode(invert(q, p)),
  };
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = createPublicKey({ key: { kty: 'RSA', n: jwk.n, e: jwk.e }, format: 'jwk' });
  const id = createHash('sha256').update(jwk.n).digest('hex').slice(0, 40);
  return { id, privateKey, publicKey };
}

/** The first fitting prime at or above the hash; its two highest bits are set so that n has 2048 bits. */
async function derivePrime(label: string): Promise<bigint> {
  const bytes = createHash('shake256', { outputLength: PRIME_BYTES }).update(label).digest();
  const highBits = 3n << BigInt(PRIME_BYTES * 8 - 2);
  let candidate = BigInt(`0x${bytes.toString('hex')}`) | highBits | 1n;
  while ((candidate - 1n) % PUBLIC_EXPONENT === 0n || !(await isPrime(candidate))) {
    candidate += 2n;
  }
  return candidate;
}

/** The inverse of `value` modulo `modulus`, by the extended Euclidean algorithm. */
function invert(value: bigint, modulus: bigint): bigint {
  let [older, newer] = [modulus, value % modulus];
  let [olderFactor, newerFactor] = [0n, 1n];
  while (newer !== 0n) {
    const quotient = older / newer;
    [older, newer] = [newer, older - quotient * newer];
    [olderFactor, newerFactor] = [newerFactor, olderFactor - quotient * newerFactor];
  }
  return ((olderFactor % modulus) + modulus) % modulus;
}

function encode(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex').toString('base64url');
}

interface Assertion {
  readonly email: string;
  readonly scopes: readonly string[];
}

const MAX_LIFETIME_S = 3600;
const MAX_SKEW_S = 60;
/** The sandbox has another port at each start, so assertions made for an earlier one are taken. */
const AUDIENCE = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost):\d{1,5}(?:\/oauth\/token)?$/;

/** Who an assertion says it is of, unproven; for matching scripted faults. */
export function readAssertionEmail(text: string): string | undefined {
  const issuer = readPart(text.split('.')[1])?.iss;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** @throws OAuthError invalid_grant or invalid_scope. */
export async function readAssertion(
  text: string,
  { keys, now }: { readonly keys: ServiceAccountKeys; readonly now: number },
): Promise<Assertion> {
  const [head, body, signature, ...rest] = text.split('.');
  const [header, claims] = [readPart(head), readPart(body)];
  if (header === undefined || claims === undefined || !signature || rest.length > 0) {
    throw refusal('Invalid JWT: it must have three parts.');
  }
  if (header.alg !== 'RS256') throw refusal('Invalid JWT: alg must be RS256.');
  const { iss: email, scope } = claims;
  if (typeof email !== 'string' || !isServiceAccountEmail(email)) {
    throw refusal('Invalid JWT: iss must be the e-mail of a service account.');
  }
  checkClaims(claims, now / 1000);
  const key = await keys.keyOf(email);
  if (header.kid !== undefined && header.kid !== key.id) throw refusal('Invalid JWT: unknown kid.');
  const signed = Buffer.from(`${head}.${body}`);
  if (!verify('sha256', signed, key.publicKey, Buffer.from(signature, 'base64url'))) {
    throw refusal('Invalid JWT Signature.');
  }
  const scopes = typeof scope === 'string' ? readScopes(scope) : undefined;
  if (scopes === undefined || scopes.length === 0) {
    throw new OAuthError('invalid_scope', 'The assertion must name scopes that exist.');
  }
  return { email, scopes };
}

function checkClaims(claims: JsonObject, nowS: number): void {
  const { iss, sub, aud } = claims;
  const [issuedAt, expiresAt] = [readNumber(claims.iat), readNumber(claims.exp)];
  if (sub !== undefined && sub !== iss) {
    throw new OAuthError('unauthorized_client', 'A service account acts for itself only.');
  }
  if (typeof aud !== 'string' || !AUDIENCE.test(aud)) {
    throw refusal('Invalid JWT: aud must be the address of the token endpoint.');
  }
  if (issuedAt === undefined || expiresAt === undefined) {
    throw refusal('Invalid JWT: iat and exp are required.');
  }
  const lasts = expiresAt - issuedAt;
  const isNow = issuedAt <= nowS + MAX_SKEW_S && expiresAt > nowS;
  if (!isNow || !(lasts > 0) || lasts > MAX_LIFETIME_S) {
    throw refusal(
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check iat and exp.',
    );
  }
}

function readPart(text = ''): JsonObject | undefined {
  try {
    const value: JsonValue = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(message: string): OAuthError {
  return new OAuthError('invalid_grant', message);
}

// Runs a route of the admin API: credential, origin, body, answer; and tells the audit log of changes.

import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { AuditActor, Change } from '../access/audit-log.ts';
import { requireRole } from '../access/people.ts';
import { clientError, GatewayError, invalidRequest } from '../canonical/error.ts';
import { stringifyInSteps } from '../lib/chunked-json.ts';
import { fieldNames } from '../lib/difference.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { isHeardAt, isInRange, readAddress } from '../lib/net.ts';
import { EVENT_STREAM_TYPE } from '../stream/sse.ts';
import {
  type AdminAnswer,
  type AdminCaller,
  type AdminInput,
  type AdminRoute,
  type PageLanguage,
  readSessionCookie,
  readSignInCookie,
} from './admin-route.ts';
import { answerInTime, bodyInput } from './call-context.ts';
import { isSamePage } from './cors.ts';
import type { Exchange } from './edge.ts';
import { readCredentials } from './gates/authenticate.ts';
import { readJsonBody } from './gates/body.ts';
import {
  classifyPeer,
  type PeerInput,
  readClientAddress,
  readTrustedProxies,
} from './gates/locality.ts';
import { baseHeaders, sendText } from './respond.ts';
import { acceptsCoding } from './settings.ts';
import { SocketWriter } from './stream-response.ts';

const PASSWORD_HEADER = 'x-isthmus-password';

/** @returns who calls, before anything they show was looked at */
function readCaller(exchange: Exchange, peer: PeerInput): AdminCaller {
  const { edge, headers } = exchange;
  return {
    address: exchange.clientAddress,
    isLocal: classifyPeer(peer) === 'local',
    isSecure: isSecure(exchange),
    cookie: readSessionCookie(headers, edge.access.login.cookieTag),
    signInCookie: readSignInCookie(headers, edge.access.login.cookieTag),
    role: 'viewer',
    person: undefined,
    hasShownPassword: false,
    passwordAgain: readPasswordAgain(headers[PASSWORD_HEADER]),
    language: readLanguage(headers['accept-language']),
    isPrefetch: headers['sec-purpose'] !== undefined || headers.purpose === 'prefetch',
    under({ host, trustedProxies, allowedHosts }) {
      const other = { ...peer, allowedHosts };
      return {
        address: readClientAddress({
          peer: exchange.request.socket.remoteAddress,
          forwardedFor: headers['x-forwarded-for'],
          trustedProxies: readTrustedProxies(trustedProxies),
        }),
        isLocal: classifyPeer(other) === 'local',
        isOwnPage: isSamePage(other),
        isHeard: isHeardAt(host, exchange.request.socket.localAddress),
      };
    },
  };
}

/** Browsers name the languages in the order they are preferred. */
function readLanguage(header = ''): PageLanguage {
  const first = /(?:^|,)\s*(en|ja|zh)\b/i.exec(header)?.[1]?.toLowerCase();
  return first === 'ja' || first === 'zh' ? first : 'en';
}

/** Percent-encoded, since headers hold no other letters; what is not well encoded is taken as it is. */
function readPasswordAgain(header: string | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** By the connection, by the page's own origin, which nobody but the browser writes, or by the word of a trusted proxy. */
function isSecure({ edge, request, headers }: Exchange): boolean {
  if (request.socket instanceof TLSSocket) return true;
  if (headers.origin?.startsWith('https://')) return true;
  const peer = readAddress(request.socket.remoteAddress ?? '');
  const isTrusted =
    peer !== undefined && edge.trustedProxies().some((range) => isInRange(peer, range));
  return isTrusted && headers['x-forwarded-proto']?.split(',').at(-1)?.trim() === 'https';
}

/** Ends when the reader leaves or is let in no more, the events end or the gateway winds down. */
async function sendEvents(
  exchange: Exchange,
  frames: AsyncIterableIterator<string>,
  isStillIn: () => boolean,
): Promise<void> {
  // Proxies must not collect what should arrive piece by piece.
  const headers = ['content-type', EVENT_STREAM_TYPE, 'x-accel-buffering', 'no'];
  return sendPieces(exchange, { pieces: frames, headers }, isStillIn);
}

/** A file that could not be read to its end is broken off, so that nobody takes it for whole. */
async function sendDownload(
  exchange: Exchange,
  { contentType, fileName, chunks }: Extract<AdminAnswer, { kind: 'download' }>,
  isStillIn: () => boolean,
): Promise<void> {
  const disposition = `attachment; filename="${fileName}"`;
  const headers = ['content-type', contentType, 'content-disposition', disposition];
  let isWhole = false;
  async function* pieces(): AsyncGenerator<string> {
    yield* chunks;
    isWhole = true;
  }
  try {
    await sendPieces(exchange, { pieces: pieces(), headers }, () => {
      if (isStillIn()) return true;
      exchange.response.destroy();
      return false;
    });
  } catch (error) {
    if (!isWhole) exchange.response.destroy();
    throw error;
  }
}

interface Pieces {
  readonly pieces: AsyncIterableIterator<string>;
  readonly headers: readonly string[];
}

async function sendPieces(
  exchange: Exchange,
  { pieces, headers: own }: Pieces,
  isStillIn: () => boolean,
): Promise<void> {
  const { edge, request, response, abort } = exchange;
  const end = (): void => void pieces.return?.();
  // Who left meanwhile, or only looks, reads none: they must not go on for nobody.
  if (response.headersSent || response.destroyed) return end();
  const headers = baseHeaders(exchange);
  headers.push(...own, ...NO_STORE);
  response.writeHead(200, headers);
  if (request.method === 'HEAD') {
    response.end();
    return end();
  }
  response.flushHeaders();
  const signal = AbortSignal.any([abort.signal, edge.activity.ending]);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const writer = new SocketWriter(response, edge.clock);
  try {
    for await (const piece of pieces) {
      if (!isStillIn()) return;
      await writer.write(piece);
      if (!writer.isOpen) return;
    }
  } finally {
    signal.removeEventListener('abort', end);
    writer.end();
  }
}

interface ConsoleEntry extends Pick<AdminCaller, 'role' | 'person' | 'hasShownPassword'> {
  /** Whether the same would be let in now, for answers that go on. */
  isStillIn(): boolean;
  readonly author: Author;
}

const OWNER = { role: 'owner', person: undefined } as const;

/** A password is asked for in every mode; pages of other origins are refused. @throws GatewayError */
async function authenticateConsole(
  { edge, headers, request }: Exchange,
  { peer, caller: { cookie, address } }: AdminVisit,
): Promise<ConsoleEntry> {
  const { login } = edge.access;
  const session = cookie === undefined ? undefined : await login.findSession(cookie);
  if (!login.needsPassword && session?.person === undefined) {
    if (classifyPeer(peer) !== 'local') {
      throw clientError(
        'unauthenticated',
        told`Set WEB_PASSWORD where the gateway runs to use the admin API from elsewhere.`,
      );
    }
    const author = { actor: 'local' } as const;
    return { ...OWNER, isStillIn: () => !login.needsPassword, hasShownPassword: false, author };
  }
  // Not from the address: it stands in histories and logs.
  const credentials = readCredentials(headers, new URLSearchParams());
  if (credentials.length > 0) {
    // One try for each request: several credentials would be several.
    const [credential = '', ...others] = new Set(credentials);
    if (others.length > 0 || !(await login.isPassword(credential, address))) throw wrongPassword();
    if (!isSamePage(peer)) throw foreignPage();
    const { passwordTag } = login;
    const author = { actor: login.isMachine(credential) ? 'machine' : 'password' } as const;
    const isStillIn = (): boolean => login.passwordTag === passwordTag;
    return { ...OWNER, isStillIn, hasShownPassword: true, author };
  }
  if (cookie === undefined || session === undefined) throw wrongPassword();
  checkBrowserCall(request.method, peer);
  const { person, role } = session;
  return {
    // Another role is another right: whoever reads on asks again with it.
    isStillIn: () => login.roleOfSession(cookie) === role,
    ...{ role, person, hasShownPassword: false },
    author: { actor: 'session', session: login.nameSession(cookie), person: person?.name },
  };
}

/** Changes by cookie need a header that no foreign page can send, from a page of ours. @throws GatewayError */
function checkBrowserCall(method: string | undefined, peer: PeerInput): void {
  if (!isSamePage(peer)) throw foreignPage();
  if (method === 'GET' || method === 'HEAD') return;
  if (peer.headers[CONSOLE_HEADER] === '1') return;
  const message = told`A change with the session cookie needs the header "${CONSOLE_HEADER}: 1".`;
  throw clientError('forbidden', message);
}

const CONSOLE_HEADER = 'x-isthmus-console';

function foreignPage(): GatewayError {
  return clientError(
    'forbidden',
    told`The admin API takes no requests of web pages from elsewhere. Behind a proxy, name the host under which the gateway is reached in proxy.allowed_hosts.`,
  );
}

function wrongPassword(): GatewayError {
  return clientError(
    'unauthenticated',
    told`The admin API needs "Authorization: Bearer <console password>", or a browser that is signed in.`,
  );
}

interface MatchedAdminRoute {
  readonly route: AdminRoute;
  readonly parameter: string;
  readonly peer: PeerInput;
}

const NO_STORE = ['cache-control', 'no-store'] as const;

/** @throws GatewayError, or anything unforeseen, while no answer has begun. */
export async function runAdminRoute(
  exchange: Exchange,
  { route, parameter, peer }: MatchedAdminRoute,
): Promise<void> {
  const { request, headers, query, requestId, abort } = exchange;
  const stranger = readCaller(exchange, peer);
  const visit = { route, peer, caller: stranger };
  const { isStillIn, author, ...entry } = await authorize(exchange, visit);
  const caller: AdminCaller = { ...stranger, ...entry };
  const body = await readBody(exchange, route);
  await answerInTime(exchange, async (deadline) => {
    const input: AdminInput = {
      body,
      query,
      parameter,
      ifMatch: headers['if-match'],
      lastEventId: headers['last-event-id'],
      isHead: request.method === 'HEAD',
      requestId,
      caller,
      author: nameOf(author),
      signal: abort.signal,
    };
    const answer = await runAudited(exchange, route, { input, author });
    if (answer.kind === 'events' || answer.kind === 'download') {
      deadline.cancel();
      const isAuthorized = (): boolean => isStillIn() && !isBlocked(exchange);
      if (answer.kind === 'events') await sendEvents(exchange, answer.frames, isAuthorized);
      else await sendDownload(exchange, answer, isAuthorized);
    } else await sendAnswer(exchange, answer);
  });
}

/** As the audit log names them. */
function nameOf({ actor, session, person }: Author): string {
  if (person !== undefined) return person;
  return session === undefined ? actor : `${actor} ${session}`;
}

/** By a rule that came while an answer goes on. */
function isBlocked({ edge, clientAddress }: Exchange): boolean {
  if (!edge.settings().addressFilter.enabled) return false;
  return edge.access.addresses.explain(clientAddress).verdict === 'denied';
}

/** Of routes that ask for no credential. */
const UNASKED: ConsoleEntry = {
  isStillIn: () => true,
  role: 'viewer',
  person: undefined,
  hasShownPassword: false,
  author: { actor: 'visitor' },
};

type AdminVisit = Omit<MatchedAdminRoute, 'parameter'> & { readonly caller: AdminCaller };

async function authorize(exchange: Exchange, visit: AdminVisit): Promise<ConsoleEntry> {
  const { route, peer } = visit;
  const { method } = exchange.request;
  // Signing in and out change something too: no other page may make a browser do it.
  if (route.access === 'public') {
    if (method !== 'GET' && method !== 'HEAD') checkBrowserCall(method, peer);
    return UNASKED;
  }
  if (route.isOpenLocally === true && classifyPeer(peer) === 'local') return UNASKED;
  const entry = await authenticateConsole(exchange, visit);
  exchange.clientKeyId = 'console';
  requireRole(entry, route.access);
  return entry;
}

/** Nobody has shown a credential yet: enough for one, and nothing that costs memory. */
const PUBLIC_ROUTE_LIMITS = { maxBytes: 16_384, limitOf: told`this route` };

/** However small the limit of model requests is: what is set here must be possible to set again. */
const MIN_FOR_OPERATORS = 104_857_600;

/** Reads a body where one was sent, and takes none where the route has no use for it. */
async function readBody(exchange: Exchange, route: AdminRoute): Promise<JsonObject | undefined> {
  const { headers } = exchange;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const isSent = encoding !== undefined || (length !== undefined && Number(length) > 0);
  if (!isSent) return undefined;
  if (route.method === 'GET' || (route.access === 'public' && route.takesBody !== true)) {
    throw invalidRequest('body', told`${route.method} ${route.path} takes no body.`);
  }
  const input = bodyInput(exchange);
  // A model request that is tried out here may be as large as there.
  const maxBytes = Math.max(input.maxBytes, MIN_FOR_OPERATORS);
  const limits =
    route.access === 'public' ? PUBLIC_ROUTE_LIMITS : { maxBytes, limitOf: told`the admin API` };
  const body = await readJsonBody({ ...input, ...limits });
  exchange.abort.signal.throwIfAborted();
  return body;
}

async function sendAnswer(
  exchange: Exchange,
  answer: Exclude<AdminAnswer, { kind: 'events' | 'download' }>,
): Promise<void> {
  switch (answer.kind) {
    case 'json': {
      const { status, body, list, revision } = answer;
      const etag = revision === undefined ? [] : ['etag', `"${revision}"`];
      const headers = [...NO_STORE, ...etag, ...cookieOf(answer)];
      const { text, coding } = await compress(await stringifyInSteps(body, list), exchange);
      const type = 'application/json; charset=utf-8';
      sendText(exchange, { status, text, type, headers: [...headers, ...coding] });
      break;
    }
    case 'empty':
      sendText(exchange, { status: 204, headers: [...NO_STORE, ...cookieOf(answer)] });
      break;
    case 'text': {
      const { contentType: type } = answer;
      const { text, coding } = await compress(answer.text, exchange);
      sendText(exchange, { status: 200, text, type, headers: [...NO_STORE, ...coding] });
      break;
    }
    case 'redirect': {
      const location = ['location', answer.location, 'content-length', '0'];
      const headers = [...NO_STORE, ...location, ...PAGE_HEADERS, ...cookieOf(answer)];
      sendText(exchange, { status: 303, headers });
      break;
    }
    case 'page': {
      const policy =
        `default-src 'none'; style-src 'sha256-${answer.styleHash}'; base-uri 'none'; ` +
        `form-action 'none'; frame-ancestors 'none'`;
      sendText(exchange, {
        status: 200,
        text: answer.html,
        type: 'text/html; charset=utf-8',
        headers: [...NO_STORE, ...PAGE_HEADERS, 'content-security-policy', policy],
      });
      break;
    }
    default:
      answer satisfies never;
  }
}

/** Below this a list is one packet or two. */
const MIN_COMPRESSED = 2_048;
const gzipped = promisify(gzip);
const zstandard = promisify(zstdCompress);
const brotli = promisify(brotliCompress);
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Best first: a list of 200 requests, 60 kB, becomes 9.3, 9.8 and 10.1 kB in 0.6, 1.6 and 3.0 ms. */
const CODINGS = [
  { name: 'zstd', encode: (text: string | Buffer) => zstandard(text) },
  { name: 'br', encode: (text: string | Buffer) => brotli(text, QUICK) },
  { name: 'gzip', encode: (text: string | Buffer) => gzipped(text) },
] as const;

/** Answers of changes stay plain: a secret beside the caller's own words would leak by its length (BREACH). */
async function compress(
  text: string | Buffer,
  { headers, request }: Exchange,
): Promise<{ readonly text: string | Buffer; readonly coding: readonly string[] }> {
  const vary = ['vary', 'accept-encoding'];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const accepted = headers['accept-encoding'] ?? '';
  const coding = CODINGS.find(({ name }) => acceptsCoding(accepted, name));
  if (!isRead || coding === undefined || text.length < MIN_COMPRESSED)
    return { text, coding: vary };
  const encoded = await coding.encode(text);
  return { text: encoded, coding: [...vary, 'content-encoding', coding.name] };
}

function cookieOf({ cookie }: { readonly cookie?: string | undefined }): readonly string[] {
  return cookie === undefined ? [] : ['set-cookie', cookie];
}

/** The address of such a page may hold a code: it goes nowhere else, and nothing else comes in. */
const PAGE_HEADERS = ['referrer-policy', 'no-referrer', 'x-frame-options', 'DENY'] as const;

interface Author {
  readonly actor: AuditActor;
  /** Tells the signed-in browsers apart. */
  readonly session?: string | undefined;
  /** The name of who signed in as a person. */
  readonly person?: string | undefined;
}

/** Whether a route is told of in the audit log: all but those that read, unless it says otherwise. */
function isAudited({ method, changes }: AdminRoute): boolean {
  return changes ?? method !== 'GET';
}

/** Runs a route. A change that was refused is none, and what only reads is not told of. */
async function runAudited(
  exchange: Exchange,
  route: AdminRoute,
  { input, author }: { readonly input: AdminInput; readonly author: Author },
): Promise<AdminAnswer> {
  if (!isAudited(route) || input.isHead) return route.run(input);
  const before = await readView(exchange, route, input);
  const answer = await route.run(input);
  const status = statusOf(answer);
  if (status >= 400) return answer;
  const after = await readView(exchange, route, input);
  // Whoever comes to a public page without what it asks for has changed nothing.
  if (route.access === 'public' && JSON.stringify(before) === JSON.stringify(after)) return answer;
  const change: Change = {
    ...{ actor: author.actor, session: author.session, person: author.person },
    address: input.caller.address,
    action: `${route.method} ${route.path}`,
    subject: exchange.path,
    requestId: input.requestId,
    status,
    fields: fieldNames(input.body),
    before,
    after,
  };
  await exchange.edge.access.audit.add(change);
  return answer;
}

function statusOf(answer: AdminAnswer): number {
  if (answer.kind === 'json') return answer.status;
  if (answer.kind === 'empty') return 204;
  return answer.kind === 'redirect' ? 303 : 200;
}

/** What the admin API shows of what the route changes; answers of reading routes hold no secrets. */
async function readView(
  { edge, path }: Exchange,
  { shows }: AdminRoute,
  input: AdminInput,
): Promise<JsonValue | undefined> {
  if (shows === 'nothing') return undefined;
  const at = shows?.replace(/\{\w+\}/, () => input.parameter) ?? path;
  const match = edge.routes.match('GET', at);
  if (match.kind !== 'route' || match.route.kind !== 'admin') return undefined;
  try {
    const { parameter } = match;
    const nothing = { body: undefined, ifMatch: undefined, query: new URLSearchParams() };
    const answer = await match.route.route.run({ ...input, ...nothing, parameter });
    return answer.kind === 'json' && answer.status === 200 ? answer.body : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

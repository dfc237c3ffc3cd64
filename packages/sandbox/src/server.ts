// The sandbox as a server on loopback: its routes, who may call them, and what each answers.

import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { complete, embedInputs, listChatModels, requireChatModel, writeChatModel } from './chat.ts';
import { editImages, generateImages, speak, transcribe } from './chat-media.ts';
import {
  addServiceAccount,
  changeAccount,
  listAccounts,
  readQuotas,
  revokeAccount,
  setQuotas,
} from './controls.ts';
import { notFound, SandboxError } from './errors.ts';
import {
  countTokens,
  embed,
  embedBatch,
  generate,
  type ModelAddress,
  type ModelCall,
  requireModel,
} from './generate.ts';
import {
  readFormBody,
  readJsonBody,
  requireLocalTool,
  sendError,
  sendJson,
  sendText,
} from './http.ts';
import { closeIdle } from './idle-connections.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import {
  countMessage,
  createMessage,
  listMessagesModels,
  readHeaders,
  requireMessagesModel,
  writeMessagesModel,
} from './messages.ts';
import { createMarkedCache } from './messages-cache.ts';
import {
  findModel,
  listModels,
  SANDBOX_MODELS,
  writeModel,
  writePublisherModels,
} from './models.ts';
import {
  answerOAuth,
  authenticateToken,
  createDefaultClient,
  DEFAULT_CLIENT_ID,
  isAccessToken,
  type OAuthOperation,
  oauthAddresses,
  type SandboxClient,
} from './oauth.ts';
import {
  createCodes,
  createGrants,
  createServiceAccountKeys,
  createTokens,
} from './oauth-tokens.ts';
import { applyFault, type PlayedCall } from './play.ts';
import {
  createFaults,
  createId,
  createMembers,
  createPrefixCache,
  createQuotaCounters,
  createRequestLog,
  createSeals,
  createSignatures,
  DEFAULT_TIER_QUOTAS,
  type Ending,
  isSameSecret,
  type Member,
  requireStanding,
  type SandboxAccount,
  type SandboxClock,
  type TierQuotas,
  writeQuota,
} from './state.ts';
import { idHeader, sendWireError, type Wire, type WireCall } from './wire-errors.ts';

export { createDefaultAccounts, type SandboxAccount, type SandboxTier } from './state.ts';

export interface SandboxOptions {
  /** Who may call with a key; e-mails and keys are unique. */
  readonly accounts: readonly SandboxAccount[];
  readonly clock: SandboxClock;
  /**
   * What signatures, tokens and keys of service accounts are made with. The default never changes,
   * so they outlive a restart; it is no secret.
   */
  readonly seed?: string | undefined;
  /** What each plan allows. */
  readonly quotas?: Partial<TierQuotas> | undefined;
  /** An hour unless given. */
  readonly accessTokenLifetimeMs?: number | undefined;
  /** Return addresses of the built-in client beside those on this machine. */
  readonly redirectUrls?: readonly string[] | undefined;
  /** OAuth clients beside the built-in one. */
  readonly clients?: readonly SandboxClient[] | undefined;
}

export type Sandbox = ReturnType<typeof createSandbox>;

type Services = ReturnType<typeof createServices>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

const DEFAULT_SEED = 'isthmus-sandbox';
const ACCESS_TOKEN_LIFETIME_MS = 3_600_000;

export function createSandbox(options: SandboxOptions) {
  let url = '';
  const server = createServer(createListener(createServices(options, () => url)));
  closeIdle(server);
  return {
    accounts: options.accounts,
    /** Listens on 127.0.0.1 at a free port; the address has no trailing slash. */
    async start() {
      // Of its own in each worker of a gateway with several.
      server.listen({ port: 0, host: '127.0.0.1', exclusive: true });
      await once(server, 'listening');
      const address = server.address();
      url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
      return { url, oauth: { ...oauthAddresses(url), clientId: DEFAULT_CLIENT_ID } };
    },
    /** Drops running answers and stops listening. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createServices(options: SandboxOptions, issuer: () => string) {
  const { accounts, clock, seed = DEFAULT_SEED } = options;
  const tiers = { ...DEFAULT_TIER_QUOTAS, ...options.quotas };
  return {
    accounts,
    clock,
    tiers,
    issuer,
    signatures: createSignatures(seed),
    seals: createSeals(seed),
    marked: createMarkedCache(clock),
    faults: createFaults(),
    quotas: createQuotaCounters(clock, tiers),
    prefixes: createPrefixCache(),
    log: createRequestLog(),
    members: createMembers(accounts),
    clients: [createDefaultClient(options.redirectUrls ?? []), ...(options.clients ?? [])],
    tokens: createTokens(seed),
    codes: createCodes(clock),
    grants: createGrants(),
    keys: createServiceAccountKeys(seed),
    accessTokenLifetimeMs: options.accessTokenLifetimeMs ?? ACCESS_TOKEN_LIFETIME_MS,
  };
}

function createListener(services: Services): RequestListener {
  return (request, response) => {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('The caller is gone.'));
    });
    const fail = (error: unknown): void => {
      if (!gone.signal.aborted) sendError(response, toSandboxError(error));
    };
    const url = URL.parse(request.url ?? '/', 'http://sandbox');
    if (url === null) return fail(new SandboxError(400, 'The request target is not an address.'));
    answerExchange({ request, response, url, signal: gone.signal }, services).catch(fail);
  };
}

/** @throws SandboxError until the answer has begun. */
async function answerExchange(exchange: Exchange, services: Services): Promise<void> {
  const { request, url } = exchange;
  for (const { method, path, answer } of ROUTES) {
    const match = method === request.method ? path.exec(url.pathname) : null;
    if (match !== null) return answer(exchange, services, decodeParts(match.groups ?? {}));
  }
  const verb = new RegExp(`${PLAIN}:(?<verb>\\w+)$`).exec(url.pathname)?.groups?.verb;
  throw notFound(
    verb === undefined
      ? `There is no ${request.method} ${url.pathname} here.`
      : `The sandbox does not offer ${request.method} ${verb}; see supportedGenerationMethods in the model list.`,
  );
}

function toSandboxError(error: unknown): SandboxError {
  return error instanceof SandboxError
    ? error
    : new SandboxError(500, 'The sandbox itself failed.');
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly answer: (exchange: Exchange, services: Services, parts: PathParts) => Promise<void>;
}

/** The named groups of the path, decoded. */
type PathParts = Readonly<Record<string, string | undefined>>;

const PLAIN = '/v1(?:beta)?/models/(?<model>[^/:]+)';
const PLACE = '(?:projects/(?<project>[^/]+)/locations/(?<location>[a-z0-9-]+)/)?';
const PUBLISHER = `/v1(?:beta1)?/${PLACE}(?<name>publishers/google/models/(?<model>[^/:]+))`;
const ACCOUNT = '/sandbox/accounts/(?<email>[^/]+)';

/** Nothing else decides what a path means. */
const ROUTES: readonly Route[] = [
  ...[PLAIN, PUBLISHER].flatMap((model) => [
    modelCall(`${model}:generateContent`, (call, services) => generate(call, 'whole', services)),
    modelCall(`${model}:streamGenerateContent`, (call, services, { url }) =>
      generate(call, url.searchParams.get('alt') === 'sse' ? 'sse' : 'array', services),
    ),
    modelCall(`${model}${model === PLAIN ? '[:/]' : ':'}countTokens`, async (call, services) => {
      sendJson(call.response, 200, await countTokens(call, services));
      return 'complete';
    }),
  ]),
  wireCall('messages', '/v1/messages', createMessage),
  wireCall('messages', '/v1/messages/count_tokens', async (call, services) => {
    sendWire('messages', call, await countMessage(call, services));
    return 'complete';
  }),
  wireCall('chat', '/v1/chat/completions', complete),
  wireCall('chat', '/v1/embeddings', async (call, services) => {
    sendWire('chat', call, await embedInputs(call, services));
    return 'complete';
  }),
  wireCall('chat', '/v1/images/generations', generateImages),
  wireCall('chat', '/v1/images/edits', editImages, 'form'),
  wireCall(
    'chat',
    '/v1/audio/transcriptions',
    (call, services) => transcribe(call, 'transcribe', services),
    'form',
  ),
  wireCall(
    'chat',
    '/v1/audio/translations',
    (call, services) => transcribe(call, 'translate', services),
    'form',
  ),
  wireCall('chat', '/v1/audio/speech', speak),
  modelCall(`${PLAIN}:embedContent`, async (call, services) => {
    sendJson(call.response, 200, await embed(call, services));
    return 'complete';
  }),
  modelCall(`${PLAIN}:batchEmbedContents`, async (call, services) => {
    sendJson(call.response, 200, await embedBatch(call, services));
    return 'complete';
  }),
  lookup(PLAIN, 'models', (asked) => MODELS_OF[asked.wire].read(asked)),
  lookup('/v1(?:beta)?/models', 'models', (asked) => MODELS_OF[asked.wire].list(asked)),
  lookup('/v1(?:beta1)?/publishers/google/models', 'models', () => writePublisherModels()),
  lookup('/v1(?:beta)?/quota', 'quota', ({ account, services: { quotas } }) =>
    writeQuota(
      account,
      SANDBOX_MODELS.map(({ id }) => id),
      quotas,
    ),
  ),
  oauth('GET', '/\\.well-known/oauth-authorization-server', 'metadata'),
  oauth('GET', '/oauth/authorize', 'ask-for-consent'),
  oauth('POST', '/oauth/authorize', 'decide'),
  oauth('POST', '/oauth/token', 'token'),
  oauth('POST', '/oauth/revoke', 'revoke'),
  oauth('GET', '/oauth/userinfo', 'user-info'),
  oauth('POST', '/oauth/userinfo', 'user-info'),
  control('GET', '/sandbox/faults', ({ services: { faults } }) => ({
    faults: faults.list().map((fault) => ({ ...fault })),
  })),
  control('POST', '/sandbox/faults', async ({ body, services: { faults } }) => ({
    ...faults.add(await body()),
  })),
  control('DELETE', '/sandbox/faults', ({ services: { faults } }) => {
    faults.clear();
    return { faults: [] };
  }),
  control('GET', '/sandbox/requests', ({ services: { log } }) => ({ requests: log.list() })),
  control('GET', '/sandbox/accounts', ({ services }) => listAccounts(services)),
  control('POST', ACCOUNT, async ({ email, body, services }) =>
    changeAccount(email, await body(), services),
  ),
  control('POST', `${ACCOUNT}/revoke`, ({ email, services }) => revokeAccount(email, services)),
  control('GET', '/sandbox/quota', ({ query, services }) => readQuotas(query, services)),
  control('POST', '/sandbox/quota', async ({ body, services }) =>
    setQuotas(await body(), services),
  ),
  control('POST', '/sandbox/service-accounts', async ({ body, services }) =>
    addServiceAccount(await body(), services),
  ),
];

function modelCall(
  path: string,
  answer: (call: ModelCall, services: Services, exchange: Exchange) => Promise<Ending>,
): Route {
  return route('POST', path, (exchange, services, parts) =>
    answerLogged(exchange, services, (received) => {
      const address = addressOf(parts);
      requireStanding(received.account, address.modelId);
      return answer({ ...received, address }, services, exchange);
    }),
  );
}

/** A call over another wire; its errors have the form of that wire. */
function wireCall(
  wire: Wire,
  path: string,
  answer: (call: WireCall, services: Services) => Promise<Ending>,
  body: 'json' | 'form' = 'json',
): Route {
  return route('POST', path, async (exchange, services) => {
    const { request, response, signal } = exchange;
    const requestId = createId('req_');
    let spent: { readonly account: Member; readonly modelId: string } | undefined;
    try {
      await answerLogged(
        exchange,
        services,
        (received) => {
          const { account, body } = received;
          const model = isJsonObject(body) ? body.model : undefined;
          if (typeof model === 'string') spent = { account, modelId: model };
          return answer({ ...received, headers: request.headers, requestId }, services);
        },
        body,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      sendWireError(response, toSandboxError(error), { wire, requestId, spent }, services);
    }
  });
}

function sendWire(wire: Wire, { response, requestId }: WireCall, body: JsonObject): void {
  sendText(response, 200, JSON.stringify(body), idHeader(wire, requestId));
}

interface Received extends PlayedCall {
  readonly account: Member;
}

/** Keeps what arrived and how the answer ended. */
async function answerLogged(
  { request, response, url, signal }: Exchange,
  services: Services,
  answer: (received: Received) => Promise<Ending>,
  form: 'json' | 'form' = 'json',
): Promise<void> {
  const account = authenticate(request, url, services);
  const { text, value: body } = await (form === 'json' ? readJsonBody : readFormBody)(request);
  const note = services.log.add({
    time: new Date(services.clock.now()).toISOString(),
    account: account.email,
    path: url.pathname,
    body: text,
  });
  try {
    note(200, await answer({ account, body, signal, response }));
  } catch (error) {
    note(toSandboxError(error).status, signal.aborted ? 'client-gone' : 'complete');
    throw error;
  }
}

interface Lookup {
  readonly account: Member;
  readonly wire: ModelWire;
  readonly query: URLSearchParams;
  readonly parts: PathParts;
  readonly services: Services;
}

function lookup(
  path: string,
  endpoint: 'models' | 'quota',
  read: (lookup: Lookup) => JsonObject,
): Route {
  return route('GET', path, async ({ request, response, url, signal }, services, parts) => {
    const wire = wireOf(request, url, parts);
    try {
      const account = authenticate(request, url, services);
      requireStanding(account);
      await applyFault({ endpoint, account: account.email, models: [] }, services, signal);
      if (wire === 'messages') readHeaders(request.headers);
      const asked = { account, wire, query: url.searchParams, parts, services };
      sendJson(response, 200, read(asked));
    } catch (error) {
      if (signal.aborted || wire === 'generate') throw error;
      const failed = { wire, requestId: createId('req_') };
      sendWireError(response, toSandboxError(error), failed, services);
    }
  });
}

type ModelWire = 'generate' | Wire;

/**
 * The wire that a question about models speaks: Messages with its version header, generate-content
 * below `/v1beta`, with its own key or for a model of it, and else Chat.
 */
function wireOf({ headers }: IncomingMessage, url: URL, { model }: PathParts): ModelWire {
  if (!url.pathname.startsWith('/v1/models')) return 'generate';
  if (headers['anthropic-version'] !== undefined) return 'messages';
  const isGenerate =
    headers['x-vendora-api-key'] !== undefined ||
    ['key', 'pageSize', 'pageToken'].some((name) => url.searchParams.has(name)) ||
    (model !== undefined && findModel(model) !== undefined);
  return isGenerate ? 'generate' : 'chat';
}

interface WireModels {
  readonly list: (lookup: Lookup) => JsonObject;
  readonly read: (lookup: Lookup) => JsonObject;
}

const MODELS_OF: Readonly<Record<ModelWire, WireModels>> = {
  generate: {
    list: ({ query }) => listModels(query),
    read: ({ parts: { model = '' } }) =>
      writeModel(requireModel({ modelId: model, place: undefined })),
  },
  messages: {
    list: ({ query }) => listMessagesModels(query),
    read: ({ parts: { model = '' } }) => writeMessagesModel(requireMessagesModel(model)),
  },
  chat: {
    list: () => listChatModels(),
    read: ({ parts: { model = '' } }) => writeChatModel(requireChatModel(model)),
  },
};

function oauth(method: string, path: string, operation: OAuthOperation): Route {
  return route(method, path, (exchange, services) => answerOAuth(operation, exchange, services));
}

interface Control {
  /** Of the path, in lower case. */
  readonly email: string;
  readonly query: URLSearchParams;
  readonly body: () => Promise<JsonValue>;
  readonly services: Services;
}

function control(
  method: string,
  path: string,
  run: (control: Control) => JsonObject | Promise<JsonObject>,
): Route {
  return route(method, path, async ({ request, response, url }, services, { email = '' }) => {
    requireLocalTool(request);
    const body = async (): Promise<JsonValue> => (await readJsonBody(request)).value;
    const query = url.searchParams;
    sendJson(response, 200, await run({ email: email.toLowerCase(), query, body, services }));
  });
}

function route(method: string, path: string, answer: Route['answer']): Route {
  return { method, path: new RegExp(`^${path}$`), answer };
}

function addressOf({ model = '', name, project, location }: PathParts): ModelAddress {
  if (name === undefined) return { modelId: model, place: undefined };
  const parent = project === undefined ? '' : `projects/${project}/locations/${location}/`;
  return { modelId: model, place: { project, model: parent + name } };
}

function decodeParts(groups: PathParts): PathParts {
  const entries = Object.entries(groups);
  return Object.fromEntries(entries.map(([name, text]) => [name, text && decode(text)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The member whose key of the start, or access token, a request carries.
 * @throws SandboxError 401 when it has none or a bad one, 403 for a token without the models scope.
 */
function authenticate({ headers }: IncomingMessage, url: URL, services: Services): Member {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined && isAccessToken(bearer)) {
    return authenticateToken(bearer, 'models', services);
  }
  // On the paths of Vertex AI an API key has its real header too.
  const isPublisher = url.pathname.includes('/publishers/google/models');
  const name = isPublisher ? 'x-goog-api-key' : 'x-vendora-api-key';
  const header =
    headers[name] ?? (url.pathname.startsWith('/v1/') ? headers['x-api-key'] : undefined);
  const key = typeof header === 'string' ? header : undefined;
  const credential = bearer ?? key ?? url.searchParams.get('key') ?? undefined;
  if (credential === undefined) {
    throw new SandboxError(
      401,
      `No credential: send Authorization: Bearer <key or access token>, ${name} or ?key=.`,
    );
  }
  const account = services.accounts.find((one) => isSameSecret(one.key, credential));
  if (account === undefined) throw new SandboxError(401, 'The credential is not valid here.');
  return services.members.restore(account.email, account.tier);
}

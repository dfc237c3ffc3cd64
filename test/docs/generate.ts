// Writes docs/routes.md and docs/errors.md from the code, so that they cannot be wrong.

import { type ErrorKind, type ErrorReason, GatewayError } from '../../src/canonical/error.ts';

import type { JsonValue } from '../../src/lib/json.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import type { ClientProtocol } from '../../src/protocols/protocol.ts';
import type { HealthQuestion, RouteTable } from '../../src/server/routes.ts';

type EdgeRoute = RouteTable['routes'][number];

export const NOTE =
  '<!-- Written by test/docs from the code; run "UPDATE_DOCS=1 npx vitest run test/docs" after a change. -->';

const PROTOCOL_TITLES: Readonly<Record<ClientProtocol['name'], string>> = {
  chat: 'Chat Completions',
  messages: 'Messages',
  generate: 'Generate-Content',
};

const OPERATION_TITLES = {
  generate: 'answers a conversation',
  'count-tokens': 'counts tokens',
  embed: 'embeds texts',
  'list-models': 'lists the models',
  'get-model': 'shows one model',
} as const;

/** Where more can be said than the operation says. */
const PATH_TITLES: ReadonlyMap<string, string> = new Map([
  ['/v1/audio/speech', 'generates speech'],
  ['/v1/audio/transcriptions', 'transcribes audio'],
  ['/v1/audio/translations', 'transcribes audio into English'],
  ['/v1/completions', 'completes a text'],
  ['/v1/images/edits', 'edits images'],
  ['/v1/images/generations', 'generates images'],
  ['/v1/images/variations', 'is refused with 400, which names `/v1/images/edits`'],
  ['/v1/responses/compact', 'compacts a conversation'],
]);

const HEALTH_TITLES: Readonly<Record<HealthQuestion, string>> = {
  health: 'whether it runs; 503 after a signal to stop',
  live: 'whether the process works',
  ready: 'whether it accepts requests; 503 during the start and after a signal to stop',
};

/** What each kind of error means to whoever gets it. */
const MEANINGS: Readonly<Record<ErrorKind, string>> = {
  'invalid-request': 'A field of the request is wrong; the message names it.',
  unauthenticated: 'The key is missing or not valid.',
  forbidden: 'The key is valid, but may not do this.',
  'not-found': 'There is no such path or model.',
  'method-not-allowed': 'The path does not support the method; `Allow` lists those it does.',
  'too-large':
    'The body is larger than `ABV_MAX_BODY_SIZE`, or the body or the answer needs more memory than there is for one.',
  'headers-too-large': 'The headers together are larger than 16 kB.',
  'unsupported-media-type': 'The body is not JSON, or it is compressed otherwise than with zstd.',
  'upgrade-refused': 'The path or the settings do not allow a WebSocket; clients use HTTP instead.',
  'not-implemented': 'The body has a transfer coding other than `chunked`; send it without.',
  'rate-limited': 'Every account that could serve the request is rate limited.',
  'quota-exhausted': 'Every account that could serve the request has used up its quota.',
  'upstream-auth': 'No account is usable; the fault is not the client’s.',
  'upstream-unavailable': 'The upstream failed, on every account that was tried.',
  'upstream-rejected': 'The upstream refused the request itself.',
  overloaded: 'The upstream, or the gateway, is overloaded.',
  timeout: 'The answer took too long (408 when it was the request’s own body).',
  'client-gone': 'The client left; nobody receives this.',
  internal: 'A fault of the gateway; its log has the cause under the request id.',
};

/** Reasons that give an error a more precise word, with the kind they come with. */
const REASONS: readonly (readonly [ErrorReason, ErrorKind, string])[] = [
  ['missing-field', 'invalid-request', 'A required field is missing.'],
  ['invalid-type', 'invalid-request', 'A field has the wrong type.'],
  ['invalid-value', 'invalid-request', 'A field has an invalid value.'],
  ['invalid-json', 'invalid-request', 'The body is not JSON.'],
  ['unsupported', 'invalid-request', 'The gateway does not support what was requested.'],
  ['model-not-found', 'not-found', 'No account offers the model.'],
  [
    'context-length',
    'upstream-rejected',
    'The conversation exceeds the context length of the model.',
  ],
  ['content-policy', 'upstream-rejected', 'The upstream refuses the content.'],
  ['thread-not-found', 'not-found', 'The response or thread that is asked for is not stored here.'],
  ['thread-not-found', 'invalid-request', 'The previous response is not stored here.'],
  ['key-rejected', 'forbidden', 'A limit of the client’s key refuses it.'],
  ['address-blocked', 'forbidden', 'An IP rule blocks the address of the client.'],
];

/** What a route asks of its caller. */
const ACCESS_TITLES: Readonly<Record<EdgeRoute['access'], string>> = {
  public: 'nothing',
  client: 'client key',
  viewer: 'viewer',
  operator: 'operator',
  owner: 'owner',
};

/** docs/routes.md */
export function describeRoutes({ routes }: RouteTable): string {
  return [
    '# Routes',
    '',
    NOTE,
    '',
    'All paths of the gateway. `{model}` may contain slashes, also as `%2F`; the colon after it may be `%3A`.',
    'A trailing slash is accepted, `HEAD` is treated like `GET`, and `OPTIONS` returns 204 everywhere.',
    'A browser (`Accept: text/html`) gets the [console](console.md) at every path that begins like none of these, and at `/me` the',
    'usage page for the holder of a key. Otherwise another method on one of these paths gets a 405, every other path a 404, both in the format of the protocol',
    'the path belongs to: Generate-Content below `/v1beta` and `/v1alpha` and for `/v1/models/{model}:verb`, Messages below',
    '`/v1/messages`, `{"error": {"code", "message", "field"?}}` below `/api` and `/oauth` (`{"error"}` for paths of Ollama), JSON-RPC below `/mcp`, Chat Completions',
    'for its own endpoints. For any other path the headers of the client decide, as for shared paths (below the table).',
    'A 404 names the correct path if the requested one is similar.',
    'Paths of other Chat Completions services are served as well: `/openai/v1/…`, `/openai/…` and `/v1beta/openai/…` are the same as `/v1/…`, and',
    '`/openai/deployments/{model}/…` is `/v1/…` with that model if the body names none ([clients.md](clients.md#clients-of-azure-and-groq)).',
    '`GET /api/openapi.json` describes the admin API in full, `GET /api/docs` as a page.',
    '',
    table(
      ['Method', 'Path', 'What', 'Protocol', 'Requires'],
      [...routes].sort(byPath).map(routeRow),
    ),
    '',
    'Where protocols share a path, the request decides: a Generate-Content key or client header',
    '(`x-goog-api-key`, `x-goog-api-client`) or one of its query parameters (`key`, `pageSize`,',
    '`pageToken`) means Generate-Content, a version header (`anthropic-version`) means Messages, and',
    'everything else Chat Completions. The neutral spellings (`x-vendora-api-key`, `vendorb-version`)',
    'work in the same way. [security.md](security.md) says when a key is required. `viewer`, `operator` and `owner` are the lowest',
    'role of a signed-in person ([people.md](people.md)). The console password (`WEB_PASSWORD`, else',
    '`admin_password` of the config file, else `API_KEY`) has the role `owner`.',
    '',
  ].join('\n');
}

/** docs/errors.md */
export function describeErrors(): string {
  const { all } = createProtocols();
  const titles = all.map(({ name }) => PROTOCOL_TITLES[name]);
  return [
    '# Errors',
    '',
    NOTE,
    '',
    'An error has the format of the protocol of its request. Its message names the field that is wrong, if',
    'any, and what to do. Every response has an `x-request-id`; the gateway’s log has a line with the same id.',
    '',
    '## Shapes',
    '',
    'The responses to the body `{}`:',
    '',
    ...all.flatMap((protocol) => [`${PROTOCOL_TITLES[protocol.name]}:`, '', example(protocol), '']),
    '## Kinds',
    '',
    'Each cell is the status and the protocol’s own word: `type` and `code` in Chat Completions, `type` in',
    'Messages, `status` in Generate-Content.',
    '',
    table(
      ['Meaning', ...titles],
      kinds().map((kind) => [MEANINGS[kind], ...all.map((one) => cell(one, { kind }))]),
    ),
    '',
    'Under `/v1/images/`, when no account has quota left for the model, the body is',
    '`{"error": {"message": "…", "type": "quota_exceeded"}}`, with 429.',
    '',
    'Some have a more specific code:',
    '',
    table(
      ['Meaning', ...titles],
      REASONS.map(([reason, kind, meaning]) => [
        meaning,
        ...all.map((one) => cell(one, { kind, reason })),
      ]),
    ),
    '',
    '`token_rejected` and `address_blocked` are `error.details.error_code` in Messages, and in capitals the',
    '`reason` of an `ErrorInfo` in `error.details` in Generate-Content.',
    '',
    'Besides its message, further details of an upstream’s refusal are passed on to clients of the same wire:',
    '`error.details` of Messages and Generate-Content, `param` and `code` of Chat Completions.',
    '',
    '## Retries',
    '',
    '429, 502, 503, 504 and 529 have `retry-after` (seconds) and `retry-after-ms`: the time until the first account',
    'recovers, if known, else one second. `x-should-retry: false` is set on permanent errors, on waits longer than a',
    'minute, and if the operator has to act on the accounts. By then the gateway has tried the other accounts, and after a',
    'transient failure made up to four attempts, on the same account if there is no other: `x-isthmus-attempts` is the',
    'number of attempts on accounts. If the upstream is another isthmus whose error or useless answer has that header, the same account is not',
    'tried again.',
    '',
    '## Errors within a stream',
    '',
    'Before the first event of a response, every failure has its own status. After it the status is 200, so a',
    'failure is the last event, in the same format: `data: {"error":…}` in Chat Completions and',
    'Generate-Content, `event: error` in Messages. Such a stream lacks the success marker: `[DONE]`,',
    '`message_stop`, a `finishReason`. The official SDKs raise it as an error; for Gemini CLI and older Google SDKs, which',
    'read the event as an empty chunk, the same JSON follows it without `data:`. If a response takes longer than 10 s',
    'to begin, the status 200 and a keep-alive are sent before its first event.',
    '',
  ].join('\n');
}

function byPath(left: EdgeRoute, right: EdgeRoute): number {
  return left.path < right.path
    ? -1
    : left.path > right.path
      ? 1
      : left.method < right.method
        ? -1
        : 1;
}

function routeRow(route: EdgeRoute): string[] {
  const { what, protocols } = describeRoute(route);
  const isOpenLocally = route.kind === 'admin' && route.route.isOpenLocally === true;
  const asked = ACCESS_TITLES[route.access] + (isOpenLocally ? ', nothing from this machine' : '');
  return [route.method, code(route.path), what, protocols.join(', '), asked];
}

function describeRoute(route: EdgeRoute): { what: string; protocols: readonly string[] } {
  switch (route.kind) {
    case 'health':
      return { what: HEALTH_TITLES[route.asks], protocols: [] };
    case 'admin':
      return { what: route.route.title, protocols: [] };
    case 'service':
      return { what: route.route.title, protocols: route.path.startsWith('/mcp/') ? ['MCP'] : [] };
    case 'protocol': {
      const [{ route: first }] = route.offers;
      const what =
        first.operation === 'kept-answers'
          ? first.title
          : (PATH_TITLES.get(route.path) ?? OPERATION_TITLES[first.operation]);
      const stream = route.path.includes(':stream') ? ' as a stream' : '';
      const protocols = route.offers.map(({ protocol }) => PROTOCOL_TITLES[protocol.name]);
      const socket = 'webSocket' in first && first.webSocket ? ', also over a WebSocket' : '';
      return { what: `${what}${stream}${socket}`, protocols };
    }
    default:
      return route satisfies never;
  }
}

function kinds(): ErrorKind[] {
  // The keys of a total table over the kinds are the kinds.
  return (Object.keys(MEANINGS) as ErrorKind[]).filter((kind) => kind !== 'client-gone');
}

interface Sample {
  readonly kind: ErrorKind;
  readonly reason?: ErrorReason;
}

function cell(protocol: ClientProtocol, { kind, reason }: Sample): string {
  const { status, body } = protocol.writeError(
    new GatewayError({ kind, source: 'gateway', message: '', reason }),
    { requestId: '' },
  );
  const words = ['type', 'code', 'status'].map((key) => member(body.error, key));
  const text = words.filter((word) => typeof word === 'string').map(code);
  return [String(status), ...text].join(' ');
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && key in value
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}

/** What each protocol's reader says of the body `{}`. */
const OF_EMPTY_BODY: Readonly<Record<ClientProtocol['name'], { field: string; message: string }>> =
  {
    chat: { field: 'model', message: 'model is required.' },
    messages: { field: 'model', message: 'model: Field required' },
    generate: { field: 'contents', message: 'contents must hold at least one content.' },
  };

function example(protocol: ClientProtocol): string {
  const { body } = protocol.writeError(
    new GatewayError({
      kind: 'invalid-request',
      source: 'client',
      reason: 'missing-field',
      ...OF_EMPTY_BODY[protocol.name],
    }),
    { requestId: 'req_1' },
  );
  return ['```json', JSON.stringify(body, null, 2), '```'].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

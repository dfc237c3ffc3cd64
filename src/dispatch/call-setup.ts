// Sets up a call of dispatch: its route, its lease request and the preparation of its bodies.

import { createHash, hash as digest } from 'node:crypto';
import type { ThinkingMode } from '../canonical/effort.ts';
import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import type { ModelTask } from '../canonical/model.ts';
import type { CanonicalRequest, Part } from '../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { FetchedMedia, MediaFetcher } from '../media/fetch-media.ts';
import { loadMedia } from '../media/load-media.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest } from '../pool/pool.ts';
import type { GenerateCall, RelayBody } from '../protocols/protocol.ts';
import { findCatalogModel } from '../routing/catalog.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { AttemptDependencies } from './attempts.ts';
import type { CallContext, ModelRouter, RoutedModel } from './dispatcher.ts';
import { createPreparer, type Preparer } from './prepare.ts';
import type { TokenEstimator } from './stream-observer.ts';

export interface SetupOptions {
  readonly router: ModelRouter;
  readonly pool: Pool;
  readonly keeper: SignatureCache;
  readonly estimator: TokenEstimator;
  /** Absent where nothing is ever fetched. */
  readonly media: MediaFetcher | undefined;
  /** Read once per request, so that a request is not treated in two ways. */
  readonly thinkingMode: () => ThinkingMode;
  readonly dependencies: AttemptDependencies;
  /** True for calls that count tokens: they may be about a piece of a conversation. */
  readonly mayBePiece?: boolean | undefined;
}

/** Where a call goes, and what it asks of the pool. */
export interface RoutedCall {
  readonly route: RoutedModel;
  readonly leaseRequest: Omit<LeaseRequest, 'exclude'>;
}

export interface CallSetup extends RoutedCall, Preparer {
  /** Fetches what the request names by address, where needed; comes before `prepare`. @throws GatewayError */
  loadMedia(lease: Lease): Promise<void>;
  readonly dependencies: AttemptDependencies;
  readonly estimator: TokenEstimator;
}

interface SetupCall {
  readonly model: string;
  readonly relay?: RelayBody | undefined;
  readonly request: CanonicalRequest;
}

/** @throws GatewayError when the model name leads nowhere. */
export async function setUpCall(
  call: SetupCall,
  context: CallContext,
  options: SetupOptions,
): Promise<CallSetup> {
  const { keeper, dependencies, estimator } = options;
  const media = createCallMedia(call, { fetcher: options.media, signal: context.signal });
  const { route, leaseRequest } = await routeCall(call.model, context, options);
  const { clientKeyId, receipt, strict } = context;
  return {
    route,
    leaseRequest,
    loadMedia: ({ upstream }) => media.load(upstream),
    ...createPreparer({
      request: () => media.request,
      relay: call.relay,
      route,
      keeper,
      clientKeyId,
      receipt,
      strict,
      thinkingMode: options.thinkingMode(),
      mayBePiece: options.mayBePiece ?? false,
    }),
    dependencies,
    estimator,
  };
}

/** @throws GatewayError when the model name leads nowhere. */
export async function routeCall(
  model: string,
  context: CallContext,
  { router, pool }: Pick<SetupOptions, 'router' | 'pool'>,
): Promise<RoutedCall> {
  await pool.ensureModels();
  const { clientKeyId, preferredAccount, onlyAccount, preferredTier } = context;
  const route = router.route(model, onlyAccount ?? preferredAccount);
  context.record.routedModel = route.target;
  const wishes = { preferredAccount, onlyAccount, preferredTier };
  return {
    route,
    leaseRequest: { model: route.target, clientKeyId, ...wishes },
  };
}

/** Writes the chosen account into the request's record; an unfollowed preference is no secret loss. */
export function noteLease(lease: Lease, { record, receipt }: CallContext): void {
  record.upstreamModel = lease.modelId;
  record.accountLabel = lease.account.label;
  record.isSandbox = lease.upstream.isSandbox;
  if (lease.preferenceFollowed) return;
  receipt.add('dropped', 'X-Preferred-Account', told`The preferred account could not be used.`);
}

/** Undefined when nobody says: the upstream decides then. */
export function knownTasks(
  target: string,
  lease: Pick<Lease, 'listedModel'>,
): readonly ModelTask[] | undefined {
  return lease.listedModel?.tasks ?? findCatalogModel(target)?.tasks;
}

/** @throws GatewayError (invalid-request) for a model that is known not to do this. */
export function requireTask(
  task: ModelTask,
  { model, target }: { readonly model: string; readonly target: string },
  lease: Pick<Lease, 'listedModel'>,
): void {
  const tasks = knownTasks(target, lease);
  if (tasks === undefined || tasks.includes(task)) return;
  throw wrongTask(task, model === target ? model : `${model} (${target})`);
}

function wrongTask(task: ModelTask, name: string): GatewayError {
  const message =
    task === 'embed'
      ? told`${name} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.`
      : told`${name} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.`;
  return invalidRequest('model', message, 'unsupported');
}

const MIN_TEXT_LENGTH = 10;
const HASHED_CHARACTERS = 4096;

/** The header's session, else the body's own, else a hash of the conversation's beginning. */
export function nameSession(
  call: GenerateCall,
  context: Pick<CallContext, 'headerSession'>,
): string | undefined {
  if (context.headerSession !== undefined) return `header ${context.headerSession}`;
  if (call.bodySession !== undefined) return `body ${call.bodySession}`;
  const beginning = call.relay === undefined ? openingText(call.request) : call.relay.openingText();
  return beginning === undefined ? undefined : `text ${hash(beginning)}`;
}

/** The system text and the first user text that is long enough, wherever it stands. */
function openingText({ system, turns }: CanonicalRequest): string | undefined {
  for (const { role, parts } of turns) {
    const first = role === 'user' ? parts.find(isLongText) : undefined;
    if (first === undefined) continue;
    const before = system.map((part) => part.text).join('\n');
    return `${before.slice(0, HASHED_CHARACTERS)}\n${first.text.slice(0, HASHED_CHARACTERS)}`;
  }
  return undefined;
}

function isLongText(part: Part): part is Extract<Part, { kind: 'text' }> {
  return part.kind === 'text' && part.text.length >= MIN_TEXT_LENGTH;
}

function hash(text: string): string {
  return digest('sha256', text, 'base64url');
}

export interface CallMediaOptions {
  readonly fetcher: MediaFetcher | undefined;
  readonly signal: AbortSignal;
}

/** The canonical request of one call, with the media its upstream cannot read by address in it. */
export function createCallMedia(
  call: { readonly relay?: RelayBody | undefined; readonly request: CanonicalRequest },
  { fetcher, signal }: CallMediaOptions,
) {
  const fetched = new Map<string, FetchedMedia>();
  let loaded: CanonicalRequest | undefined;
  return {
    /** As the upstream last given to `load` is to get it. */
    get request(): CanonicalRequest {
      return loaded ?? call.request;
    },
    /**
     * Fetches what this upstream does not read itself, when the operator allows it; a relayed body
     * goes through as it is. @throws GatewayError (invalid-request); or the signal's reason
     */
    async load(upstream: Pick<Upstream, 'wire' | 'readsUri'>): Promise<void> {
      if (fetcher?.isEnabled() !== true || call.relay?.wire === upstream.wire) return;
      const isReadable = (uri: string): boolean => upstream.readsUri(uri);
      loaded = await loadMedia(call.request, { fetcher, isReadable, signal, fetched });
    },
  };
}

/** Whatever the size of the body, so much of it is looked at. */
const MAX_NODES = 4_000;
/** Of a list the first and the last: conversations differ at their end. */
const MAX_ENDS = 20;
const MAX_TEXT = 200;

/** A digest that recognizes a repeated request; two requests may share one. */
export function fingerprintOf(body: JsonObject): string {
  const hash = createHash('sha256');
  let nodes = 0;
  const walk = (value: JsonValue | undefined): void => {
    nodes += 1;
    if (nodes > MAX_NODES) return;
    if (Array.isArray(value)) {
      hash.update(`[${value.length}`);
      for (const item of endsOf(value)) walk(item);
    } else if (isJsonObject(value)) {
      hash.update('{');
      for (const [key, field] of Object.entries(value)) {
        hash.update(key.slice(0, MAX_TEXT));
        walk(field);
      }
    } else hash.update(textOf(value));
  };
  walk(body);
  return hash.digest('base64url').slice(0, 22);
}

/** The last ones first, as they are what differs. */
function endsOf(items: readonly JsonValue[]): readonly JsonValue[] {
  if (items.length <= 2 * MAX_ENDS) return items;
  return [...items.slice(-MAX_ENDS), ...items.slice(0, MAX_ENDS)];
}

function textOf(value: JsonValue | undefined): string {
  const text = String(value);
  if (text.length <= 2 * MAX_TEXT) return `${text.length}:${text}`;
  return `${text.length}:${text.slice(0, MAX_TEXT)}${text.slice(-MAX_TEXT)}`;
}

// What a call needs before it is tried: its routes and which of them goes first or next, its session, what its record says
// of a lease, and the advice where no model is found.

import { createHash, hash as digest } from 'node:crypto';
import { bodyName, headerName, textName } from '../canonical/call-record.ts';
import { changed, clientError, GatewayError, invalidRequest } from '../canonical/error.ts';
import type { ModelTask } from '../canonical/model.ts';
import {
  areAlike,
  type CallNeeds,
  type NeedSet,
  needSet,
  needsOf,
  SHOWN,
  variantNeeds,
} from '../canonical/needs.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { openingText } from '../canonical/text-forms.ts';
import { nextTurn } from '../lib/chunked-json.ts';
import { isJsonObject, type JsonObject, type JsonValue, writtenValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { GenerateCall, ProtocolName } from '../protocols/protocol.ts';
import type { RelayBody } from '../protocols/relayed-request.ts';
import { findCatalogModel } from '../routing/catalog.ts';
import {
  type RoutedModel,
  targetName,
  type WeightedRoute,
  withSuggestion,
} from '../routing/router.ts';
import type { CallContext, ExternalProvider, ModelRouter, ProviderRule } from './dispatcher.ts';

export interface Routing {
  readonly router: ModelRouter;
  readonly pool: Pool;
  /** A random number in [0, 1). */
  readonly random: () => number;
  /** The external provider as the settings are now. */
  readonly provider?: (() => ProviderRule) | undefined;
}

interface AskedCall {
  readonly model: string;
  readonly protocol: ProtocolName;
  /** The wire the body is written in. */
  readonly relay?: Pick<RelayBody, 'wire' | 'reading'> | undefined;
  /** Read when it is first looked at. @throws GatewayError invalid-request */
  readonly request?: CanonicalRequest | undefined;
}

interface NamedCall extends Pick<AskedCall, 'model'> {
  readonly session: string | undefined;
  /** What it needs of a model, but for what the name of that asks for. */
  readonly needs: CallNeeds;
}

/** A model that may serve a call, and what the call asks of the pool for it. */
export interface RouteChoice {
  readonly route: RoutedModel;
  /** The client's own name of it. */
  readonly asked?: string | undefined;
  readonly leaseRequest: LeaseRequest;
  /** True for one that serves only where none of the others can, however badly they do. */
  readonly isLastResort?: boolean | undefined;
}

/** In the order in which they are tried; mostly one. */
export type RoutedCall = readonly [RouteChoice, ...RouteChoice[]];

/**
 * A body that nobody could be sent as it is has been read when this resolves, and a bad one is told before all else.
 * @throws GatewayError when the body is refused, or the model name leads nowhere.
 */
export async function routeCall(
  call: AskedCall,
  context: CallContext,
  routing: Routing & { readonly session?: string | undefined; readonly alsoNeeds?: NeedSet },
): Promise<RoutedCall> {
  const { pool, session, alsoNeeds = 0 } = routing;
  const lists = pool.ensureModels(call.model);
  if (lists !== undefined) await lists;
  if (context.isLarge === true) await nextTurn();
  const wire = call.relay?.wire;
  let read: NeedSet | undefined;
  const needs = { wire, read: () => (read ??= readNeeds(call) | alsoNeeds) };
  const named = { model: call.model, session, needs };
  let routes: RoutedCall;
  try {
    routes = findRoutes(named, call.protocol, { context, routing });
  } catch (error) {
    throw faultIn(call) ?? error;
  }
  const isRelayed = routes.some(({ leaseRequest }) =>
    pool.offered.speaks(wire, leaseRequest.upstreamId),
  );
  if (!isRelayed) void call.request;
  return routes;
}

/** How many answers are asked for. A native body says it itself: it need not be read for that. */
export function choicesOf(call: Pick<GenerateCall, 'request' | 'relay'>): number {
  return (call.relay ?? call.request).choices ?? 1;
}

/** What is wrong with a body wherever it goes, which is not what an upstream of its own wire might take. */
function faultIn(call: AskedCall): unknown {
  try {
    void call.request;
  } catch (error) {
    const isOfWire = error instanceof GatewayError && error.reason === 'unsupported';
    return isOfWire && call.relay !== undefined ? undefined : error;
  }
  return undefined;
}

function readNeeds(call: AskedCall): NeedSet {
  let request: CanonicalRequest | undefined;
  try {
    request = call.request;
  } catch (error) {
    // What cannot be read can be relayed all the same, where there is somebody who takes it.
    if (error instanceof GatewayError && error.kind === 'invalid-request') return OWN_WIRE;
    throw error;
  }
  if (request === undefined) return 0;
  const isWhole = (call.relay?.reading?.().losses ?? []).length === 0;
  return needsOf(request) | (isWhole ? 0 : OWN_FIELDS);
}

const OWN_WIRE = needSet('own-wire');
const OWN_FIELDS = needSet('own-fields');

function findRoutes(
  call: NamedCall,
  protocol: ProtocolName,
  { context, routing }: { readonly context: CallContext; readonly routing: Routing },
): RoutedCall {
  if (context.onlyUpstream !== undefined) {
    context.record.routedModel = call.model;
    return [ofUpstream(context.onlyUpstream, call, context)];
  }
  const provider = routing.provider?.();
  const routes =
    provider === undefined ||
    provider.mode === 'off' ||
    protocol !== 'messages' ||
    context.onlyAccount !== undefined
      ? routeWithin(call, context, { routing, provider })
      : routeWithProvider(provider, call, { context, routing });
  const [first] = routes;
  context.record.routedModel = first.route.target;
  return context.isFallbackOff === true ? [first] : routes;
}

/** The models the name leads to, and where the external provider stands among them. */
function routeWithProvider(
  provider: ExternalProvider,
  call: NamedCall,
  { context, routing }: { readonly context: CallContext; readonly routing: Routing },
): RoutedCall {
  const { upstreamId, mode } = provider;
  // Its own prefix names it, and is no part of the name of a model.
  const prefix = `${upstreamId}/`;
  const asked = call.model.startsWith(prefix) ? call.model.slice(prefix.length) : call.model;
  const own = ofUpstream(upstreamId, { ...call, model: provider.modelFor(asked) }, context);
  if (mode === 'exclusive') return [own];
  let others: RoutedCall;
  try {
    others = routeWithin(call, context, { routing, provider });
  } catch (error) {
    // No account serves that name, or there is none: the provider may know it.
    const isNobodys =
      error instanceof GatewayError &&
      (error.kind === 'not-found' || error.kind === 'upstream-auth');
    if (isNobodys) return [own];
    throw error;
  }
  if (mode === 'pooled' && isItsTurn(others[0].leaseRequest, routing, upstreamId)) {
    return [own, ...others];
  }
  return [others[0], ...others.slice(1), { ...own, isLastResort: true }];
}

function ofUpstream(
  upstreamId: string,
  { model, session, needs }: NamedCall,
  { clientKeyId }: CallContext,
): RouteChoice {
  const route = { target: model, upstreamId, webSearch: false };
  return { route, leaseRequest: { model, upstreamId, clientKeyId, session, needs } };
}

/**
 * Of new sessions the provider gets its share as one account among the others; a session stays where it is. Where an
 * account is wanted by its name, it serves before the provider, which is one of them.
 */
function isItsTurn(request: LeaseRequest, { pool, random }: Routing, upstreamId: string): boolean {
  const { session, clientKeyId, preferredAccount } = request;
  const wanted = pool.wantedAccount(preferredAccount);
  if (wanted !== undefined) return wanted.upstreamId === upstreamId;
  const bound =
    session === undefined ? undefined : pool.upstreamOfSession({ clientKeyId, session });
  if (bound !== undefined) return bound === upstreamId;
  return random() < 1 / (pool.usableAccounts(request) + 1);
}

function routeWithin(
  { model, session, needs }: NamedCall,
  context: CallContext,
  { routing, provider }: { readonly routing: Routing; readonly provider: ProviderRule },
): RoutedCall {
  const { router, pool, random } = routing;
  const { clientKeyId, preferredAccount, onlyAccount, preferredTier } = context;
  const route = router.route(model, onlyAccount ?? preferredAccount);
  const wishes = { clientKeyId, session, preferredAccount, onlyAccount, preferredTier };
  const choose = (one: RoutedModel): RouteChoice => ({
    route: one,
    asked: model,
    leaseRequest: {
      model: one.target,
      upstreamId: one.upstreamId,
      needs: { wire: needs.wire, read: () => needs.read() | variantNeeds(one) },
      ...wishes,
    },
  });
  const { chain } = route;
  const closed = provider?.mode === 'off' ? provider.upstreamId : undefined;
  // Mostly a name leads to one model.
  if (chain === undefined && (closed === undefined || route.upstreamId !== closed)) {
    return [choose(route)];
  }
  const luck = (name: string): number =>
    session === undefined ? 1 - random() : share(session, name);
  const open = (routes: readonly RoutedModel[]): readonly RouteChoice[] =>
    routes.filter(({ upstreamId }) => closed === undefined || upstreamId !== closed).map(choose);
  const choices =
    chain?.flatMap((step) => orderByLoss(open(orderByWeight(step, luck)), pool)) ?? open([route]);
  const [first, ...others] = wantedFirst(choices, pool);
  if (first !== undefined) return [first, ...others];
  const message = `${model} names an upstream that is switched off here.`;
  throw clientError('not-found', message, { reason: 'model-not-found', field: 'model' });
}

/**
 * Each alternative comes first as often as its share of the weights (weighted rendezvous hashing), and of one session
 * always the same, so that upstream caches pay.
 */
function orderByWeight(
  step: readonly WeightedRoute[],
  luck: (name: string) => number,
): readonly RoutedModel[] {
  const scored = step.map(({ model, weight }) => {
    return { model, score: Math.log(luck(targetName(model))) / weight };
  });
  return scored.sort((a, b) => b.score - a.score).map(({ model }) => model);
}

/** Who is wanted by name serves, whichever of the models that account has. */
function wantedFirst(choices: readonly RouteChoice[], pool: Pool): readonly RouteChoice[] {
  const wanted = pool.wantedAccount(choices[0]?.leaseRequest.preferredAccount);
  if (wanted === undefined) return choices;
  const own = choices.filter((choice) => peek(choice, pool)?.account.id === wanted.id);
  return [...own, ...choices.filter((choice) => !own.includes(choice))];
}

/** Of the alternatives of a step those first that lose least of the call; otherwise they keep their order. */
function orderByLoss(step: readonly RouteChoice[], pool: Pool): readonly RouteChoice[] {
  if (step.length < 2) return step;
  const lacking = step.map(({ leaseRequest }) => pool.lacking(leaseRequest));
  if (areAlike(lacking.flat())) return step;
  // Without an account that could serve now it keeps its place, and the next one is tried in its stead.
  const lossOf = ({ leaseRequest: { needs } }: RouteChoice, lacks: readonly NeedSet[]): NeedSet =>
    lacks.length === 0 ? 0 : leastLoss(needs, lacks);
  const rated = step.map((choice, at) => ({ choice, loss: lossOf(choice, lacking[at] ?? []) }));
  return rated.toSorted((a, b) => a.loss - b.loss).map(({ choice }) => choice);
}

/** Infinite where no account could serve now. */
function leastLoss(needs: CallNeeds | undefined, lacks: readonly NeedSet[]): NeedSet {
  const isWhole = lacks.includes(0);
  return isWhole ? 0 : Math.min(...lacks.map((one) => (needs?.read() ?? 0) & one));
}

/**
 * True where the model of the first route cannot be shown what that of a later one can. An account asked for by name
 * serves, and so does one whose model no account could be asked for now.
 */
function showsLess(routes: readonly RouteChoice[], pool: Pick<Pool, 'lacking'>): boolean {
  const { preferredAccount, onlyAccount } = routes[0]?.leaseRequest ?? {};
  if ((preferredAccount ?? onlyAccount) !== undefined) return false;
  const lacking = routes.map(({ leaseRequest }) =>
    pool.lacking(leaseRequest).map((one) => one & SHOWN),
  );
  if (areAlike(lacking.flat())) return false;
  const losses = routes.map(({ leaseRequest: { needs } }, at) =>
    leastLoss(needs, lacking[at] ?? []),
  );
  const [own = 0, ...later] = losses;
  return Number.isFinite(own) && later.some((loss) => loss < own);
}

/** The lease that a request for this would get now, given back at once; undefined where it would get none. */
export function peek(
  { leaseRequest }: RouteChoice,
  pool: Pick<Pool, 'lease'>,
  exclude = leaseRequest.exclude,
): Lease | undefined {
  const look = pool.lease({ ...leaseRequest, exclude, isDryRun: true });
  if (look.kind !== 'lease') return undefined;
  look.lease.release({ kind: 'neutral' });
  return look.lease;
}

/** True where the model of the first route fails more often than not, and that of a later one does better. */
function failsMore(routes: readonly RouteChoice[], pool: Pick<Pool, 'lease'>): boolean {
  const [own, ...later] = routes.map((route) => peek(route, pool)?.band());
  return own === 2 && later.some((band) => band !== undefined && band < 2);
}

/** The routes of one request while they are tried; those that are asked again come a second time behind the others. */
export class RoutesInTurn {
  /** The one that is tried now. */
  choice: RouteChoice;
  /** Those behind it. */
  later: readonly RouteChoice[];
  /** How many have not been tried yet, this one among them. */
  #fresh: number;

  constructor(routes: RoutedCall) {
    const [first, ...later] = routes;
    this.choice = first;
    this.later = later;
    this.#fresh = routes.length;
  }

  /** True for a route that is tried a second time. */
  get isAgain(): boolean {
    return this.#fresh <= 0;
  }

  /** To the next one; behind the last it stays. */
  goOn(): RouteChoice {
    const [next = this.choice, ...later] = this.later;
    this.#fresh -= 1;
    this.choice = next;
    this.later = later;
    return next;
  }

  /** Behind the others, once: health takes no model away, and most faults of the path pass at once. */
  askAgainLater(): void {
    if (!this.isAgain) this.later = [...this.later, this.choice];
  }

  /** Why a later route goes before this one, which is asked once those have failed; undefined where none does. */
  whyOutdone(pool: Pool, isTried: boolean): 'loses-more' | 'fails-more' | undefined {
    if (this.isAgain || this.later.length === 0) return undefined;
    const rivals = [this.choice, ...this.later].filter(({ isLastResort }) => isLastResort !== true);
    if (showsLess(rivals, pool)) return 'loses-more';
    return !isTried && failsMore(rivals, pool) ? 'fails-more' : undefined;
  }
}

const MAX_UINT32 = 0xffff_ffff;

/** In (0, 1], the same for the same texts. */
function share(session: string, name: string): number {
  const hash = digest('sha256', `${session}\n${name}`, 'buffer').readUInt32BE(0);
  return (hash + 1) / (MAX_UINT32 + 1);
}

/** The first route with an account that would serve it now, for a look alone: give that back as neutral. */
export function lookForLease(
  routes: RoutedCall,
  pool: Pool,
): {
  readonly leased: Exclude<LeaseResult, { kind: 'wait' | 'busy' }>;
  readonly choice: RouteChoice;
} {
  const [first, ...others] = routes;
  const look = (choice: RouteChoice) => {
    // A look has no patience: a busy account is passed over as if it had been waited for.
    const waitedMs = Number.POSITIVE_INFINITY;
    const leased = pool.lease({ ...choice.leaseRequest, waitedMs, isDryRun: true });
    if (leased.kind === 'wait' || leased.kind === 'busy') {
      throw new Error('The pool asked for more time than there is.');
    }
    return { leased, choice };
  };
  const found = look(first);
  if (found.leased.kind === 'lease') return found;
  for (const other of others) {
    const next = look(other);
    if (next.leased.kind === 'lease') return next;
  }
  return found;
}

/** What a call asks of a model. */
interface AskedTask {
  readonly task: ModelTask;
  readonly model: string;
  readonly route: Pick<RoutedModel, 'target'>;
}

/**
 * Notes on what a call is made. Where nobody knows what the model does, the upstream decides; true where somebody does.
 * @throws GatewayError (invalid-request) for a model that is known not to do what is asked
 */
export function noteLease(
  lease: Lease,
  { record, receipt }: CallContext,
  asked: AskedTask | undefined,
): boolean {
  record.upstreamModel = lease.modelId;
  record.accountLabel = lease.account.label;
  record.isSandbox = lease.upstream.isSandbox;
  if (!lease.preferenceFollowed) {
    receipt.add('dropped', 'X-Preferred-Account', told`The preferred account could not be used.`);
  }
  if (asked === undefined) return false;
  const { task, model, route } = asked;
  const { target } = route;
  const tasks = lease.listedModel?.tasks ?? findCatalogModel(target)?.tasks;
  if (tasks === undefined || tasks.includes(task)) return tasks !== undefined;
  const name = model === target ? model : `${model} (${target})`;
  const message =
    task === 'embed'
      ? told`${name} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.`
      : told`${name} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.`;
  throw invalidRequest('model', message, 'unsupported');
}

/** The session of calls that are not a conversation, such as counts: they follow the one that the header names. */
export function headerSession({ headerSession: name }: Pick<CallContext, 'headerSession'>) {
  return name === undefined ? undefined : headerName(name);
}

/**
 * The header's session, else that of the conversation, else the body's own, else a hash of the conversation's beginning,
 * else a new one for what others may go on from.
 */
export function nameSession(
  call: GenerateCall,
  context: Pick<CallContext, 'headerSession'>,
  createId: (prefix: string) => string,
): string | undefined {
  const { session, bodySession, relay } = call;
  if (context.headerSession !== undefined) return headerName(shortly(context.headerSession));
  if (session !== undefined) return session;
  if (bodySession !== undefined) return bodyName(shortly(bodySession));
  const beginning = relay === undefined ? openingText(call.request) : relay.openingText();
  if (beginning !== undefined) return textName(digest('sha256', beginning, 'base64url'));
  return call.beginsSession ? bodyName(createId('session_')) : undefined;
}

/** In characters. Sessions outlive their requests by hours. */
const MAX_SESSION_NAME = 1024;

function shortly(name: string): string {
  return name.length > MAX_SESSION_NAME ? digest('sha256', name, 'base64url') : name;
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
  const text = writtenValue(value);
  if (text.length <= 2 * MAX_TEXT) return `${text.length}:${text}`;
  return `${text.length}:${text.slice(0, MAX_TEXT)}${text.slice(-MAX_TEXT)}`;
}

/** Who set up nothing but the external provider learns why clients of other protocols find no model. */
export function withAdvice(
  error: unknown,
  { model, protocol }: Pick<GenerateCall, 'model' | 'protocol'>,
  context: CallContext,
  options: Routing,
): unknown {
  const advised = withMeantModel(error, model, context, options);
  const provider = options.provider?.();
  const isBarred = provider !== undefined && provider.mode !== 'off' && protocol !== 'messages';
  const isUnfound = error instanceof GatewayError && error.reason === 'model-not-found';
  if (!isBarred || !isUnfound || error.source === 'upstream' || advised !== error) return advised;
  return changed(error, {
    message: told`${error.sentence} The external provider answers Messages requests (POST /v1/messages); others reach it by the name "${provider.upstreamId}/${model}".`,
  });
}

/** A model that is not found is told with the name that may have been meant, of those that the client may use. */
export function withMeantModel(
  error: unknown,
  model: string,
  { mayUse, onlyUpstream }: CallContext,
  { router }: Pick<Routing, 'router'>,
): unknown {
  if (!(error instanceof GatewayError) || error.reason !== 'model-not-found') return error;
  const meant = onlyUpstream === undefined ? router.meant?.(model, mayUse) : undefined;
  if (meant === undefined) return error;
  return changed(error, { message: withSuggestion(error.sentence, meant) });
}

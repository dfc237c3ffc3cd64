// What a call needs before it is tried: its route, its session, and what its record says of a lease.

import { createHash, hash as digest } from 'node:crypto';
import { invalidRequest } from '../canonical/error.ts';
import type { ModelTask } from '../canonical/model.ts';
import { openingText } from '../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { findCatalogModel } from '../routing/catalog.ts';
import type { CallContext, ModelRouter, RoutedModel } from './dispatcher.ts';

export interface Routing {
  readonly router: ModelRouter;
  readonly pool: Pool;
}

/** Where a call goes, and what it asks of the pool. */
export interface RoutedCall {
  readonly route: RoutedModel;
  readonly leaseRequest: LeaseRequest;
}

/** @throws GatewayError when the model name leads nowhere. */
export async function routeCall(
  { model, session }: { readonly model: string; readonly session?: string | undefined },
  context: CallContext,
  { router, pool }: Routing,
): Promise<RoutedCall> {
  const lists = pool.ensureModels();
  if (lists !== undefined) await lists;
  const { clientKeyId, preferredAccount, onlyAccount, preferredTier } = context;
  const route = router.route(model, onlyAccount ?? preferredAccount);
  context.record.routedModel = route.target;
  const wishes = { preferredAccount, onlyAccount, preferredTier };
  return { route, leaseRequest: { model: route.target, clientKeyId, session, ...wishes } };
}

/** Of an account that would serve it now, for a look alone: give it back as neutral. */
export function lookForLease(
  leaseRequest: LeaseRequest,
  pool: Pool,
): Exclude<LeaseResult, { kind: 'wait' }> {
  // A look has no patience: a busy account is passed over as if it had been waited for.
  const waitedMs = Number.POSITIVE_INFINITY;
  const leased = pool.lease({ ...leaseRequest, waitedMs, isDryRun: true });
  if (leased.kind === 'wait') throw new Error('The pool asked for more time than there is.');
  return leased;
}

/** Writes the chosen account into the request's record; an unfollowed preference is no secret loss. */
export function noteLease(lease: Lease, { record, receipt }: CallContext): void {
  record.upstreamModel = lease.modelId;
  record.accountLabel = lease.account.label;
  record.isSandbox = lease.upstream.isSandbox;
  if (lease.preferenceFollowed) return;
  receipt.add('dropped', 'X-Preferred-Account', told`The preferred account could not be used.`);
}

/**
 * Where nobody knows what the model does, the upstream decides; true where somebody does.
 * @throws GatewayError (invalid-request) for a model that is known not to do this.
 */
export function requireTask(
  task: ModelTask,
  { model, target }: { readonly model: string; readonly target: string },
  lease: Pick<Lease, 'listedModel'>,
): boolean {
  const tasks = lease.listedModel?.tasks ?? findCatalogModel(target)?.tasks;
  if (tasks === undefined || tasks.includes(task)) return tasks !== undefined;
  const name = model === target ? model : `${model} (${target})`;
  const message =
    task === 'embed'
      ? told`${name} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.`
      : told`${name} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.`;
  throw invalidRequest('model', message, 'unsupported');
}

/** The header's session, else the body's own, else a hash of the conversation's beginning. */
export function nameSession(
  call: GenerateCall,
  { headerSession }: Pick<CallContext, 'headerSession'>,
): string | undefined {
  const { bodySession, relay } = call;
  if (headerSession !== undefined) return `header ${headerSession}`;
  if (bodySession !== undefined) return `body ${bodySession}`;
  const beginning = relay === undefined ? openingText(call.request) : relay.openingText();
  return beginning === undefined ? undefined : `text ${digest('sha256', beginning, 'base64url')}`;
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

// Prepares the upstream body of one attempt, once per model and signature plan.

import { isDeepStrictEqual } from 'node:util';
import type { ThinkingMode } from '../canonical/effort.ts';
import { GatewayError } from '../canonical/error.ts';
import {
  createReceipt,
  inClientNames,
  type Receipt,
  type ReceiptEntry,
  type RequestReceipt,
  withinField,
} from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { mendText } from '../canonical/text-forms.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import type { RelayBody } from '../protocols/protocol.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import { applyTransforms } from '../transforms/index.ts';
import type { PatchTarget, SignaturePlan, Upstream } from '../upstreams/upstream.ts';
import type { RoutedModel } from './dispatcher.ts';

export interface Preparation {
  readonly request: () => CanonicalRequest;
  readonly relay: RelayBody | undefined;
  readonly route: RoutedModel;
  readonly keeper: SignatureCache;
  readonly clientKeyId: string;
  readonly receipt: RequestReceipt;
  readonly strict: boolean;
  readonly thinkingMode: ThinkingMode;
  /** True where tokens are counted and nothing is answered. */
  readonly mayBePiece: boolean;
}

export interface PreparedBody {
  readonly lane: 'relay' | 'translate';
  readonly body: JsonObject;
  readonly signatureFamily: string;
  /** True when the model's name asks for a search, whatever the request's own tools. */
  readonly isSearchNamed: boolean;
}

interface NotedBody extends PreparedBody {
  /** What is lost in this body: of several that are sent, the last one's counts. */
  readonly noted: readonly ReceiptEntry[];
}

/** The bodies of one call's attempts. */
export type Preparer = ReturnType<typeof createPreparer>;

export function createPreparer(preparation: Preparation) {
  const { receipt, strict } = preparation;
  const prepared = new Map<string, NotedBody>();
  const sent: { readonly lease: Lease; readonly body: JsonObject }[] = [];
  let noted: readonly ReceiptEntry[] = [];
  const find = (lease: Lease, plan: SignaturePlan): NotedBody => {
    const key = `${lease.upstream.id} ${lease.modelId} ${plan.signatures} ${plan.usesPlaceholders}`;
    const known = prepared.get(key) ?? prepare(preparation, lease, plan);
    prepared.set(key, known);
    return known;
  };
  return {
    /** Bodies are kept, so that moving to another account of the same upstream encodes nothing twice. */
    prepare(lease: Lease, plan: SignaturePlan): PreparedBody {
      const found = find(lease, plan);
      receipt.withdraw(noted);
      noted = found.noted;
      for (const { action, path, reason } of noted) receipt.add(action, path, reason);
      if (strict && !sent.some(({ body }) => body === found.body))
        refuseLosses(receipt, [found.body]);
      sent.push({ lease, body: found.body });
      return found;
    },
    /** Whether the plan gives what `prepare` gave for the same lease. */
    repeats(lease: Lease, plan: SignaturePlan): boolean {
      const { body } = find(lease, plan);
      return sent.some((one) => one.lease === lease && isDeepStrictEqual(one.body, body));
    },
  };
}

function prepare(
  preparation: Preparation,
  lease: Lease,
  { signatures, usesPlaceholders }: SignaturePlan,
): NotedBody {
  const { relay, route, keeper, clientKeyId, thinkingMode, mayBePiece } = preparation;
  const receipt = createReceipt();
  const { upstream, modelId } = lease;
  const capabilities = upstream.capabilities(modelId, lease.listedModel);
  const { signatureFamily } = capabilities;
  const isSearchNamed = route.webSearch;
  const target: PatchTarget = {
    modelId,
    capabilities,
    signatures,
    usesPlaceholders,
    receipt,
    recall: { lookup: (key) => keeper.lookup(clientKeyId, key) },
    variant: route,
    thinkingMode,
    mayBePiece,
  };
  if (relay !== undefined && relay.wire === upstream.wire) {
    const body = withinField(relay.field ?? '', receipt, (placed) =>
      upstream.patch(relay.body, { ...target, receipt: placed }),
    );
    return { lane: 'relay', body, signatureFamily, isSearchNamed, noted: receipt.entries };
  }
  for (const { action, path, reason } of relay?.losses ?? []) receipt.add(action, path, reason);
  const body = translateRequest(preparation.request(), upstream, target);
  return { lane: 'translate', body, signatureFamily, isSearchNamed, noted: receipt.entries };
}

/** The rules, then the wire body; what they note and what they refuse names the client's own fields. */
export function translateRequest(
  asked: CanonicalRequest,
  upstream: Pick<Upstream, 'encode'>,
  target: PatchTarget,
): JsonObject {
  return inClientNames(asked.clientNames, target.receipt, (receipt) => {
    const named = { ...target, receipt };
    return upstream.encode(applyTransforms(asked, named), named);
  });
}

/** @throws GatewayError (invalid-request) when anything was noted, or will be once the bodies are sent. */
export function refuseLosses(receipt: Receipt, bodies: readonly JsonObject[]): void {
  for (const body of bodies) mendText(JSON.stringify(body), receipt);
  if (receipt.entries.length === 0) return;
  const losses = receipt.entries.map(
    ({ path, action, reason }) => `${path} (${action}): ${reason}`,
  );
  throw new GatewayError({
    kind: 'invalid-request',
    source: 'gateway',
    reason: 'unsupported',
    message: told`Strict mode refuses a request that cannot be carried whole: ${losses.join(' ')}`,
  });
}

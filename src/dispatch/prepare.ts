// Prepares the upstream bodies of one call, each once per model and signature plan.

import { isDeepStrictEqual } from 'node:util';
import type { ThinkingMode } from '../canonical/effort.ts';
import { GatewayError } from '../canonical/error.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import {
  createReceipt,
  memberPath,
  type Receipt,
  type ReceiptEntry,
  type RequestReceipt,
  receiptWithin,
  renameField,
} from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { mendText } from '../canonical/text-forms.ts';
import { nextTurn } from '../lib/chunked-json.ts';
import type { JsonObject } from '../lib/json.ts';
import { inRow, told } from '../lib/localized-message.ts';
import { type FetchedMedia, loadMedia, type MediaFetcher } from '../media/fetch-media.ts';
import type { Lease } from '../pool/pool.ts';
import type { RelayBody } from '../protocols/relayed-request.ts';
import type { RoutedModel } from '../routing/router.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import type { PatchTarget, SignaturePlan, Upstream } from '../upstreams/upstream.ts';
import { fingerprintOf } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import { translateInSteps, translateRequest } from './translate.ts';

export interface PreparedBody {
  readonly lane: 'relay' | 'translate';
  readonly body: JsonObject;
  readonly signatureFamily: string;
  /** True when the model's name asks for a search, whatever the request's own tools. */
  readonly isSearchNamed: boolean;
}

interface NotedBody extends PreparedBody {
  readonly draft: Draft;
  /** What is lost in this body: of several that are sent, the last one's counts. */
  readonly noted: readonly ReceiptEntry[];
}

/** What a body is made for, and of. */
interface Draft {
  readonly route: RoutedModel;
  readonly upstream: Upstream;
  readonly target: PatchTarget;
  readonly noted: RequestReceipt;
  /** Absent where it is translated. */
  readonly relay: RelayBody | undefined;
}

export interface BodiesOptions {
  readonly keeper: SignatureCache;
  /** For media that requests name by address; absent where nothing is ever fetched. */
  readonly media?: MediaFetcher | undefined;
  readonly thinkingMode: () => ThinkingMode;
  /** True for calls that count tokens: they may be about a piece of a conversation. */
  readonly mayBePiece?: boolean | undefined;
}

interface BodiesCall {
  readonly stream?: boolean | undefined;
  readonly relay?: RelayBody | undefined;
  readonly request: CanonicalRequest;
}

/** The bodies of one call's attempts. They are kept: another account of the same upstream encodes nothing twice. */
export class CallBodies {
  readonly #call: BodiesCall;
  readonly #context: CallContext;
  readonly #options: BodiesOptions;
  /** Read once per request, so that a request is not treated in two ways. */
  readonly #thinkingMode: ThinkingMode;
  readonly #made: NotedBody[] = [];
  readonly #sent: { readonly lease: Lease; readonly body: JsonObject }[] = [];
  #noted: readonly ReceiptEntry[] = [];
  #fetched: Map<string, FetchedMedia> | undefined;
  /** The request with the media in it that the last upstream cannot read by address. */
  #loaded: CanonicalRequest | undefined;

  constructor(call: BodiesCall, context: CallContext, options: BodiesOptions) {
    this.#call = call;
    this.#context = context;
    this.#options = options;
    this.#thinkingMode = options.thinkingMode();
  }

  /** Fetches media where the operator allows it; a relayed body goes as it is. @throws GatewayError; or the signal's reason */
  async prepare(lease: Lease, plan: SignaturePlan, route: RoutedModel): Promise<PreparedBody> {
    const { media } = this.#options;
    const { receipt, strict } = this.#context;
    if (media?.isEnabled() === true) await this.#load(media, lease);
    const found =
      this.#find(lease, plan, route) ??
      (this.#context.isLarge === true
        ? await this.#makeInSteps(lease, plan, route)
        : this.#make(lease, plan, route));
    if (this.#noted.length > 0) receipt.withdraw(this.#noted);
    this.#noted = found.noted;
    for (const { action, path, reason } of found.noted) receipt.add(action, path, reason);
    if (strict && !this.#sent.some(({ body }) => body === found.body))
      refuseLosses(receipt, [found.body]);
    this.#sent.push({ lease, body: found.body });
    return found;
  }

  /** Whether the plan gives what `prepare` gave for the same lease. */
  repeats(lease: Lease, plan: SignaturePlan, route: RoutedModel): boolean {
    const { body } = this.#find(lease, plan, route) ?? this.#make(lease, plan, route);
    return this.#sent.some((one) => one.lease === lease && isDeepStrictEqual(one.body, body));
  }

  /** Stands for what was sent last. */
  fingerprint(): string {
    return fingerprintOf(this.#sent.at(-1)?.body ?? {});
  }

  async #load(
    fetcher: MediaFetcher,
    { upstream, modelId, listedModel }: Pick<Lease, 'upstream' | 'modelId' | 'listedModel'>,
  ): Promise<void> {
    const capabilities = upstream.capabilities(modelId, listedModel);
    if (isRelayed(this.#call.relay, upstream.wire, capabilities)) return;
    const hasOwnForm = capabilities.hasOwnForm === true;
    const isReadable = (uri: string): boolean => !hasOwnForm && upstream.readsUri(uri);
    const { signal } = this.#context;
    this.#fetched ??= new Map();
    const options = { fetcher, isReadable, signal, fetched: this.#fetched };
    this.#loaded = await loadMedia(this.#call.request, options);
  }

  /** As it was made for the same model under the same plan, if it was. */
  #find({ upstream, modelId }: Lease, plan: SignaturePlan, route: RoutedModel) {
    for (const made of this.#made) {
      const { draft } = made;
      const { target } = draft;
      const isSameModel = draft.upstream.id === upstream.id && target.modelId === modelId;
      const isSamePlan =
        target.signatures === plan.signatures && target.usesPlaceholders === plan.usesPlaceholders;
      if (isSameModel && isSamePlan && draft.route === route) return made;
    }
    return undefined;
  }

  #make(lease: Lease, plan: SignaturePlan, route: RoutedModel): NotedBody {
    const draft = this.#draft(lease, plan, route);
    const { relay, target } = draft;
    const { upstream } = lease;
    return this.#keep(
      draft,
      relay === undefined
        ? translateRequest(this.#loaded ?? this.#call.request, upstream, target)
        : patchBody(relay, upstream, target),
    );
  }

  /** The same in steps, with a turn for others between them. */
  async #makeInSteps(lease: Lease, plan: SignaturePlan, route: RoutedModel): Promise<NotedBody> {
    await nextTurn();
    const draft = this.#draft(lease, plan, route);
    const { relay, target } = draft;
    const { upstream } = lease;
    const body =
      relay === undefined
        ? await translateInSteps(this.#loaded ?? this.#call.request, upstream, target)
        : patchBody(relay, upstream, target);
    await nextTurn();
    return this.#keep(draft, body);
  }

  #draft(
    { upstream, modelId, listedModel }: Lease,
    plan: SignaturePlan,
    route: RoutedModel,
  ): Draft {
    const { keeper, mayBePiece } = this.#options;
    const capabilities = upstream.capabilities(modelId, listedModel);
    const { signatures, usesPlaceholders } = plan;
    const { relay, stream } = this.#call;
    const noted = createReceipt();
    const target: PatchTarget = {
      modelId,
      capabilities,
      signatures,
      usesPlaceholders,
      receipt: noted,
      recall: { lookup: (key) => keeper.lookup(this.#context.clientKeyId, key) },
      variant: route,
      thinkingMode: this.#thinkingMode,
      mayBePiece,
      isWhole: stream === false,
    };
    const goesAsItIs = isRelayed(relay, upstream.wire, capabilities);
    if (!goesAsItIs) {
      for (const { action, path, reason } of relay?.reading?.().losses ?? [])
        noted.add(action, path, reason);
    }
    return { route, upstream, target, noted, relay: goesAsItIs ? relay : undefined };
  }

  #keep(draft: Draft, body: JsonObject): NotedBody {
    const { route, upstream, target, noted, relay } = draft;
    const { answerTokens } = this.#context;
    const made: NotedBody = {
      draft,
      lane: relay === undefined ? 'translate' : 'relay',
      body: answerTokens === undefined ? body : upstream.limitOutput(body, answerTokens, target),
      signatureFamily: target.capabilities.signatureFamily,
      isSearchNamed: route.webSearch,
      noted: noted.entries,
    };
    this.#made.push(made);
    return made;
  }
}

/** Whether a client's own body goes to such a model as it is, but for what is patched in it. */
export function isRelayed(
  relay: RelayBody | undefined,
  wire: string,
  { hasOwnForm, refusesFreeText, takesSerialCalls }: ModelCapabilities,
): boolean {
  if (relay?.wire !== wire || hasOwnForm === true) return false;
  if (refusesFreeText === true && relay.hasFreeText?.() === true) return false;
  return takesSerialCalls === true || relay.asksForOneCall?.() !== true;
}

function patchBody(
  { field = '', body }: RelayBody,
  upstream: Upstream,
  target: PatchTarget,
): JsonObject {
  if (field === '') return upstream.patch(body, target);
  try {
    return upstream.patch(body, { ...target, receipt: receiptWithin(target.receipt, field) });
  } catch (error) {
    throw renameField(error, (inner) => memberPath(field, inner));
  }
}

/** @throws GatewayError (invalid-request) when anything was noted, or will be once the bodies are sent. */
export function refuseLosses(receipt: Receipt, bodies: readonly JsonObject[]): void {
  for (const body of bodies) mendText(JSON.stringify(body), receipt);
  const [first] = receipt.entries;
  if (first === undefined) return;
  const losses = receipt.entries.map(
    ({ path, action, reason }) => told`${path} (${action}): ${reason}`,
  );
  throw new GatewayError({
    kind: 'invalid-request',
    source: 'gateway',
    reason: 'unsupported',
    field: first.path,
    message: told`Strict mode refuses a request that cannot be carried whole: ${inRow(losses)}`,
  });
}

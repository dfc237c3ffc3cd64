// The shared context of the edge: its parts and the state of one request.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AccessControl } from '../access/access.ts';
import type { LimitState } from '../access/usage-meter.ts';
import type { AnswerFigures, CallRecord } from '../canonical/call-record.ts';
import type { GatewayError } from '../canonical/error.ts';
import type { ListedModel } from '../canonical/model.ts';
import type { RequestReceipt } from '../canonical/receipt.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { IndexedListItem } from '../lib/collections.ts';
import type { IpRange } from '../lib/net.ts';
import type { EndedRequest, RequestObserver, RunningRequest } from '../monitor/record.ts';
import type { Protocols } from '../protocols/index.ts';
import type { ClientProtocol } from '../protocols/protocol.ts';
import type { BackgroundRuns, RunSharing } from '../stored-responses/background-runs.ts';
import type {
  ConnectionResponses,
  ResponseStore,
  ResponseStores,
} from '../stored-responses/response-store.ts';
import type { Activity } from './activity.ts';
import type { AdminRoute } from './admin-route.ts';
import type { ConsoleFiles } from './console.ts';
import type { KeyRing } from './gates/authenticate.ts';
import type { BodyBudget, BodyHolder } from './gates/body.ts';
import type { RouteTable } from './routes.ts';
import type { ServiceRoute } from './service-route.ts';
import type { ClientResponse, EdgeSettings, HeaderMap, Log } from './settings.ts';

type EdgeProtocols = Pick<Protocols, 'all' | 'protocolForPath' | 'pickListProtocol'>;

interface ModelDirectory {
  list(): Promise<readonly ListedModel[]>;
  get(id: string): Promise<ListedModel | undefined>;
  /** The name that a misspelt one was meant to be, of those that are allowed. */
  meant(name: string, isAllowed: (name: string) => boolean): string | undefined;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Connections that another process takes from the network for this one. */
export interface Incoming {
  /** @returns the port. @throws Error when nobody can listen there */
  listen(address: Address, take: (socket: Socket) => void): Promise<number>;
  /** From now on none is taken. */
  close(): void;
}

/** What calls cost, in billionths of a US dollar. */
export interface CallPrices {
  /** The most that whoever serves it may take: for the prompt and pictures, and for each token of an answer. */
  reserve(
    model: string,
    use: { readonly inputTokens: number; readonly images: number },
  ): { readonly baseNanos: number; readonly tokenNanos: number };
  /** What answers cost, at a flat rate too what they would have cost. */
  charge(answers: readonly AnswerFigures[]): number;
}

export interface EdgeOptions {
  readonly protocols: EdgeProtocols;
  readonly dispatcher: Pick<Dispatcher, 'generate' | 'countTokens' | 'embed'>;
  readonly models: ModelDirectory;
  readonly responseStores: ResponseStores;
  readonly observer?: RequestObserver | undefined;
  readonly adminRoutes?: readonly AdminRoute[] | undefined;
  /** Endpoints beside the models'. */
  readonly services?: readonly ServiceRoute[] | undefined;
  readonly access: AccessControl;
  readonly consoleFiles?: ConsoleFiles | undefined;
  /** Asked anew for every request. */
  readonly settings: () => EdgeSettings;
  /** What calls cost, for budgets of money; without it they cost nothing. */
  readonly prices?: CallPrices | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** What the bodies of all requests may cost together; by the memory there is, unless it is given. */
  readonly bodies?: BodyBudget | undefined;
  readonly incoming?: Incoming | undefined;
  /** How many the system lets this process have open; undefined where it does not say. */
  readonly openFiles?: number | undefined;
  /** The other processes that make responses in the background; without it there are none. */
  readonly sharing?: RunSharing | undefined;
  /** True where it listens in plain HTTP whatever the settings say. */
  readonly isPlain?: boolean | undefined;
  /** Release version, as `/health` shows it. */
  readonly version: string;
}

export interface Edge extends EdgeOptions {
  readonly runs: BackgroundRuns;
  readonly connectionResponses: ConnectionResponses;
  readonly routes: RouteTable;
  readonly activity: Activity;
  readonly bodies: BodyBudget;
  /** Derived from settings, once for each change of them. */
  keyRing(): KeyRing;
  trustedProxies(): readonly IpRange[];
  /** Of a peer that speaks for itself. */
  addressOf(peer: string): string;
}

/** What is special about a request that is one message on a WebSocket. */
interface WebSocketTurn {
  /** Why it is refused once it has passed its gates. */
  readonly refusal?: GatewayError | undefined;
  /** The answers that later requests of the connection can go on from, with those of the key. */
  responsesOver(stored: ResponseStore): ResponseStore;
}

/** One request on its way; everything known of it and nothing of any other. */
export interface Exchange extends BodyHolder, IndexedListItem {
  readonly edge: Edge;
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  readonly settings: EdgeSettings;
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderMap;
  /** Of the peer, or of whoever stands behind trusted proxies. */
  readonly clientAddress: string;
  /** Aborted when the client leaves, a limit passes, or the gateway stops; the reason is a GatewayError. */
  readonly abort: AbortController;
  readonly receipt: RequestReceipt;
  readonly record: CallRecord;
  /** True once a whole answer is written, though its response waits for the sender to end. */
  isAnswered: boolean;
  /** Of the route; undefined until one is found: errors go by the path then. */
  protocol: ClientProtocol | undefined;
  /** '' until the request is authenticated. */
  clientKeyId: string;
  /** What it authenticated with, of whatever worth: records leave it out of what they show. */
  credentials: readonly string[];
  /** Opens the WebSocket that the request asks for, once it may have one. */
  readonly upgrade?: ((exchange: Exchange) => Promise<void>) | undefined;
  readonly turn?: WebSocketTurn | undefined;
  /** The most tokens that an answer may have, where a budget leaves no more. */
  answerTokens?: number | undefined;
  /** How near its key is to its limits, once it has been counted. */
  limits?: (() => Readonly<Record<'requests' | 'tokens', LimitState | undefined>>) | undefined;
  /** Set for model requests whose end the monitor is told. */
  observed?: ObservedCall | undefined;
}

export interface ObservedCall
  extends RunningRequest,
    Pick<EndedRequest, 'operation' | 'pathModel'> {
  bodyModel: EndedRequest['bodyModel'];
  call: EndedRequest['call'];
  /** What ends it; another one where it goes on behind its response. */
  stop: RunningRequest['stop'];
  asked?: EndedRequest['asked'];
  /** Only where bodies are kept. */
  body: EndedRequest['body'];
  isForm?: EndedRequest['isForm'];
}

// One model request as the monitor keeps it.

import { type CallRecord, FALLBACK_REASONS } from '../canonical/call-record.ts';
import type { FinishReason } from '../canonical/event.ts';
import { RECEIPT_ACTIONS, type ReceiptEntry } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { TranscriptBlock } from '../canonical/transcript.ts';
import type { IndexedListItem } from '../lib/collections.ts';
import type { JsonObject } from '../lib/json.ts';
import {
  MESSAGE_SCHEMA,
  messageSchema,
  paramsOf,
  type Sentence,
} from '../lib/localized-message.ts';
import {
  COUNT,
  list,
  named,
  object,
  optional,
  optionals,
  partial,
  TEXT,
  type ValueOf,
} from '../lib/object-schema.ts';
import { remember } from '../lib/once.ts';
import { BILLINGS } from '../pricing/charges.ts';
import { CHARGE_KINDS } from '../pricing/cost.ts';
import { PRICE_BASES } from '../pricing/prices.ts';

/** The schemas of records: the admin API describes its answers by them, and what the store returns is checked by them. */
const TIME = { type: 'number' } as const;

const RECEIPT_COUNTS = object({ dropped: COUNT, approximated: COUNT, repaired: COUNT });

const FINISH_REASONS = [
  ...(['stop', 'tool-calls', 'max-tokens', 'stop-sequence'] as const),
  ...(['safety', 'prompt-blocked'] as const),
] as const satisfies readonly FinishReason[];

/** What lists show of a request; each is a column of its table too. */
export const REQUEST_ROW_FIELDS = {
  /** Its own, unlike the one that clients may choose. */
  id: TEXT,
  requestId: { ...TEXT, description: 'The `x-request-id`; clients may choose it.' },
  at: { ...TIME, description: 'When it began.' },
  protocol: TEXT,
  surface: { ...TEXT, description: 'Such as `chat/completions` or `generateContent`.' },
  method: TEXT,
  path: TEXT,
  stream: { type: 'boolean' },
  status: { type: 'integer', description: 'HTTP; 499 when the client left.' },
  outcome: {
    enum: ['ok', 'error', 'cancelled'],
    description: '`error` also for a stream that broke off behind a status of 200.',
  },
  /** '' when the request could not be read so far. */
  model: { ...TEXT, description: 'As the client wrote it.' },
  /** Where that name leads, also of a request that was refused before; absent when no account offers it. */
  routedModel: optional(TEXT),
  upstreamModel: optional(TEXT),
  account: optional(TEXT),
  keyId: TEXT,
  keyName: optional(TEXT),
  owner: optional({ ...TEXT, description: 'Whose key it was then.' }),
  team: optional({ ...TEXT, description: 'The team of the key then.' }),
  tags: optional(list(TEXT, 'The tags of the key then.')),
  clientAddress: TEXT,
  session: optional({
    ...TEXT,
    description:
      'As a header or the body names it, else `text` and a hash of how the conversation begins; absent of what belongs to none.',
  }),
  replica: optional({
    ...TEXT,
    description: 'Which gateway or worker served it; absent where there was one alone.',
  }),
  attempts: { ...COUNT, description: 'How often an upstream was asked.' },
  retries: {
    ...COUNT,
    description:
      'Attempts beyond the first of each upstream call; several images or prompts are several calls.',
  },
  firstEventMs: optional(COUNT),
  totalMs: COUNT,
  inputTokens: optional(COUNT),
  outputTokens: optional(COUNT),
  cachedTokens: optional(COUNT),
  cacheWriteTokens: optional(COUNT),
  thoughtTokens: optional(COUNT),
  images: optional(COUNT),
  costNanos: optional({
    ...COUNT,
    description:
      'What it cost, in billionths of a US dollar; absent where no price is known, and of flat-rate accounts.',
  }),
  flatRateNanos: optional({
    ...COUNT,
    description: 'What it would have cost, of an account that is paid at a flat rate.',
  }),
  cacheSavingsNanos: optional({
    type: 'integer',
    description:
      'What caches saved of either, less what writing to them cost; may be below 0. Present with a price.',
  }),
  costBasis: optional({
    enum: PRICE_BASES,
    description:
      '`own`: a price of the settings; `listed`: the public one of the model; `estimate`: that of another model, or of estimated tokens.',
  }),
  receipt: RECEIPT_COUNTS,
  error: optional(
    messageSchema('What went wrong; where nothing did, why the answer was held back.'),
  ),
  errorGroup: optional({
    ...TEXT,
    description: 'The same for all errors that differ only in names and numbers; absent of others.',
  }),
} as const;

export const REQUEST_ROW_SCHEMA = named('RequestRow', REQUEST_ROW_FIELDS);

const CONSIDERED = object({
  accountId: optional(TEXT),
  verdict: TEXT,
  count: optional({ ...COUNT, description: 'Of accounts passed over for one reason.' }),
  accountIds: optional(list(TEXT, 'The first few of them.')),
});

const ATTEMPT = named('RequestAttempt', {
  account: TEXT,
  model: TEXT,
  upstreamCall: optional({ ...COUNT, description: 'Which of `upstreamCalls`, from 1.' }),
  outcome: TEXT,
  status: optional({ type: 'integer' }),
  detail: optional(
    messageSchema('What the upstream said, or what the fault was; absent on success.'),
  ),
  considered: list(CONSIDERED),
  ms: optional(COUNT),
});

const FALLBACK = named('RequestFallback', {
  from: { ...TEXT, description: 'The target that was left: a model, or `upstream/model`.' },
  to: TEXT,
  reason: { enum: FALLBACK_REASONS },
  afterAttempts: { ...COUNT, description: 'How many attempts of its upstream call came before.' },
  upstreamCall: optional({ ...COUNT, description: 'Which of `upstreamCalls`, from 1.' }),
});

const CHARGE = named('RequestCharge', {
  model: TEXT,
  billing: { enum: BILLINGS },
  price: object({
    basis: { enum: PRICE_BASES },
    model: { ...TEXT, description: 'The model or pattern the price is kept under.' },
    source: optional(TEXT),
    date: optional(TEXT),
  }),
  aboveInputTokens: optional({
    ...COUNT,
    description: 'The long-context step whose rates apply to all of it.',
  }),
  parts: list(
    object({
      kind: { enum: CHARGE_KINDS },
      count: { ...COUNT, description: 'Tokens, or pictures for `image`.' },
      rate: {
        type: 'number',
        description: 'US dollars per million tokens, or per picture.',
      },
    }),
  ),
  nanos: { ...COUNT, description: 'The sum of the parts in billionths of a US dollar.' },
  cacheSavingsNanos: { type: 'integer' },
});

/** What only the view of one request shows. */
export const REQUEST_DETAILS_FIELDS = {
  route: TEXT,
  errorKind: optional(TEXT),
  modelVersion: optional(TEXT),
  finishReasons: optional(list({ enum: FINISH_REASONS }, 'How the answers ended, each way once.')),
  /** True when a token count is an estimate of the gateway. */
  isEstimate: optional({ type: 'boolean' }),
  charges: optional(list(CHARGE, 'How the cost comes about, an answer each.')),
  attemptsList: list(ATTEMPT),
  fallbacks: optional(
    list(FALLBACK, 'The targets that were left for the next one of the mapping, in order.'),
  ),
  upstreamCalls: optional({
    ...COUNT,
    description: 'How many calls it was, where it was several at once.',
  }),
  passedOver: optional(list(CONSIDERED, 'Why no account was left, where none was.')),
  receiptEntries: list(
    object({
      path: TEXT,
      action: { enum: RECEIPT_ACTIONS },
      reason: MESSAGE_SCHEMA,
    }),
  ),
  userAgent: optional(TEXT),
  timings: partial({ upstreamMs: COUNT }),
} as const;

const DETAILS_SCHEMA = object(REQUEST_DETAILS_FIELDS);

const BODY_TEXT = object({
  text: {
    ...TEXT,
    description: 'JSON; of a response as it was sent, of a streamed one its events.',
  },
  isWhole: { type: 'boolean', description: 'False when shortened, cut or redacted.' },
});

export const REQUEST_BODIES_FIELDS = optionals({
  clientRequest: {
    ...BODY_TEXT,
    description: 'Only while bodies are kept; absent when it could not be read.',
  },
  upstreamRequest: BODY_TEXT,
  response: object({
    blocks: list(
      { type: 'object' },
      'Texts, thoughts, tool calls, media and code of the answer, in order.',
    ),
    isWhole: { type: 'boolean' },
  }),
  upstreamResponse: { ...BODY_TEXT, description: 'A line of JSON for each event of the upstream.' },
  clientResponse: { ...BODY_TEXT, description: 'As the client was sent it, without keep-alives.' },
});

const BODIES_SCHEMA = object(REQUEST_BODIES_FIELDS);

export type RequestRow = ValueOf<typeof REQUEST_ROW_SCHEMA>;
export type RequestOutcome = RequestRow['outcome'];
export type ReceiptCounts = RequestRow['receipt'];

export interface RequestDetails extends Omit<ValueOf<typeof DETAILS_SCHEMA>, 'receiptEntries'> {
  readonly pathModel: string;
  readonly receiptEntries: readonly ReceiptEntry[];
}

export type AttemptEntry = RequestDetails['attemptsList'][number];

export interface RequestBodies extends Omit<ValueOf<typeof BODIES_SCHEMA>, 'response'> {
  readonly response?: BodyBlocks | undefined;
}

export interface BodyBlocks {
  readonly blocks: readonly TranscriptBlock[];
  readonly isWhole: boolean;
}

export interface RequestRecord {
  readonly row: RequestRow;
  readonly details: RequestDetails;
  readonly bodies?: RequestBodies | undefined;
}

/** The name under which usage is summed: of the model that served it, or would have; '' when there is none. */
export function usageModel(row: Pick<RequestRow, 'upstreamModel' | 'routedModel'>): string {
  return row.upstreamModel ?? row.routedModel ?? '';
}

/** Characters the bodies of a record hold, about. */
export function bodySize({ bodies }: RequestRecord): number {
  if (bodies === undefined) return 0;
  const { clientRequest, upstreamRequest, response, upstreamResponse, clientResponse } = bodies;
  const texts = [clientRequest, upstreamRequest, upstreamResponse, clientResponse];
  const blocks = response?.blocks ?? [];
  return (
    texts.reduce((sum, body) => sum + (body?.text.length ?? 0), 0) +
    blocks.reduce((sum, block) => sum + blockSize(block), 0)
  );
}

/** Characters a block holds, about. */
export function blockSize(block: TranscriptBlock): number {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return block.text.length;
    case 'tool-call':
      return block.name.length + block.arguments.length;
    case 'code':
      return block.code.length;
    case 'code-result':
      return block.output.length;
    case 'media':
      return block.mediaType.length;
    default:
      return block satisfies never;
  }
}

/** Called on the way of requests: neither method throws or waits. */
export interface RequestObserver {
  readonly keepsBodies: boolean;
  /** Whether what requests ask for is wanted at their end. */
  readonly readsRequests: boolean;
  onBegin(running: RunningRequest): void;
  /** Exactly once for each `onBegin`, with what that was given. */
  onEnd(request: EndedRequest, running: RunningRequest): void;
}

/** A request from when it passed its gates to its end. */
export interface RunningRequest extends IndexedListItem {
  readonly requestId: string;
  readonly protocol: string;
  /** The pattern of its route, such as `/v1/models/{model}:generateContent`. */
  readonly route: string;
  readonly clientKeyId: string;
  readonly clientAddress: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Undefined while it was not read so far. */
  readonly call: { readonly model: string; readonly stream: boolean } | undefined;
  readonly facts: CallRecord;
  /** All keys the request showed. */
  credentials(): readonly string[];
  /** Ends the call of the upstream; its client is told in the words of its protocol. */
  stop(): void;
  /** Given to it once it is listed; 0 before. */
  listedAs: number;
}

export interface EndedRequest
  extends Pick<
    RunningRequest,
    'requestId' | 'protocol' | 'route' | 'clientKeyId' | 'clientAddress' | 'call' | 'facts'
  > {
  /** True when the client chose the id, so that another request may have it too. */
  readonly isIdGiven: boolean;
  /** `embed`, `count-tokens` or, also when absent, `generate`. */
  readonly operation?: string | undefined;
  readonly pathModel: string;
  /** What its body or form names as the model, where that is a text. */
  readonly bodyModel?: string | undefined;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** What an answer was asked for; reading it may be work, which only who exports it does. */
  readonly asked?: AskedFor | undefined;
  readonly body: JsonObject | undefined;
  /** True when its body was a form: the body given has the fields, and none of the files. */
  readonly isForm?: boolean | undefined;
  /** HTTP status; 499 when the client left before the answer was whole. */
  readonly status: number;
  readonly userAgent: string | undefined;
  readonly session: string | undefined;
  /** The header of that name as the client sent it, unchecked. */
  readonly traceparent?: string | undefined;
  /** All keys the request showed: they stand nowhere in its record. */
  readonly credentials: readonly string[];
  readonly receipt: readonly ReceiptEntry[];
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** The same moment, monotonic. */
  readonly endedAtMonotonic: number;
  readonly totalMs: number;
  /** From the beginning of the request to the first of its answer. */
  readonly firstEventMs: number | undefined;
}

/** `GenerateCall` fits it. */
export interface AskedFor {
  readonly request: CanonicalRequest;
  /** The requests it is, where it is several: each may ask for several answers of its own. */
  readonly fanOut?: { readonly requests: readonly Asking[] } | undefined;
}

type Asking = Pick<CanonicalRequest, 'choices'>;

export function wantedAnswers(request: Asking, fanOut: AskedFor['fanOut']): number {
  const requests = fanOut?.requests ?? [request];
  return requests.reduce((sum, { choices }) => sum + Math.max(1, choices), 0);
}

/** `/v1/models/{model}:generateContent` → `generateContent`, `/v1/chat/completions` → `chat/completions`. */
export const surfaceOf: (route: string) => string = remember(256, (route) =>
  route.replace(/^\/v1(?:alpha|beta)?\//, '').replace(/^models\/\{model\}[:/]/, ''),
);

const MAX_GROUP_CHARACTERS = 200;

/** The same for all errors that differ only in names, numbers and ids. */
export function errorGroup(kind: string, sentence: Sentence | undefined): string {
  if (sentence === undefined) return kind;
  const words = plainWords(sentence);
  const text =
    words.length > MAX_GROUP_CHARACTERS ? `${words.slice(0, MAX_GROUP_CHARACTERS)}…` : words;
  return `${kind}: ${text}`;
}

/** A message of ours has a template, and what is put into that may be a message again. */
function plainWords(sentence: Sentence): string {
  const { code, text } = sentence;
  if (code === null) return withoutValues(text);
  const params = paramsOf(sentence).values();
  return code.replaceAll('{}', () => {
    const param = params.next().value;
    return typeof param === 'object' ? plainWords(param) : '…';
  });
}

/** A text from elsewhere has no known template: what looks like a value counts as one. */
const VALUES = [
  /"[^"]*"|'[^']*'|`[^`]*`/g,
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g,
  /https?:\/\/\S+/g,
  /(?<![\w-])(?=[\w-]*\d)[\w-]{6,}\b/g,
  /\d+(?:[.,:]\d+)*/g,
] as const;

function withoutValues(text: string): string {
  return VALUES.reduce((rest, value) => rest.replace(value, '…'), text)
    .replace(/\s+/g, ' ')
    .trim();
}

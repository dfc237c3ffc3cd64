// Records of requests as rows of their tables, and back.

import type { Generated } from 'kysely';
import type {
  RequestBodies,
  RequestDetails,
  RequestOutcome,
  RequestRecord,
  RequestRow,
} from '../../monitor/record.ts';

export interface RequestsRow {
  sequence: Generated<number>;
  id: string;
  request_id: string;
  at: number;
  protocol: string;
  surface: string;
  method: string;
  path: string;
  stream: number;
  status: number;
  outcome: string;
  model: string;
  routed_model: string | null;
  upstream_model: string | null;
  account: string | null;
  key_id: string;
  key_name: string | null;
  client_address: string;
  attempts: number;
  retries: number;
  first_event_ms: number | null;
  total_ms: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cached_tokens: number | null;
  thought_tokens: number | null;
  images: number | null;
  dropped: number;
  approximated: number;
  repaired: number;
  error: string | null;
  /** Of the record in all its tables, about. */
  bytes: number;
  /** JSON. */
  details: string;
}

export interface RequestBodiesRow {
  sequence: number;
  client_request: string | null;
  upstream_request: string | null;
  /** JSON. */
  response: string | null;
  /** One bit for each of the three, in their order. */
  is_whole: number;
}

/** What a row costs besides its texts. */
const ROW_BYTES = 200;

export type NewRequestsRow = Omit<RequestsRow, 'sequence'>;

/** @param bodyBytes of its bodies */
export function toRequestsRow(
  { row, details: given }: Pick<RequestRecord, 'row' | 'details'>,
  bodyBytes: number,
): NewRequestsRow {
  const { receipt } = row;
  const details = JSON.stringify(given);
  const written = Buffer.byteLength(row.error ?? '') + Buffer.byteLength(details);
  const texts = row.path.length + row.model.length + written;
  return {
    id: row.id,
    request_id: row.requestId,
    at: row.at,
    protocol: row.protocol,
    surface: row.surface,
    method: row.method,
    path: row.path,
    stream: row.stream ? 1 : 0,
    status: row.status,
    outcome: row.outcome,
    model: row.model,
    routed_model: row.routedModel ?? null,
    upstream_model: row.upstreamModel ?? null,
    account: row.account ?? null,
    key_id: row.keyId,
    key_name: row.keyName ?? null,
    client_address: row.clientAddress,
    attempts: row.attempts,
    retries: row.retries,
    first_event_ms: row.firstEventMs ?? null,
    total_ms: row.totalMs,
    input_tokens: row.inputTokens ?? null,
    output_tokens: row.outputTokens ?? null,
    cached_tokens: row.cachedTokens ?? null,
    thought_tokens: row.thoughtTokens ?? null,
    images: row.images ?? null,
    dropped: receipt.dropped,
    approximated: receipt.approximated,
    repaired: receipt.repaired,
    error: row.error ?? null,
    bytes: ROW_BYTES + texts + bodyBytes,
    details,
  };
}

/** What lists show of a record. */
export const LISTED_COLUMNS = [
  'id',
  'request_id',
  'at',
  'protocol',
  'surface',
  'method',
  'path',
  'stream',
  'status',
  'outcome',
  'model',
  'routed_model',
  'upstream_model',
  'account',
  'key_id',
  'key_name',
  'client_address',
  'attempts',
  'retries',
  'first_event_ms',
  'total_ms',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'thought_tokens',
  'images',
  'dropped',
  'approximated',
  'repaired',
  'error',
] as const satisfies readonly (keyof RequestsRow)[];

type ListedRow = Pick<RequestsRow, (typeof LISTED_COLUMNS)[number]>;

export function fromRequestsRow(row: ListedRow): RequestRow {
  return {
    id: row.id,
    requestId: row.request_id,
    at: row.at,
    protocol: row.protocol,
    surface: row.surface,
    method: row.method,
    path: row.path,
    stream: row.stream === 1,
    status: row.status,
    outcome: OUTCOMES.find((outcome) => outcome === row.outcome) ?? 'error',
    model: row.model,
    routedModel: row.routed_model ?? undefined,
    upstreamModel: row.upstream_model ?? undefined,
    account: row.account ?? undefined,
    keyId: row.key_id,
    keyName: row.key_name ?? undefined,
    clientAddress: row.client_address,
    attempts: row.attempts,
    retries: row.retries,
    firstEventMs: row.first_event_ms ?? undefined,
    totalMs: row.total_ms,
    inputTokens: row.input_tokens ?? undefined,
    outputTokens: row.output_tokens ?? undefined,
    cachedTokens: row.cached_tokens ?? undefined,
    thoughtTokens: row.thought_tokens ?? undefined,
    images: row.images ?? undefined,
    receipt: {
      dropped: row.dropped,
      approximated: row.approximated,
      repaired: row.repaired,
    },
    error: row.error ?? undefined,
  };
}

const OUTCOMES: readonly RequestOutcome[] = ['ok', 'error', 'cancelled'];

export function toBodiesRow(bodies: RequestBodies): Omit<RequestBodiesRow, 'sequence'> {
  const { clientRequest, upstreamRequest, response } = bodies;
  const parts = [clientRequest, upstreamRequest, response];
  return {
    client_request: clientRequest?.text ?? null,
    upstream_request: upstreamRequest?.text ?? null,
    response: response === undefined ? null : JSON.stringify(response.blocks),
    is_whole: parts.reduce((bits, part, index) => bits | (part?.isWhole ? 1 << index : 0), 0),
  };
}

export function fromStored(
  row: Omit<RequestsRow, 'sequence'>,
  bodies: RequestBodiesRow | undefined,
): RequestRecord {
  return {
    row: fromRequestsRow(row),
    // The one narrowing of this file: both were written by it.
    details: JSON.parse(row.details) as RequestDetails,
    bodies: bodies === undefined ? undefined : fromBodiesRow(bodies),
  };
}

function fromBodiesRow(row: RequestBodiesRow): RequestBodies {
  const { client_request: client, upstream_request: upstream, response, is_whole: whole } = row;
  return {
    clientRequest: client === null ? undefined : { text: client, isWhole: (whole & 1) !== 0 },
    upstreamRequest: upstream === null ? undefined : { text: upstream, isWhole: (whole & 2) !== 0 },
    response:
      response === null ? undefined : { blocks: JSON.parse(response), isWhole: (whole & 4) !== 0 },
  };
}

// Records of requests as rows of their tables, and back.

import {
  REQUEST_ROW_FIELDS,
  type ReceiptCounts,
  type RequestBodies,
  type RequestDetails,
  type RequestOutcome,
  type RequestRecord,
  type RequestRow,
} from '../../monitor/record.ts';
import type { TableRow } from './schema.ts';

type ListedColumn = Exclude<keyof RequestRow, 'receipt'> | keyof ReceiptCounts;

const { receipt, ...PLAIN } = REQUEST_ROW_FIELDS;
/** What lists show of a record. */
export const LISTED_COLUMNS = [
  ...Object.keys(PLAIN),
  ...Object.keys(receipt.properties),
] as readonly ListedColumn[];

type ListedRow = Pick<TableRow<'requests'>, ListedColumn>;

/** What a row costs besides its texts. */
const ROW_BYTES = 200;

/** @param bodyBytes of its bodies */
export function toRequestsRow({ row, details: given }: RequestRecord, bodyBytes: number) {
  const { receipt: counts, ...plain } = row;
  const details = JSON.stringify(given);
  const written = Buffer.byteLength(row.error ?? '') + Buffer.byteLength(details);
  const bytes = ROW_BYTES + row.path.length + row.model.length + written + bodyBytes;
  return { ...plain, ...counts, bytes, details };
}

export function fromRequestsRow(row: ListedRow): RequestRow {
  const { dropped, approximated, repaired, error, ...plain } = row;
  return {
    ...plain,
    stream: plain.stream === 1,
    outcome: OUTCOMES.find((known) => known === plain.outcome) ?? 'error',
    receipt: { dropped, approximated, repaired },
    error,
  };
}

const OUTCOMES: readonly RequestOutcome[] = REQUEST_ROW_FIELDS.outcome.enum;

export function toBodiesRow({ clientRequest, upstreamRequest, response }: RequestBodies) {
  const parts = [clientRequest, upstreamRequest, response];
  return {
    clientRequest: clientRequest?.text,
    upstreamRequest: upstreamRequest?.text,
    response: response && JSON.stringify(response.blocks),
    isWhole: parts.reduce((bits, part, index) => bits | (part?.isWhole ? 1 << index : 0), 0),
  };
}

export function fromStored(
  { details, ...row }: ListedRow & Pick<TableRow<'requests'>, 'details'>,
  bodies: TableRow<'request_bodies'> | undefined,
): RequestRecord {
  return {
    row: fromRequestsRow(row),
    // The one narrowing of this file: both were written by it.
    details: JSON.parse(details) as RequestDetails,
    bodies: bodies && fromBodiesRow(bodies),
  };
}

function fromBodiesRow(row: TableRow<'request_bodies'>): RequestBodies {
  const { clientRequest: client, upstreamRequest: upstream, response, isWhole } = row;
  const isWholeAt = (index: number): boolean => (isWhole & (1 << index)) !== 0;
  return {
    clientRequest: client === undefined ? undefined : { text: client, isWhole: isWholeAt(0) },
    upstreamRequest: upstream === undefined ? undefined : { text: upstream, isWhole: isWholeAt(1) },
    response:
      response === undefined ? undefined : { blocks: JSON.parse(response), isWhole: isWholeAt(2) },
  };
}

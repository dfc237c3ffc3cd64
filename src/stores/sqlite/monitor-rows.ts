// Records of requests as rows of their tables, and back.

import type { ReceiptEntry } from '../../canonical/receipt.ts';
import { asSentence } from '../../lib/localized-message.ts';
import {
  type AttemptEntry,
  REQUEST_ROW_FIELDS,
  type ReceiptCounts,
  type RequestBodies,
  type RequestDetails,
  type RequestOutcome,
  type RequestRecord,
  type RequestRow,
} from '../../monitor/record.ts';
import type { TableRow } from './schema.ts';
import { fromColumns, toColumns } from './sentence-columns.ts';

type ListedColumn = Exclude<keyof RequestRow, 'receipt'> | keyof ReceiptCounts | 'errorParts';

const { receipt, ...PLAIN } = REQUEST_ROW_FIELDS;
/** What lists show of a record. */
export const LISTED_COLUMNS = [
  ...Object.keys(PLAIN),
  ...Object.keys(receipt.properties),
  'errorParts',
] as readonly ListedColumn[];

type ListedRow = Pick<TableRow<'requests'>, ListedColumn>;

/** What a row costs besides its texts. */
const ROW_BYTES = 200;

/** @param bodyBytes of its bodies */
export function toRequestsRow({ row, details: given }: RequestRecord, bodyBytes: number) {
  const { receipt: counts, error: sentence, ...plain } = row;
  const details = JSON.stringify(given);
  const [error, errorParts] = sentence === undefined ? [] : toColumns(sentence);
  const texts = [error, errorParts, details];
  const written = texts.reduce((sum, text = '') => sum + Buffer.byteLength(text), 0);
  const bytes = ROW_BYTES + row.path.length + row.model.length + written + bodyBytes;
  return { ...plain, ...counts, error, errorParts, bytes, details };
}

export function fromRequestsRow(row: ListedRow): RequestRow {
  const { dropped, approximated, repaired, error, errorParts, ...plain } = row;
  return {
    ...plain,
    stream: plain.stream === 1,
    outcome: OUTCOMES.find((known) => known === plain.outcome) ?? 'error',
    receipt: { dropped, approximated, repaired },
    error: error === undefined ? undefined : fromColumns(error, errorParts),
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
    details: readDetails(details),
    bodies: bodies && fromBodiesRow(bodies),
  };
}

function readDetails(text: string): RequestDetails {
  // The one narrowing of this file: it wrote them.
  const details = JSON.parse(text) as WrittenDetails;
  return {
    ...details,
    attemptsList: details.attemptsList.map(({ detail, ...attempt }) => ({
      ...attempt,
      detail: detail === undefined ? undefined : asSentence(detail),
    })),
    receiptEntries: details.receiptEntries.map(({ reason, ...entry }) => ({
      ...entry,
      reason: asSentence(reason),
    })),
  };
}

type WithText<Entry, Key extends keyof Entry> = Omit<Entry, Key> & {
  readonly [Name in Key]: Entry[Name] | string;
};

/** Earlier versions wrote texts alone. */
interface WrittenDetails extends Omit<RequestDetails, 'attemptsList' | 'receiptEntries'> {
  readonly attemptsList: readonly WithText<AttemptEntry, 'detail'>[];
  readonly receiptEntries: readonly WithText<ReceiptEntry, 'reason'>[];
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

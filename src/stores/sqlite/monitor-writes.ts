// Writes batches of request records and the usage they add up to.

import type { RequestRecord } from '../../monitor/request-record.ts';
import { type QuarterSum, sumByQuarter } from '../../monitor/usage-sums.ts';
import { type RequestBodiesRow, toBodiesRow, toRequestsRow } from './monitor-rows.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

/** Saves records in one transaction of the caller's. @returns the bytes that were added, about */
export type SaveRecords = (queries: Queries, records: readonly RequestRecord[]) => number;

export function createRecordWriter(builder: QueryBuilder): SaveRecords {
  const newest = builder.selectFrom('requests').select('sequence').orderBy('sequence', 'desc');
  const last = newest.limit(1).compile();
  const writerOf = createWriters(builder);
  return (queries, records) => {
    const write = writerOf(queries);
    let sequence = queries.rows({ compile: () => last })[0]?.sequence ?? 0;
    let added = 0;
    for (const record of records) {
      sequence += 1;
      added += saveRecord(write, record, sequence);
    }
    for (const sum of sumByQuarter(records)) write.usage(sum);
    return added;
  };
}

function saveRecord(write: Writer, record: RequestRecord, sequence: number): number {
  const bodies = record.bodies && { sequence, ...toBodiesRow(record.bodies) };
  const row = toRequestsRow(record, sizeOf(bodies));
  write.request({ sequence, ...row });
  if (bodies !== undefined) write.bodies(bodies);
  return row.bytes;
}

function sizeOf(bodies: RequestBodiesRow | undefined): number {
  if (bodies === undefined) return 0;
  const { client_request: client, upstream_request: upstream, response } = bodies;
  return [client, upstream, response].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

interface Writer {
  request(row: { readonly sequence: number } & ReturnType<typeof toRequestsRow>): void;
  bodies(row: RequestBodiesRow): void;
  usage(sum: QuarterSum): void;
}

type Compiled = ReturnType<Parameters<Queries['run']>[0]['compile']>;

/** Each statement is compiled with its first row: kysely takes ten times as long as SQLite for one. */
function createWriters(builder: QueryBuilder): (queries: Queries) => Writer {
  const inserter = <Row extends object>(compile: (row: Row) => Compiled) => {
    let compiled: Compiled | undefined;
    return (queries: Queries, row: Row): void => {
      compiled ??= compile(row);
      const statement = { ...compiled, parameters: Object.values(row) };
      queries.run({ compile: () => statement });
    };
  };
  const request = inserter<Parameters<Writer['request']>[0]>((row) =>
    builder.insertInto('requests').values(row).compile(),
  );
  const bodies = inserter<RequestBodiesRow>((row) =>
    builder.insertInto('request_bodies').values(row).compile(),
  );
  const usage = inserter<UsageSumsRow>((row) => addToSum(builder, row).compile());
  return (queries) => ({
    request: (row) => request(queries, row),
    bodies: (row) => bodies(queries, row),
    usage: (sum) => usage(queries, toUsageSumsRow(sum)),
  });
}

type UsageSumsRow = ReturnType<typeof toUsageSumsRow>;

function toUsageSumsRow(sum: QuarterSum) {
  const { at, model, account, keyId, protocol, requests, errors, images } = sum;
  return {
    at,
    model,
    account,
    key_id: keyId,
    protocol,
    requests,
    errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cached_tokens: sum.cachedTokens,
    thought_tokens: sum.thoughtTokens,
    images,
    key_name: sum.keyName ?? null,
  };
}

function addToSum(builder: QueryBuilder, row: UsageSumsRow) {
  return builder
    .insertInto('usage_sums')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['at', 'model', 'account', 'key_id', 'protocol'])
        .doUpdateSet(({ eb, fn, ref }) => ({
          requests: eb(ref('usage_sums.requests'), '+', ref('excluded.requests')),
          errors: eb(ref('usage_sums.errors'), '+', ref('excluded.errors')),
          input_tokens: eb(ref('usage_sums.input_tokens'), '+', ref('excluded.input_tokens')),
          output_tokens: eb(ref('usage_sums.output_tokens'), '+', ref('excluded.output_tokens')),
          cached_tokens: eb(ref('usage_sums.cached_tokens'), '+', ref('excluded.cached_tokens')),
          thought_tokens: eb(ref('usage_sums.thought_tokens'), '+', ref('excluded.thought_tokens')),
          images: eb(ref('usage_sums.images'), '+', ref('excluded.images')),
          key_name: fn.coalesce('excluded.key_name', 'usage_sums.key_name'),
        })),
    );
}

// Writes batches of request records and the usage they add up to.

import type { RequestRecord } from '../../monitor/request-record.ts';
import { type QuarterSum, sumByQuarter } from '../../monitor/usage-sums.ts';
import { type RequestBodiesRow, toBodiesRow, toRequestsRow } from './monitor-rows.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

/** @returns the bytes that were added, about */
export function saveRecords(
  queries: Queries,
  builder: QueryBuilder,
  records: readonly RequestRecord[],
): number {
  const write = createWriter(queries, builder);
  let sequence = lastSequence(queries, builder);
  let added = 0;
  for (const record of records) {
    sequence += 1;
    added += saveRecord(write, record, sequence);
  }
  for (const sum of sumByQuarter(records)) write.usage(sum);
  return added;
}

function lastSequence(queries: Queries, builder: QueryBuilder): number {
  const newest = builder.selectFrom('requests').select('sequence').orderBy('sequence', 'desc');
  return queries.rows(newest.limit(1))[0]?.sequence ?? 0;
}

function saveRecord(write: Writer, record: RequestRecord, sequence: number): number {
  const details = JSON.stringify(record.details);
  const bodies = record.bodies && { sequence, ...toBodiesRow(record.bodies) };
  const row = toRequestsRow(record.row, details.length + sizeOf(bodies));
  write.request({ sequence, ...row });
  write.details({ sequence, details });
  if (bodies !== undefined) write.bodies(bodies);
  return row.bytes;
}

function sizeOf(bodies: RequestBodiesRow | undefined): number {
  if (bodies === undefined) return 0;
  const { client_request: client, upstream_request: upstream, response } = bodies;
  return [client, upstream, response].reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

interface Writer {
  request(row: { readonly sequence: number } & ReturnType<typeof toRequestsRow>): void;
  details(row: { readonly sequence: number; readonly details: string }): void;
  bodies(row: RequestBodiesRow): void;
  usage(sum: QuarterSum): void;
}

/** Each statement is compiled with its first row: kysely takes ten times as long as SQLite for one. */
function createWriter(queries: Queries, builder: QueryBuilder): Writer {
  const inserter = <Row extends object>(compile: (row: Row) => Compiled): ((row: Row) => void) => {
    let compiled: Compiled | undefined;
    return (row) => {
      compiled ??= compile(row);
      const statement = { ...compiled, parameters: Object.values(row) };
      queries.run({ compile: () => statement });
    };
  };
  return {
    request: inserter((row) => builder.insertInto('requests').values(row).compile()),
    details: inserter((row) => builder.insertInto('request_details').values(row).compile()),
    bodies: inserter((row) => builder.insertInto('request_bodies').values(row).compile()),
    usage: (sum) => queries.run(addToSum(builder, sum)),
  };
}

type Compiled = ReturnType<Parameters<Queries['run']>[0]['compile']>;

function addToSum(builder: QueryBuilder, sum: QuarterSum) {
  const { at, model, account, keyId, protocol, requests, errors, images } = sum;
  return builder
    .insertInto('usage_sums')
    .values({
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
    })
    .onConflict((conflict) =>
      conflict
        .columns(['at', 'model', 'account', 'key_id', 'protocol'])
        .doUpdateSet(({ eb, ref }) => ({
          requests: eb(ref('usage_sums.requests'), '+', ref('excluded.requests')),
          errors: eb(ref('usage_sums.errors'), '+', ref('excluded.errors')),
          input_tokens: eb(ref('usage_sums.input_tokens'), '+', ref('excluded.input_tokens')),
          output_tokens: eb(ref('usage_sums.output_tokens'), '+', ref('excluded.output_tokens')),
          cached_tokens: eb(ref('usage_sums.cached_tokens'), '+', ref('excluded.cached_tokens')),
          thought_tokens: eb(ref('usage_sums.thought_tokens'), '+', ref('excluded.thought_tokens')),
          images: eb(ref('usage_sums.images'), '+', ref('excluded.images')),
        })),
    );
}

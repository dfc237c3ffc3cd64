// Gives room that the database file has to spare back to the disk, a little at a time.

import { sql } from 'kysely';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

/** A few milliseconds of work: a page that moves is written, and so is the one that points to it. */
const PAGES_AT_ONCE = 64;
/** What is written next takes the free pages first: moving the last of them would be work for nothing. */
const KEPT_PAGES = 1024;
const KEPT_SHARE = 1 / 16;
/** From so much of the file on it is worth the work. */
const SPARE_SHARE = 1 / 4;

/**
 * Makes the file smaller by a step. https://www.sqlite.org/pragma.html#pragma_incremental_vacuum
 * @returns the pages given back; 0 when nothing is to be done, or the file was made without the means for it
 */
export type GiveBackRoom = (queries: Queries) => number;

/** Begins when much is free and goes on until little is: one removal is not given back for each that follows. */
export function createGiveBackRoom(builder: QueryBuilder): GiveBackRoom {
  let isUnderWay = false;
  return (queries) => {
    const pages = readNumber(queries, builder, 'page_count');
    const free = readNumber(queries, builder, 'freelist_count');
    const kept = Math.max(KEPT_PAGES, pages * KEPT_SHARE);
    if (free > kept && free > pages * SPARE_SHARE) isUnderWay = true;
    if (free <= kept) isUnderWay = false;
    if (!isUnderWay) return 0;
    queries.exec(`pragma incremental_vacuum(${PAGES_AT_ONCE})`);
    const given = free - readNumber(queries, builder, 'freelist_count');
    if (given <= 0) isUnderWay = false;
    return given;
  };
}

type Pragma = 'page_count' | 'freelist_count';

function readNumber(queries: Queries, builder: QueryBuilder, name: Pragma): number {
  const query = sql<Readonly<Record<string, number>>>`pragma ${sql.raw(name)}`;
  return queries.rows({ compile: () => query.compile(builder) })[0]?.[name] ?? 0;
}

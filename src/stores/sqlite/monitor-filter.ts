// What of the records a filter takes, as SQL, and how a search goes about it.

import {
  type Expression,
  type ExpressionBuilder,
  type ExpressionWrapper,
  type SqlBool,
  sql,
} from 'kysely';
import { isWildcard } from '../../lib/wildcard.ts';
import type { RequestFilter } from '../../monitor/request-store.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder, Tables } from './schema.ts';
import type { Queries } from './session.ts';

/** Records one step looks at, a few milliseconds of work: they are passed over in their index. */
const STEP = 20_000;
/** The same where bodies, which may be long, are looked through. */
const BODY_STEP = 100;
/** Ids that hold what is searched for are found first; with more, each record is asked for its own. */
const MOST_IDS = 1000;

export interface Search {
  /** Records one step looks at. */
  readonly step: number;
  readonly matches: IdMatches;
  /** Whether any body is kept, to be looked through too. */
  readonly hasBodies: boolean;
}

/** Sequences, as JSON, of the records whose ids hold what is searched for; undefined: each is asked. */
type IdMatches = string | undefined;

interface SearchSources {
  readonly connection: SqliteConnection;
  readonly builder: QueryBuilder;
}

/** What a search needs to know before its first step. */
export async function planSearch(
  { connection, builder }: SearchSources,
  { search }: RequestFilter,
): Promise<Search> {
  if (search === undefined) return { step: STEP, matches: undefined, hasBodies: false };
  const anyBody = builder.selectFrom('request_bodies').select('sequence').limit(1);
  return connection.read((queries) => {
    const hasBodies = queries.rows(anyBody).length > 0;
    const matches = matchIds(queries, builder, search);
    return { step: hasBodies ? BODY_STEP : STEP, matches, hasBodies };
  });
}

/** Along the indexes of ids, which hold nothing else. */
function matchIds(queries: Queries, builder: QueryBuilder, search: string): IdMatches {
  const pattern = likePattern(search);
  const given = builder
    .selectFrom('requests')
    .select('sequence')
    .where(({ fn, val }) => fn<SqlBool>('like', [val(pattern), 'request_id', val('\\')]))
    .limit(MOST_IDS + 1);
  const own = builder
    .selectFrom('requests')
    .select('sequence')
    .where('id', '<>', ({ ref }) => ref('request_id'))
    .where(({ fn, val }) => fn<SqlBool>('like', [val(pattern), 'id', val('\\')]))
    .limit(MOST_IDS + 1);
  const found = [...queries.rows(given), ...queries.rows(own)];
  return found.length > MOST_IDS ? undefined : JSON.stringify(found.map((row) => row.sequence));
}

type Place = ExpressionBuilder<Tables, 'requests'>;

/** Everything of the filter but the time. */
export function narrow(
  eb: Place,
  { filter, ...found }: Pick<Search, 'matches' | 'hasBodies'> & { readonly filter: RequestFilter },
): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const { status, protocol, surface, model, account, key, search } = filter;
  const all: Expression<SqlBool>[] = [];
  if (status?.kind === 'outcome') all.push(eb('outcome', '=', status.outcome));
  if (status?.kind === 'range') all.push(eb.between('status', status.least, status.most));
  if (protocol !== undefined) all.push(eb('protocol', '=', protocol));
  if (surface !== undefined) all.push(eb('surface', '=', surface));
  if (model !== undefined)
    all.push(eb.or([isNamed(eb, 'model', model), isNamed(eb, 'upstream_model', model)]));
  if (account !== undefined) all.push(isNamed(eb, 'account', account));
  if (key !== undefined) all.push(eb.or([eb('key_id', '=', key), isNamed(eb, 'key_name', key)]));
  if (search !== undefined) all.push(holds(eb, search, found));
  return eb.and(all);
}

type NameColumn = 'model' | 'upstream_model' | 'account' | 'key_name';

/** A name as it is, or with `*` for any run of characters, then in any case. */
function isNamed(eb: Place, column: NameColumn, name: string): Expression<SqlBool> {
  if (!isWildcard(name)) return eb(column, '=', name);
  const patterns = casesOf(name).map((one) => one.split('*').map(escapeLike).join('%'));
  return eb.or(patterns.map((pattern) => eb.fn<SqlBool>('like', likeOf(eb, pattern, column))));
}

const SEARCHED_IDS = ['id', 'request_id'] as const;
const SEARCHED = ['model', 'upstream_model', 'account', 'path', 'error'] as const;
type SearchedColumn = NameColumn | (typeof SEARCHED)[number] | (typeof SEARCHED_IDS)[number];
const SEARCHED_BODIES = ['client_request', 'upstream_request', 'response'] as const;

function holds(
  eb: Place,
  search: string,
  { matches, hasBodies }: Pick<Search, 'matches' | 'hasBodies'>,
): ExpressionWrapper<Tables, 'requests', SqlBool> {
  const spellings = casesOf(search);
  const columns = matches === undefined ? [...SEARCHED, ...SEARCHED_IDS] : SEARCHED;
  const places: Expression<SqlBool>[] = columns.flatMap((column) =>
    spellings.map((one) => eb.fn<SqlBool>('like', likeOf(eb, likePattern(one), column))),
  );
  if (matches !== undefined && matches !== '[]') {
    places.push(sql<SqlBool>`requests.sequence in (select value from json_each(${matches}))`);
  }
  if (hasBodies) places.push(isInBodies(eb, spellings));
  return eb.or(places);
}

/** Bodies are JSON, in which quotes, backslashes and line ends stand escaped. */
function isInBodies(eb: Place, spellings: readonly string[]) {
  const escaped = spellings.map((one) => JSON.stringify(one).slice(1, -1));
  const patterns = [...new Set([...spellings, ...escaped])].map(likePattern);
  return eb.exists(
    eb
      .selectFrom('request_bodies')
      .select('request_bodies.sequence')
      .whereRef('request_bodies.sequence', '=', 'requests.sequence')
      .where((bodies) =>
        bodies.or(
          SEARCHED_BODIES.flatMap((column) =>
            patterns.map((pattern) =>
              bodies.fn<SqlBool>('like', [bodies.val(pattern), column, bodies.val('\\')]),
            ),
          ),
        ),
      ),
  );
}

function likeOf(eb: Place, pattern: string, column: SearchedColumn) {
  return [eb.val(pattern), column, eb.val('\\')] as const;
}

/** SQLite knows the case of ASCII letters alone: with others a text is looked for in each usual one. */
function casesOf(text: string): readonly string[] {
  if (!/[\u0080-\uffff]/.test(text)) return [text];
  const lower = text.toLowerCase();
  const [first = ''] = lower;
  const asName = `${first.toUpperCase()}${lower.slice(first.length)}`;
  return [...new Set([text, lower, asName, text.toUpperCase()])];
}

/** `like(pattern, text, escape)` is the function behind the operator (https://www.sqlite.org/lang_corefunc.html#like). */
function likePattern(search: string): string {
  return `%${escapeLike(search)}%`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (sign) => `\\${sign}`);
}

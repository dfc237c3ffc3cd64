// Prompt caching of the Messages wire: what `cache_control` marks is kept for a while, and read by requests that begin alike.

import { createHash } from 'node:crypto';
import { canonicalJson } from './json.ts';
import { partsOfBlock } from './messages-read.ts';
import { type Block, blocksOf, type MessagesRequest } from './messages-wire.ts';
import { type SandboxClock, touchLru } from './state.ts';
import { countContentTokens, countJsonTokens, identifyContent } from './tokens.ts';

export interface CachedPrompt {
  /** Neither read from the cache nor written to it. */
  readonly fresh: number;
  readonly read: number;
  readonly writtenShort: number;
  readonly writtenLong: number;
}

type Mark = NonNullable<Block['cache_control']>;

interface Piece {
  readonly identity: string;
  readonly tokens: number;
  readonly mark: Mark | undefined;
}

/** Shorter beginnings are not cached (platform.claude.com, "Prompt caching"). */
const MIN_TOKENS = 1024;
/** A mark finds what was kept this many blocks before it. */
const LOOK_BACK = 20;
const MAX_KEPT = 5_000;
const SHORT_MS = 5 * 60_000;
const LONG_MS = 60 * 60_000;

export type MarkedCache = ReturnType<typeof createMarkedCache>;

export function createMarkedCache(clock: SandboxClock) {
  /** When a beginning is forgotten, by its digest. */
  const kept = new Map<string, number>();
  return {
    /** Reads and writes the cache of an account and model. */
    visit(scope: string, request: MessagesRequest): CachedPrompt {
      const places = listPlaces(scope, listPieces(request));
      const isKept = (index: number): boolean =>
        (kept.get(places[index]?.digest ?? '') ?? 0) > clock.now();
      const marks = places.filter(({ mark, upTo }) => mark !== undefined && upTo >= MIN_TOKENS);
      const read = Math.max(
        0,
        ...marks.map(({ index }) => {
          const from = Math.max(0, index - LOOK_BACK);
          const hit = places.findLast((at) => at.index <= index && isKept(at.index));
          return hit !== undefined && hit.index >= from ? hit.upTo : 0;
        }),
      );
      const written = { short: 0, long: 0 };
      let reached = read;
      for (const { digest, upTo, mark } of marks) {
        const isLong = mark?.ttl === '1h';
        touchLru(kept, [digest, clock.now() + (isLong ? LONG_MS : SHORT_MS)], MAX_KEPT);
        written[isLong ? 'long' : 'short'] += Math.max(0, upTo - reached);
        reached = Math.max(reached, upTo);
      }
      return {
        fresh: (places.at(-1)?.upTo ?? 0) - reached,
        read,
        writtenShort: written.short,
        writtenLong: written.long,
      };
    },
  };
}

export function countPrompt(request: MessagesRequest): number {
  return listPieces(request).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** In the order in which the wire caches: tools, system, messages. */
function listPieces({ tools = [], system, messages, ...request }: MessagesRequest): Piece[] {
  const pieces: Piece[] = [
    ...tools.map(({ cache_control: mark, ...tool }) => {
      const plain = JSON.parse(JSON.stringify(tool));
      const identity = canonicalJson(plain);
      return { identity, tokens: countJsonTokens(plain), mark: mark ?? undefined };
    }),
    ...blocksOf(system).map((block) => pieceOf('system', block)),
    ...messages.flatMap(({ role, content }) =>
      blocksOf(content).map((block) => pieceOf(role, block)),
    ),
  ];
  const last = pieces.at(-1);
  const mark = last?.mark ?? request.cache_control ?? undefined;
  return last === undefined ? pieces : [...pieces.slice(0, -1), { ...last, mark }];
}

function pieceOf(role: string, block: Block): Piece {
  const content = { role, parts: partsOfBlock(block) };
  const inner = Array.isArray(block.content) ? block.content : [];
  const mark = block.cache_control ?? inner.findLast((one) => one.cache_control)?.cache_control;
  return {
    identity: identifyContent(content),
    tokens: countContentTokens(content),
    mark: mark ?? undefined,
  };
}

function listPlaces(scope: string, pieces: readonly Piece[]) {
  let digest = scope;
  let upTo = 0;
  return pieces.map(({ identity, tokens, mark }, index) => {
    digest = createHash('sha256').update(digest).update('\n').update(identity).digest('base64');
    upTo += tokens;
    return { digest, upTo, mark, index };
  });
}

// Reads the log files from their end, a bounded piece at a time.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidRequest } from '../canonical/error.ts';
import { isMissing } from './log-fault.ts';
import { LOG_LEVELS, type LogLevelName, type LogLine, readLogLine } from './log-line.ts';

export interface LogQuery {
  readonly limit: number;
  /** Of an earlier page. */
  readonly cursor?: string | undefined;
  /** The least level. */
  readonly level?: LogLevelName | undefined;
  /** Part of a line, in any case. */
  readonly search?: string | undefined;
}

export interface LogPage {
  /** The latest first. */
  readonly lines: readonly LogLine[];
  /** For the lines before these; a search may go on behind an empty page. */
  readonly nextCursor?: string | undefined;
}

export interface LogPlace {
  readonly folder: string;
  /** The oldest first. */
  readonly names: readonly string[];
  readonly query: LogQuery;
}

const PIECE_BYTES = 262_144;
/** One page looks through so much at most. */
const MOST_READ = 8_388_608;
const LINE_END = 0x0a;

/** @throws GatewayError invalid-request for a cursor that is none */
export async function readLogPage({ folder, names, query }: LogPlace): Promise<LogPage> {
  const start = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const page = new OpenPage(query);
  for (const name of names.toReversed()) {
    if (start !== undefined && name > start.name) continue;
    const end = name === start?.name ? start.offset : undefined;
    const file = new BackwardFile(join(folder, name), end);
    try {
      await page.fill(file, name);
    } catch (error) {
      // Old files leave while others are read.
      if (!isMissing(error)) throw error;
    } finally {
      await file.close();
    }
    if (page.nextCursor !== undefined) break;
  }
  return { lines: page.lines, nextCursor: page.nextCursor };
}

class OpenPage {
  readonly lines: LogLine[] = [];
  /** Set once no more is to be read. */
  nextCursor: string | undefined;
  readonly #query: LogQuery;
  #read = 0;

  constructor(query: LogQuery) {
    this.#query = query;
  }

  async fill(file: BackwardFile, name: string): Promise<void> {
    for (let piece = await file.previous(); piece !== undefined; piece = await file.previous()) {
      this.#read += piece.bytes;
      const stoppedAt = this.#take(piece) ?? (this.#read >= MOST_READ ? piece.start : undefined);
      if (stoppedAt === undefined) continue;
      this.nextCursor = `${name}:${stoppedAt}`;
      return;
    }
  }

  /** Where the line that filled the page begins. */
  #take(piece: Piece): number | undefined {
    for (const { text, offset } of piece.lines.toReversed()) {
      const line = matches(text, this.#query);
      if (line !== undefined) this.lines.push(line);
      if (this.lines.length === this.#query.limit) return offset;
    }
    return undefined;
  }
}

function matches(text: string, { level, search }: LogQuery): LogLine | undefined {
  if (search !== undefined && !text.toLowerCase().includes(search.toLowerCase())) return undefined;
  const line = readLogLine(text);
  if (line === undefined || level === undefined) return line;
  return LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level) ? line : undefined;
}

function readCursor(cursor: string): { readonly name: string; readonly offset: number } {
  const [, name, offset] = /^(isthmus-[\d-]{15}\.log):(\d{1,12})$/.exec(cursor) ?? [];
  if (name !== undefined && offset !== undefined) return { name, offset: Number(offset) };
  throw invalidRequest(
    'cursor',
    'cursor: send the nextCursor of an earlier answer, or leave it out.',
  );
}

interface Piece {
  readonly lines: readonly { readonly text: string; readonly offset: number }[];
  /** Where the first of them begins. */
  readonly start: number;
  readonly bytes: number;
}

/** A file read from its end, whole lines at a time. */
class BackwardFile {
  readonly #opened: ReturnType<typeof open>;
  #end: number | undefined;

  constructor(path: string, end: number | undefined) {
    this.#opened = open(path, 'r');
    this.#end = end;
  }

  /** Undefined at the beginning of the file. A line longer than a piece is passed over. */
  async previous(): Promise<Piece | undefined> {
    const file = await this.#opened;
    const end = Math.min(this.#end ?? Number.MAX_SAFE_INTEGER, (await file.stat()).size);
    if (end <= 0) return undefined;
    const from = Math.max(0, end - PIECE_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
    const bytes = buffer.subarray(0, bytesRead);
    const firstEnd = from === 0 ? -1 : bytes.indexOf(LINE_END);
    const isCut = firstEnd === -1 && from > 0;
    const start = isCut ? from : from + firstEnd + 1;
    this.#end = start === end ? from : start;
    const lines = isCut ? [] : splitLines(bytes.subarray(start - from), start);
    return { lines, start: this.#end, bytes: bytesRead };
  }

  async close(): Promise<void> {
    const file = await this.#opened.catch(() => undefined);
    await file?.close();
  }
}

function splitLines(bytes: Buffer, at: number): Piece['lines'] {
  const lines: { text: string; offset: number }[] = [];
  let from = 0;
  while (from < bytes.length) {
    const found = bytes.indexOf(LINE_END, from);
    const end = found === -1 ? bytes.length : found;
    if (end > from) lines.push({ text: bytes.toString('utf8', from, end), offset: at + from });
    from = end + 1;
  }
  return lines;
}

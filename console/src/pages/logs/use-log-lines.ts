// The lines of the log: older ones by page, the newest as they are written while the list follows.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { LogLine } from '../../../../src/admin/contract.ts';
import { logHeadQuery, logPagesQuery } from '../../api/queries/logs.ts';
import type { Tone } from '../../components/meter.tsx';
import { useFollowingRows } from '../../components/use-following-rows.ts';
import { useReadMore } from '../../components/use-read-more.ts';

/** Lines have no name of their own: what they say makes one, with a number where they say the same. */
export interface NumberedLine extends LogLine {
  readonly id: string;
}

export interface LogLines {
  /** Undefined while the first page is read. */
  readonly lines: readonly NumberedLine[] | undefined;
  /** How many were written that are not shown yet, because the reader is further down. */
  readonly waiting: number;
  readonly error: unknown;
  readonly hasMore: boolean;
  readMore(): void;
  retry(): void;
}

export interface LogFollowing {
  readonly level: LogLevel | undefined;
  readonly search: string | undefined;
  readonly isFollowing: boolean;
  readonly isAtTop: boolean;
}

export function useLogLines({ level, search, isFollowing, isAtTop }: LogFollowing): LogLines {
  const client = useQueryClient();
  const pages = useInfiniteQuery(logPagesQuery({ level, search }));
  const { data: head } = useQuery(logHeadQuery({ level, search }, isFollowing));
  const older = useMemo(
    () => pages.data && numberLines(pages.data.pages.flatMap(({ lines }) => lines)),
    [pages.data],
  );
  const newest = useMemo(() => numberLines(head?.lines ?? []), [head]);
  const onGap = useCallback(() => {
    if (head === undefined) return;
    client.setQueryData(logPagesQuery({ level, search }).queryKey, {
      pages: [head],
      pageParams: [''],
    });
  }, [client, head, level, search]);
  const { rows, waiting } = useFollowingRows({
    older,
    newest,
    isWhole: head?.nextCursor === undefined,
    isAtTop,
    onGap,
  });
  return { lines: rows, waiting, ...useReadMore(pages) };
}

function numberLines(lines: readonly LogLine[]): readonly NumberedLine[] {
  const counts = new Map<string, number>();
  return lines.map((line) => {
    const text = JSON.stringify(line);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return { ...line, id: `${count} ${text}` };
  });
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const TONES: Readonly<Record<LogLevel, Tone>> = {
  trace: 'idle',
  debug: 'idle',
  info: 'ok',
  warn: 'warn',
  error: 'bad',
  fatal: 'bad',
};

/** A level of a newer gateway has no colour of its own. */
export function toneOfLevel(level: string): Tone {
  const known = LOG_LEVELS.find((one) => one === level);
  return known === undefined ? 'idle' : TONES[known];
}

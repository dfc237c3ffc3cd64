// Who changed what.

import { infiniteQueryOptions, keepPreviousData, useMutation } from '@tanstack/react-query';
import type { AuditEntry, AuditLog } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../client.ts';

export interface AuditFilter {
  readonly actor: AuditEntry['actor'] | undefined;
  /** The beginning of a path. */
  readonly about: string;
}

const PAGE_SIZE = 100;
const EXPORTED_AT_ONCE = 500;

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ signal, pageParam }) =>
      callApi<AuditLog>('GET', addressOf(filter, pageParam, PAGE_SIZE), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });

/** All entries of a filter, page after page. */
export function useReadAudit() {
  return useMutation({
    async mutationFn(filter: AuditFilter): Promise<readonly AuditEntry[]> {
      const entries: AuditEntry[] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const page: AuditLog = await callApi('GET', addressOf(filter, cursor, EXPORTED_AT_ONCE));
        entries.push(...page.entries);
        cursor = page.nextCursor;
      }
      return entries;
    },
  });
}

function addressOf({ actor, about }: AuditFilter, cursor: string, limit: number): string {
  return withQuery('/api/audit', { actor, about, cursor, limit });
}

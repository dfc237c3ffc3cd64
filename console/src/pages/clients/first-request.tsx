// Waits for the first request of a client that was just set up, and says when it came, or what is wrong with it.

import { Loader } from '@mantine/core';
import { IconAlertTriangle, IconArrowRight, IconCircleCheck } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestList, RequestRow } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../../api/client.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useFaults } from '../../i18n/use-sentences.ts';

export interface FirstRequestProps {
  /** The key that was made here; any request counts where none was. */
  readonly keyId: string | undefined;
}

const LOOKED_AT = 50;

export function FirstRequest({ keyId }: FirstRequestProps) {
  const { t } = useTranslation();
  const { data } = useQuery(newestQuery);
  /** Those that were there before: the clocks of gateway and browser may differ. */
  const [before, setBefore] = useState<ReadonlySet<string>>();
  useEffect(() => {
    if (data !== undefined) setBefore((known) => known ?? new Set(data.map(({ id }) => id)));
  }, [data]);
  const rows = before === undefined ? [] : (data ?? []).filter(({ id }) => !before.has(id));
  const own = rows.filter((row) => keyId === undefined || row.keyId === keyId);
  const good = own.findLast(({ outcome }) => outcome === 'ok');
  // Whoever sends a wrong key is nobody known.
  const bad = [...own, ...rows].find(
    ({ outcome, status }) => outcome === 'error' || status === 401,
  );
  const found = good ?? bad;
  return (
    <div className="first-request" role="status">
      {good !== undefined && (
        <p className="first-request-line is-ok">
          <IconCircleCheck size={18} aria-hidden="true" />
          <strong>{t('clients.arrived')}</strong>
        </p>
      )}
      {good === undefined && bad !== undefined && <Failed row={bad} />}
      {before !== undefined && found === undefined && (
        <p className="first-request-line">
          <Loader size="xs" type="dots" aria-hidden="true" />
          {t('clients.waiting')}
        </p>
      )}
      <LinkButton
        to="/requests"
        search={found === undefined ? {} : { id: found.id }}
        variant="default"
        size="xs"
        rightSection={<IconArrowRight size={14} />}
      >
        {t(found === undefined ? 'clients.toRequests' : 'clients.toRequest')}
      </LinkButton>
    </div>
  );
}

function Failed({ row }: { readonly row: RequestRow }) {
  const { t } = useTranslation();
  const say = useFaults(row.error !== undefined);
  return (
    <>
      <p className="first-request-line is-bad">
        <IconAlertTriangle size={18} aria-hidden="true" />
        <strong>{t('clients.arrivedBad', { status: row.status })}</strong>
      </p>
      {row.error !== undefined && <p className="wrap-anywhere">{say(row.error)}</p>}
      <p className="form-note">{t('clients.stillWaiting')}</p>
    </>
  );
}

/** The live feed makes it old with each request. */
const newestQuery = queryOptions({
  queryKey: ['requests', 'newest'],
  queryFn: async ({ signal }): Promise<readonly RequestRow[]> => {
    const path = withQuery('/api/requests', { limit: LOOKED_AT });
    const { requests } = await callApi<RequestList>('GET', path, { signal });
    return requests;
  },
  // What it held when the page was left is no longer the beginning.
  gcTime: 0,
});

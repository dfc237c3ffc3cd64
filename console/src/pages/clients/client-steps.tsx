// The steps of a set-up, each with a snippet to copy; the last one shows that it works.

import { Loader } from '@mantine/core';
import { IconAlertTriangle, IconArrowRight, IconCircleCheck } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestList, RequestRow } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../../api/client.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { findMatches, splitByMatches } from '../../components/find-matches.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useFaults } from '../../i18n/use-sentences.ts';
import type { Client, SetUp, Step, Way } from './client.ts';

export interface ClientStepsProps {
  readonly steps: readonly Step[];
  readonly way: Way;
  /** Stands where a key has to be put in by hand. */
  readonly gap: string;
  readonly keyId: string | undefined;
}

export function ClientSteps({ steps, way, gap, keyId }: ClientStepsProps) {
  const { t } = useTranslation();
  return (
    <ol className="client-steps">
      {steps.map((step) => (
        <StepItem key={step.kind} step={step} way={way} gap={gap} />
      ))}
      <li>
        <h3>{t('clients.worksTitle')}</h3>
        <p className="form-note">{t('clients.worksHint')}</p>
        <FirstRequest keyId={keyId} />
      </li>
    </ol>
  );
}

interface OneCommandProps {
  readonly client: Client;
  readonly setUp: SetUp;
  readonly way: Way;
  readonly gap: string;
}

/** For a machine that has the command: it writes what the steps say, and takes it back. */
export function OneCommand({ client, setUp, way, gap }: OneCommandProps) {
  const { t } = useTranslation();
  if (client.command === undefined) return null;
  const shell = way.id === 'powershell' ? 'powershell' : 'posix';
  return (
    <section className="one-command" aria-labelledby="one-command">
      <h3 id="one-command">{t('clients.oneCommand')}</h3>
      <p className="form-note">{t('clients.oneCommandHint')}</p>
      {VERBS.map((verb) => {
        const code = client.command?.(verb, setUp, shell) ?? '';
        return (
          <div key={verb} className="client-snippet">
            <p className="client-file">{t(`clients.verbs.${verb}`)}</p>
            <pre>
              <SnippetText code={code} gap={gap} />
            </pre>
            <CopyIcon text={code} label={t('clients.copy', { name: `isthmus ${verb}` })} />
          </div>
        );
      })}
      <h3>{t('clients.byHand')}</h3>
    </section>
  );
}

const VERBS = ['connect', 'launch'] as const;

interface StepItemProps {
  readonly step: Step;
  readonly way: Way;
  readonly gap: string;
}

function StepItem({ step: { kind, file, code }, way, gap }: StepItemProps) {
  const { t } = useTranslation();
  const title = t(`clients.steps.${kind}`);
  const profile = way.id === 'powershell' ? '$PROFILE' : '~/.zshrc, ~/.bashrc';
  return (
    <li>
      <h3>{title}</h3>
      {isHinted(kind) && <p className="form-note">{t(`clients.hints.${kind}`, { profile })}</p>}
      <div className="client-snippet">
        {file !== undefined && <p className="client-file mono">{file}</p>}
        <pre>
          <SnippetText code={code} gap={gap} />
        </pre>
        <CopyIcon text={code} label={t('clients.copy', { name: title })} />
      </div>
    </li>
  );
}

const HINTED = ['variables', 'file', 'signIn', 'once', 'address'] as const;

function isHinted(kind: Step['kind']): kind is (typeof HINTED)[number] {
  return HINTED.some((one) => one === kind);
}

/** With the gaps marked that are still to be filled. */
function SnippetText({ code, gap }: { readonly code: string; readonly gap: string }) {
  if (gap === '') return code;
  return splitByMatches(code, findMatches(code, gap), gap.length).map(({ at, piece, match }) =>
    match === undefined ? piece : <mark key={at}>{piece}</mark>,
  );
}

interface FirstRequestProps {
  /** The key that was made here; any request counts where none was. */
  readonly keyId: string | undefined;
}

const LOOKED_AT = 50;

function FirstRequest({ keyId }: FirstRequestProps) {
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

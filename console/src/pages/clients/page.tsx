// How programs are pointed at the gateway: a client to choose, and its steps with snippets to copy.

import { Alert, SegmentedControl } from '@mantine/core';
import { IconAlertTriangle, IconArrowRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { overviewQuery } from '../../api/queries/overview.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import type { Client, Way } from './client.ts';
import { ClientList, sayName } from './client-list.tsx';
import { ClientSteps, OneCommand } from './client-steps.tsx';
import { CLIENTS, findClient, findWay } from './clients.ts';
import { SetUpForm } from './set-up-form.tsx';
import { useSetUp } from './use-set-up.ts';
import './page.css';

export function ClientsPage() {
  const { t } = useTranslation();
  const { texts, open } = useSearchTexts();
  const client = findClient(texts.client ?? texts.id);
  const way = findWay(client, texts.with, /\bWindows\b/.test(navigator.userAgent));
  return (
    <>
      <PageHeader
        title={t('shell.pages.clients')}
        subtitle={t('clients.subtitle', { address: window.location.origin })}
      />
      <div className="clients-layout">
        <ClientList
          chosen={client}
          onChoose={(id) => open({ client: id === CLIENTS[0].id ? undefined : id, id: undefined })}
        />
        <div className="clients-content">
          <ClientPanel client={client} way={way} onWay={(id) => open({ with: id })} />
        </div>
      </div>
    </>
  );
}

/** Set up well, a client still gets no answer while no account can give one. */
function NobodyServes() {
  const { t } = useTranslation();
  const { data } = useQuery(overviewQuery);
  const isEmpty = data?.attention.some(({ kind }) => kind === 'no-accounts') === true;
  const isOut = data?.attention.some(({ kind }) => kind === 'no-usable-account') === true;
  if (!isEmpty && !isOut) return null;
  const kind = isEmpty ? 'no-accounts' : 'no-usable-account';
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={t(`overview.attentions.${kind}.message`)}
    >
      <p className="clients-way-out">{t(`overview.attentions.${kind}.wayOut`)}</p>
      <LinkButton
        to="/accounts"
        search={isEmpty ? { add: 'key' } : {}}
        variant="default"
        size="xs"
        rightSection={<IconArrowRight size={14} />}
      >
        {t(isEmpty ? 'overview.addAccount' : 'clients.toAccounts')}
      </LinkButton>
    </Alert>
  );
}

interface ClientPanelProps {
  readonly client: Client;
  readonly way: Way;
  readonly onWay: (id: string) => void;
}

function ClientPanel({ client, way, onWay }: ClientPanelProps) {
  const { t } = useTranslation();
  const state = useSetUp(client);
  if (!state.isLoaded)
    return <NotLoaded isMain error={state.error} onRetry={state.retry} height={620} radius="md" />;
  const name = sayName(client, t('clients.otherApp'));
  return (
    <>
      <NobodyServes />
      <Panel
        className="client-panel"
        title={name}
        actions={
          <SegmentedControl
            size="xs"
            aria-label={t('clients.ways', { name })}
            value={way.id}
            onChange={onWay}
            data={client.ways.map(({ id, name: label }) => ({ value: id, label }))}
          />
        }
      >
        <SetUpForm state={state} name={name} />
        <OneCommand client={client} setUp={state.setUp} way={way} gap={state.gap} />
        <ClientSteps
          steps={way.write(state.setUp)}
          way={way}
          gap={state.gap}
          keyId={state.made?.id}
        />
        {client.id === 'claude-code' && (
          <p className="form-note client-note">{t('clients.permissionNote')}</p>
        )}
      </Panel>
    </>
  );
}

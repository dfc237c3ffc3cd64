// The wire of the last exchange: the request as sent, the response as it came, and both as a command.

import { Tabs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '../../components/panel.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useFormat } from '../../components/use-format.ts';
import type { Exchange } from '../../wire/send-request.ts';
import { writeCurl } from '../../wire/write-curl.ts';
import { MAX_RAW_LENGTH, type Wire } from './use-conversation.ts';

export interface WirePanelProps {
  readonly wire: Wire | undefined;
  readonly isBusy: boolean;
  readonly hasKey: boolean;
}

const TABS = ['request', 'response', 'curl'] as const;

export function WirePanel({ wire, isBusy, hasKey }: WirePanelProps) {
  const { t } = useTranslation();
  return (
    <Panel isFlush className="playground-wire" title={t('playground.wire')}>
      {wire === undefined ? (
        <p className="wire-empty dimmed">{t('playground.wireEmpty')}</p>
      ) : (
        <Tabs defaultValue="response" keepMounted={false}>
          <Tabs.List aria-label={t('playground.wire')}>
            {TABS.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {t(`playground.wireTabs.${name}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="request" p="md">
            <RequestText wire={wire} />
          </Tabs.Panel>
          <Tabs.Panel value="response" p="md">
            <ResponseText wire={wire} isBusy={isBusy} />
          </Tabs.Panel>
          <Tabs.Panel value="curl" p="md">
            <TextView
              text={writeCurl(window.location.origin, wire.request, hasKey)}
              label={t('playground.curlText')}
              isPlain
            />
          </Tabs.Panel>
        </Tabs>
      )}
    </Panel>
  );
}

function RequestText({ wire }: { readonly wire: Wire }) {
  const { t } = useTranslation();
  const { request } = wire;
  const text = useMemo(() => {
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    const head = [`POST ${request.path}`, ...headers].join('\n');
    return `${head}\n\n${JSON.stringify(request.body, null, 2)}`;
  }, [request]);
  return <TextView text={text} label={t('playground.requestText')} />;
}

interface ResponseTextProps {
  readonly wire: Wire;
  readonly isBusy: boolean;
}

function ResponseText({ wire, isBusy }: ResponseTextProps) {
  const { t } = useTranslation();
  const { exchange, raw, isCut } = wire;
  return (
    <div className="form-stack">
      {exchange !== undefined && <StatusLine exchange={exchange} isBusy={isBusy} />}
      <TextView text={raw} label={t('playground.responseText')} />
      {isCut && (
        <p className="form-note">
          {t('playground.cut', { size: `${Math.round(MAX_RAW_LENGTH / 1000)} kB` })}
        </p>
      )}
    </div>
  );
}

interface StatusLineProps {
  readonly exchange: Exchange;
  readonly isBusy: boolean;
}

function StatusLine({ exchange, isBusy }: StatusLineProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { status, firstByteMs, totalMs, requestId } = exchange;
  const first = format.duration(firstByteMs);
  return (
    <div className="wire-status">
      <span>
        {totalMs === undefined
          ? t('playground.statusRunning', { status, first })
          : t('playground.statusLine', { status, first, total: format.duration(totalMs) })}
      </span>
      {requestId !== undefined && !isBusy && (
        <Link to="/requests" search={{ id: requestId }}>
          {t('playground.openRecord')}
        </Link>
      )}
    </div>
  );
}

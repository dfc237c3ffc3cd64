// The wire of the last exchange: the request as sent, to be edited and sent again, the response as it came, and a command.

import { Button, Tabs, Textarea } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '../../components/panel.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useFormat } from '../../components/use-format.ts';
import type { Exchange } from '../../wire/send-request.ts';
import { writeCurl } from '../../wire/write-curl.ts';
import type { WireRequest } from '../../wire/write-request.ts';
import { MAX_RAW_LENGTH, type Wire } from './use-conversation.ts';

export interface WirePanelProps {
  readonly wire: Wire | undefined;
  readonly isBusy: boolean;
  readonly hasKey: boolean;
  /** Sends the request again with this body. */
  readonly onSendBody: (body: WireRequest['body']) => void;
}

const TABS = ['request', 'response', 'curl'] as const;

export function WirePanel({ wire, isBusy, hasKey, onSendBody }: WirePanelProps) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<string | null>('response');
  const [edited, setEdited] = useState<string>();
  return (
    <Panel isFlush className="playground-wire" title={t('playground.wire')}>
      {wire === undefined ? (
        <p className="wire-empty dimmed">{t('playground.wireEmpty')}</p>
      ) : (
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List aria-label={t('playground.wire')}>
            {TABS.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {t(`playground.wireTabs.${name}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="request" p="md">
            {edited === undefined ? (
              <>
                <RequestText wire={wire} />
                <Button
                  mt="sm"
                  size="xs"
                  variant="default"
                  disabled={isBusy}
                  leftSection={<IconPencil size={15} />}
                  onClick={() => setEdited(JSON.stringify(wire.request.body, null, 2))}
                >
                  {t('playground.editBody')}
                </Button>
              </>
            ) : (
              <BodyForm
                text={edited}
                isBusy={isBusy}
                onText={setEdited}
                onCancel={() => setEdited(undefined)}
                onSend={(body) => {
                  setEdited(undefined);
                  setTab('response');
                  onSendBody(body);
                }}
              />
            )}
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

interface BodyFormProps {
  readonly text: string;
  readonly isBusy: boolean;
  readonly onText: (text: string) => void;
  readonly onCancel: () => void;
  readonly onSend: (body: WireRequest['body']) => void;
}

/** What is typed stays while one looks at another tab. */
function BodyForm({ text, isBusy, onText, onCancel, onSend }: BodyFormProps) {
  const { t } = useTranslation();
  const body = useMemo(() => readBody(text), [text]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (body !== undefined && !isBusy) onSend(body);
  };
  return (
    <form className="form-stack" onSubmit={submit}>
      <Textarea
        label={t('playground.body')}
        autosize
        minRows={10}
        maxRows={26}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        error={body === undefined ? t('playground.badBody') : undefined}
        value={text}
        onChange={({ currentTarget }) => onText(currentTarget.value)}
      />
      <div className="dialog-actions">
        <Button size="xs" variant="default" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button size="xs" type="submit" disabled={body === undefined || isBusy}>
          {t('playground.sendBody')}
        </Button>
      </div>
    </form>
  );
}

function readBody(text: string): WireRequest['body'] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value));
  } catch {
    return undefined;
  }
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

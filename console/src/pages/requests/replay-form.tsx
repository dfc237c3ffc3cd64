// Sends a recorded request again, to the account and model of one's choice, and shows the difference.

import { Autocomplete, Button, Select } from '@mantine/core';
import { IconRepeat, IconRepeatOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Replay, RequestDetail } from '../../../../src/admin/contract.ts';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { useReplay } from '../../api/queries/requests.ts';
import { useMay } from '../../api/queries/session.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { formatJson } from '../../components/format-json.ts';
import { StatusMark } from '../../components/status-mark.tsx';
import { TextView } from '../../components/text-view.tsx';
import { KeepBodies } from './bodies.tsx';
import { PROTOCOLS } from './filters.ts';

export function ReplayForm({ detail }: { readonly detail: RequestDetail }) {
  const { replay } = detail;
  return replay === 'possible' ? <SendAgain detail={detail} /> : <NoReplay why={replay} />;
}

/** Said before anybody presses a button that can only fail. */
function NoReplay({ why }: { readonly why: Exclude<RequestDetail['replay'], 'possible'> }) {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconRepeatOff size={32} stroke={1.5} />}
      title={t('requests.noReplay')}
      hint={t(`requests.noReplayHints.${why}`)}
      action={why === 'not-kept' && <KeepBodies />}
    />
  );
}

function SendAgain({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const replay = useReplay();
  const mayReplay = useMay('operator');
  const [account, setAccount] = useState<string | null>(null);
  const [model, setModel] = useState('');
  const [protocol, setProtocol] = useState<string | null>(null);
  const accounts = useQuery(accountsQuery);
  const models = useQuery(modelsQuery);
  const send = (): void =>
    replay.mutate({
      id: detail.id,
      account: account ?? undefined,
      model: model.trim() === '' ? undefined : model.trim(),
      protocol: protocol ?? undefined,
    });
  return (
    <div className="form-stack">
      <p className="form-note">{t('requests.replayHint')}</p>
      <div className="form-row">
        <Select
          label={t('requests.replayAccount')}
          placeholder={t('requests.replayAnyAccount')}
          data={[...new Set(accounts.data?.accounts.map(({ label }) => label))]}
          value={account}
          onChange={setAccount}
          searchable
          clearable
        />
        <Autocomplete
          label={t('requests.replayModel')}
          placeholder={t('requests.replaySameModel', { model: detail.model })}
          data={[...new Set(models.data?.models.map(({ id }) => id))]}
          limit={40}
          value={model}
          onChange={setModel}
        />
        <Select
          label={t('requests.replayProtocol')}
          placeholder={t('requests.replaySameProtocol', { protocol: detail.protocol })}
          data={PROTOCOLS.map((value) => ({ value, label: t(`protocols.${value}`) }))}
          value={protocol}
          onChange={setProtocol}
          clearable
        />
      </div>
      <div>
        <Button
          leftSection={<IconRepeat size={16} />}
          disabled={!mayReplay}
          loading={replay.isPending}
          onClick={send}
        >
          {t('requests.replay')}
        </Button>
      </div>
      {replay.error !== null && <ErrorNote error={replay.error} />}
      {replay.data !== undefined && <ReplayResult replay={replay.data} detail={detail} />}
    </div>
  );
}

interface ReplayResultProps {
  readonly replay: Replay;
  readonly detail: RequestDetail;
}

function ReplayResult({ replay, detail }: ReplayResultProps) {
  const { t } = useTranslation();
  const isGood = replay.status < 400;
  const hasBefore = detail.response !== undefined || detail.error !== undefined;
  return (
    <>
      <div className="replay-result" role="status">
        <StatusMark tone={isGood ? 'ok' : 'bad'}>
          {t('requests.replayed', { status: replay.status })}
        </StatusMark>
        {replay.account !== undefined && (
          <span className="dimmed wrap-anywhere">
            {replay.account} {replay.upstreamModel} · {replay.protocol}
          </span>
        )}
        <Link to="/requests" search={{ id: replay.requestId }}>
          {t('requests.openReplay')}
        </Link>
      </div>
      {replay.protocol !== detail.protocol && (
        <section className="body">
          <div className="body-head">
            <h3>{t('requests.rawReply')}</h3>
          </div>
          <TextView text={formatJson(replay.body)} label={t('requests.rawReply')} />
        </section>
      )}
      {hasBefore ? (
        <Differences lines={replay.differences} />
      ) : (
        <>
          <p className="form-note">{t('requests.onlyNew')}</p>
          <TextView
            text={replay.text === '' ? replay.body : replay.text}
            label={t('requests.response')}
          />
        </>
      )}
    </>
  );
}

const LINES = { same: 'span', removed: 'del', added: 'ins' } as const;

function Differences({ lines }: { readonly lines: Replay['differences'] }) {
  const { t } = useTranslation();
  if (lines.every(({ kind }) => kind === 'same')) {
    return <p className="form-note">{t('requests.noDifference')}</p>;
  }
  return (
    <section className="body">
      <div className="body-head">
        <h3>{t('requests.differences')}</h3>
        <span className="difference-legend">
          <span className="is-removed">{t('requests.recorded')}</span>
          <span className="is-added">{t('requests.fresh')}</span>
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="difference" tabIndex={0}>
        {lines.map(({ kind, text }, index) => {
          const Line = LINES[kind];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
            <Line key={index}>
              {text}
              {'\n'}
            </Line>
          );
        })}
      </pre>
    </section>
  );
}

// What a request was, in one view: the reason of a failure first.

import { ActionIcon, Alert, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconFilter } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestDetail } from '../../../../src/admin/contract.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { useRefusalWords } from '../../components/use-refusal-words.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { shortSession } from './short-session.ts';

const ALERT_COLOURS = { ok: 'yellow', error: 'red', cancelled: 'gray' } as const;

export function Summary({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const say = useSentences();
  const sayRefusal = useRefusalWords();
  const { error, errorKind } = detail;
  return (
    <div className="form-stack">
      {error !== undefined && (
        <Alert
          color={ALERT_COLOURS[detail.outcome]}
          variant="light"
          icon={<IconAlertTriangle size={18} />}
          title={t(detail.outcome === 'ok' ? 'requests.withheldTitle' : 'requests.failedTitle')}
        >
          <span className="wrap-anywhere">{say(error)}</span>
          {errorKind !== undefined && (
            <span className="sub-line">
              {sayRefusal(errorKind)} · <span className="mono">{errorKind}</span>
            </span>
          )}
          <LastWords detail={detail} />
          {detail.errorGroup !== undefined && (
            <p className="last-words">
              <Link to="/requests" search={{ error: detail.errorGroup }}>
                {t('requests.sameErrors')}
              </Link>
            </p>
          )}
          {errorKind === 'not-found' && detail.model !== '' && (
            <Link to="/routing" search={{ name: detail.model }}>
              {t('requests.seeRoute')}
            </Link>
          )}
        </Alert>
      )}
      <Timings detail={detail} />
      <Facts detail={detail} />
    </div>
  );
}

/** Of the last attempt, where they say more than the client was told. */
function LastWords({ detail: { attemptsList, error } }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const say = useSentences();
  const words = attemptsList.at(-1)?.detail;
  if (words === undefined || words.text === error?.text) return null;
  return (
    <p className="last-words">
      <span className="dimmed">{t('requests.lastWords')}</span>{' '}
      <span className="wrap-anywhere">{say(words)}</span>
    </p>
  );
}

/** The gateway's own key has no name, and some requests need no key. */
function sayKey({ keyName, keyId }: RequestDetail, t: TFunction): string {
  if (keyName !== undefined) return keyName;
  if (keyId === 'api-key') return t('requests.gatewayKey');
  return keyId === 'local' || keyId === 'open' ? t('requests.noKey') : keyId;
}

function Facts({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const clock = useClock();
  const { userAgent, session, replica, modelVersion, account, finishReasons } = detail;
  const keyShown = sayKey(detail, t);
  return (
    <dl className="facts">
      <Fact name={t('requests.id')}>
        <span className="mono wrap-anywhere">{detail.requestId ?? detail.id}</span>
        <CopyIcon text={detail.requestId ?? detail.id} label={t('requests.copyId')} />
      </Fact>
      <Fact name={t('requests.at')}>
        <span title={format.absolute(detail.at)}>{clock.exact(detail.at)}</span>
      </Fact>
      <Fact name={t('requests.endpoint')}>
        <span className="mono wrap-anywhere">
          {detail.method} {detail.path}
        </span>
        <span className="sub-line">
          {detail.protocol} · {t(detail.stream ? 'requests.streamed' : 'requests.whole')}
        </span>
      </Fact>
      <Fact name={t('requests.modelWay')}>
        <ModelWay detail={detail} />
        {detail.model !== '' && <OthersLink name={detail.model} search={{ model: detail.model }} />}
      </Fact>
      {modelVersion !== undefined && (
        <Fact name={t('requests.modelVersion')}>
          <span className="mono wrap-anywhere">{modelVersion}</span>
        </Fact>
      )}
      <Fact name={t('requests.account')}>
        {account === undefined ? (
          '–'
        ) : (
          <Link to="/accounts" search={() => ({ q: account })} className="wrap-anywhere">
            {account}
          </Link>
        )}
        {account !== undefined && <OthersLink name={account} search={{ account }} />}
      </Fact>
      <Fact name={t('requests.usage')}>
        <TokenCounts detail={detail} />
      </Fact>
      <Fact name={t('requests.cost')}>
        <Cost detail={detail} />
      </Fact>
      {finishReasons !== undefined && (
        <Fact name={t('requests.ended')}>
          {finishReasons.map((reason) => t(`requests.endings.${reason}`)).join(' · ')}
        </Fact>
      )}
      <Fact name={t('requests.key')}>
        {keyShown}
        <OthersLink name={keyShown} search={{ key: detail.keyId }} />
      </Fact>
      {(['owner', 'team'] as const).map((what) => {
        const name = detail[what];
        return (
          name !== undefined && (
            <Fact key={what} name={t(`requests.${what}`)}>
              <span className="wrap-anywhere">{name}</span>
              <OthersLink name={name} search={{ [what]: name }} />
            </Fact>
          )
        );
      })}
      {detail.tags !== undefined && (
        <Fact name={t('requests.tags')}>
          <span className="wrap-anywhere">{detail.tags.join(', ')}</span>
        </Fact>
      )}
      <Fact name={t('requests.client')}>
        <span className="mono">{detail.clientAddress}</span>
        {detail.clientAddress !== '' && (
          <OthersLink name={detail.clientAddress} search={{ client: detail.clientAddress }} />
        )}
        {userAgent !== undefined && <span className="sub-line wrap-anywhere">{userAgent}</span>}
      </Fact>
      {replica !== undefined && (
        <Fact name={t('requests.replica')}>
          <span className="mono wrap-anywhere">{replica}</span>
          <OthersLink name={replica} search={{ replica }} />
        </Fact>
      )}
      {session !== undefined && (
        <Fact name={t('requests.session')}>
          <Link to="/requests/session" search={{ session }} className="mono wrap-anywhere">
            {shortSession(session)}
          </Link>
          <OthersLink name={shortSession(session)} search={{ session }} />
        </Fact>
      )}
    </dl>
  );
}

interface OthersLinkProps {
  readonly name: string;
  readonly search: Readonly<Record<string, string>>;
}

/** Leads to all requests that have the same of something. */
function OthersLink({ name, search }: OthersLinkProps) {
  const { t } = useTranslation();
  const label = t('requests.others', { name });
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={label}
        renderRoot={(props) => <Link {...props} to="/requests" search={search} />}
      >
        <IconFilter size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function ModelWay({ detail }: { readonly detail: RequestDetail }) {
  const way = [detail.model, detail.routedModel, detail.upstreamModel].filter(
    (name, index, all): name is string =>
      name !== undefined && name !== '' && name !== all[index - 1],
  );
  if (way.length === 0) return '–';
  return <span className="mono wrap-anywhere">{way.join(' → ')}</span>;
}

const TOKEN_COUNTS = [
  ...(['inputTokens', 'outputTokens'] as const),
  ...(['cachedTokens', 'cacheWriteTokens', 'thoughtTokens'] as const),
] as const;

function TokenCounts({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const counts = TOKEN_COUNTS.map((name) => ({ name, count: detail[name] }))
    .filter(({ name, count }) => count !== undefined && (count > 0 || /put/.test(name)))
    .map(({ name, count = 0 }) => `${format.number(count)} ${t(`requests.${name}`)}`);
  if (detail.images !== undefined && detail.images > 0) {
    counts.push(t('requests.images', { count: detail.images }));
  }
  if (counts.length === 0) return '–';
  return (
    <>
      {counts.join(' · ')}
      {detail.isEstimate === true && <span className="sub-line">{t('requests.estimated')}</span>}
    </>
  );
}

/** What it cost, or would have, and how that comes about. */
function Cost({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { costNanos, flatRateNanos, cacheSavingsNanos = 0, costBasis, charges = [] } = detail;
  /** Prices are those of a million tokens, or of one picture. */
  const million = ` / ${format.compact(1_000_000)}`;
  if (costBasis === undefined) return <span title={t('requests.noPrice')}>–</span>;
  const amounts = [
    ...(costNanos === undefined ? [] : [format.money(costNanos)]),
    ...(flatRateNanos === undefined
      ? []
      : [t('requests.flatRate', { amount: format.money(flatRateNanos) })]),
    ...(cacheSavingsNanos === 0
      ? []
      : [t('requests.cacheSaved', { amount: format.money(cacheSavingsNanos) })]),
  ];
  return (
    <>
      {amounts.join(' · ')}
      <span className="sub-line">{t(`requests.costBasis.${costBasis}`)}</span>
      {charges.map((charge) => (
        <span key={JSON.stringify(charge)} className="sub-line wrap-anywhere">
          {[charge.price.model, charge.price.date, charge.price.source].filter(Boolean).join(' · ')}
          {': '}
          {charge.parts
            .map(({ kind, count, rate }) => {
              const price = `${format.price(rate)}${kind === 'image' ? '' : million}`;
              return `${format.number(count)} ${t(`requests.chargeKinds.${kind}`)} × ${price}`;
            })
            .join(' + ')}
        </span>
      ))}
    </>
  );
}

/** Where the time of a request went, as a bar. */
function Timings({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { totalMs, timings, stream, firstEventMs } = detail;
  // A request that failed before has no first token, and a whole answer comes with all of them.
  const hasFirst = stream && firstEventMs !== undefined;
  const firstMs = Math.min(firstEventMs ?? 0, totalMs);
  const restMs = totalMs - firstMs;
  const first = format.duration(firstMs);
  const rest = format.duration(restMs);
  const share = totalMs === 0 ? 100 : (firstMs / totalMs) * 100;
  return (
    <div className="timings">
      <div className="timings-total">
        <span>{t('requests.timings')}</span>
        <strong>{format.duration(totalMs)}</strong>
      </div>
      {hasFirst && (
        <div
          className="timings-bar"
          role="img"
          aria-label={t('requests.timingsLabel', { first, rest })}
        >
          <span className="is-first" style={{ inlineSize: `${share}%` }} />
          <span className="is-rest" style={{ inlineSize: `${100 - share}%` }} />
        </div>
      )}
      <ul className="timings-legend">
        {hasFirst && (
          <li className="is-first">
            {t('requests.firstEvent')} <strong>{first}</strong>
          </li>
        )}
        {hasFirst && restMs > 0 && (
          <li className="is-rest">
            {t('requests.rest')} <strong>{rest}</strong>
          </li>
        )}
        {timings.upstreamMs !== undefined && (
          <li className="is-bare">
            {t('requests.upstream')} <strong>{format.duration(timings.upstreamMs)}</strong>
          </li>
        )}
      </ul>
    </div>
  );
}

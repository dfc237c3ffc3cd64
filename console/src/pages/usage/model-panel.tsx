// What usage does not sum of one model: how often it succeeds, who serves it, its price, and where to go on.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { priceQuery } from '../../api/queries/models.ts';
import { useMay } from '../../api/queries/session.ts';
import { usageQuery } from '../../api/queries/usage.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useNow } from '../../components/now.tsx';
import { Panel } from '../../components/panel.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useFormat } from '../../components/use-format.ts';
import { sumAll } from './sum-usage.ts';
import { startOfPeriod, type UsageView } from './usage-view.ts';

const RATES = ['input', 'cachedInput', 'cacheWrite', 'output', 'thought', 'image'] as const;

interface ModelProps {
  readonly model: string;
}

export function ModelPanel({ model, view }: ModelProps & { readonly view: UsageView }) {
  const { t } = useTranslation();
  const mayPrice = useMay('operator');
  const { period, step, zone, filter } = view;
  const from = startOfPeriod(period, useNow(), zone);
  const { data } = useQuery(usageQuery({ from, step, by: 'account', timeZone: zone, filter }));
  const { data: known } = useQuery(accountsQuery);
  const labels = (data?.groups ?? []).flatMap(({ group }) => (group === '' ? [] : [group]));
  const upstreams = new Set(
    labels.flatMap((label) => known?.accounts.find((one) => one.name === label)?.upstream ?? []),
  );
  return (
    <Panel
      title={<span className="mono wrap-anywhere">{model}</span>}
      actions={
        <>
          <LinkButton to="/routing" search={{ name: model }} variant="subtle" size="compact-sm">
            {t('shell.pages.routing')}
          </LinkButton>
          <LinkButton
            to="/requests"
            search={{ ...filter, from: String(from) }}
            variant="subtle"
            size="compact-sm"
          >
            {t('shell.pages.requests')}
          </LinkButton>
        </>
      }
    >
      <dl className="model-facts">
        <dt>{t('usage.successShare')}</dt>
        <dd>
          <SuccessShare sum={sumAll(data?.totals ?? [])} />
        </dd>
        <dt>{t('usage.servedBy')}</dt>
        <dd>
          {labels.length === 0 && '–'}
          {labels.map((label, nth) => (
            <span key={label}>
              {nth > 0 && ' · '}
              <Link to="/accounts" search={{ q: label }} className="wrap-anywhere">
                {label}
              </Link>
            </span>
          ))}
        </dd>
        <dt>{t('usage.price')}</dt>
        <dd>
          {[...(upstreams.size === 0 ? [''] : upstreams)].map((upstream) => (
            <ModelPrice key={upstream} upstream={upstream} model={model} />
          ))}
          {mayPrice && (
            <Link to="/routing" search={{ price: model }}>
              {t('usage.setPrice')}
            </Link>
          )}
        </dd>
      </dl>
    </Panel>
  );
}

function SuccessShare({ sum }: { readonly sum: ReturnType<typeof sumAll> }) {
  const format = useFormat();
  const { requests, errors } = sum;
  if (requests === 0) return '–';
  const percent = ((requests - errors) / requests) * 100;
  return <StatusMark tone={percent > 95 ? 'ok' : 'bad'}>{format.percent(percent)}</StatusMark>;
}

function ModelPrice({ upstream, model }: ModelProps & { readonly upstream: string }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { data } = useQuery(priceQuery(upstream, model));
  if (data === undefined) return <p>…</p>;
  const { found } = data;
  if (found === undefined) return <p>{t('requests.noPrice')}</p>;
  const rates = RATES.flatMap((kind) => {
    const rate = found.rates[kind];
    if (typeof rate !== 'number') return [];
    return [`${t(`requests.chargeKinds.${kind}`)} ${format.price(rate)}`];
  });
  const source = [found.models[0], found.date, found.source].filter(Boolean).join(' · ');
  return (
    <p className="wrap-anywhere" title={source}>
      {upstream !== '' && `${upstream}: `}
      {rates.join(' · ')}
      <span className="sub-line">
        {t('usage.perMillion')} · {t(`requests.costBasis.${found.basis}`)}
      </span>
    </p>
  );
}

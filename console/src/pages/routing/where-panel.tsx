// Answers, while one types, where a model name goes and by which steps.

import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowRight, IconRoute } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RouteExplanation } from '../../../../src/admin/contract.ts';
import { routeQuery } from '../../api/queries/models.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { useAddressText } from '../../components/use-address-text.ts';
import { useSentences } from '../../i18n/use-sentences.ts';

const PAUSE_MS = 200;

export interface Where {
  readonly name: string;
  ask(name: string): void;
  readonly explanation: RouteExplanation | undefined;
  readonly error: Error | null;
  /** The entry of the mapping that sends the name on, if one does. */
  readonly decidingKey: string | undefined;
}

type Step = RouteExplanation['steps'][number];

const MAPPING_STEPS: ReadonlySet<Step['kind']> = new Set<Step['kind']>([
  'mapping-exact',
  'mapping-pattern',
]);

export function useWhere(): Where {
  const [name, ask] = useAddressText('name');
  const [asked] = useDebouncedValue(name.trim(), PAUSE_MS);
  const { data, error } = useQuery(routeQuery(asked));
  const explanation = asked === '' ? undefined : data;
  const decision = explanation?.steps.find(({ kind }) => MAPPING_STEPS.has(kind));
  return { name, ask, explanation, error, decidingKey: decision?.name };
}

export function WherePanel({ where }: { readonly where: Where }) {
  const { t } = useTranslation();
  const { name, ask, explanation, error } = where;
  return (
    <section className="panel where" aria-label={t('routing.whereTitle')}>
      <label htmlFor="where-name">{t('routing.whereTitle')}</label>
      <TextInput
        id="where-name"
        size="md"
        data-page-search
        aria-description={t('routing.whereLabel')}
        placeholder={t('routing.wherePlaceholder')}
        leftSection={<IconRoute size={18} />}
        spellCheck={false}
        autoComplete="off"
        value={name}
        onChange={(event) => ask(event.currentTarget.value)}
      />
      <div className="where-answer" aria-live="polite">
        {error !== null && name !== '' ? (
          <ErrorNote error={error} />
        ) : explanation === undefined || name.trim() === '' ? (
          <p className="dimmed">{t('routing.whereEmpty')}</p>
        ) : (
          <Answer explanation={explanation} />
        )}
      </div>
    </section>
  );
}

function Answer({ explanation }: { readonly explanation: RouteExplanation }) {
  const { t } = useTranslation();
  const say = useSentences();
  const { asked, target, servedAs, steps, chain, error } = explanation;
  const extras = useExtras(explanation);
  return (
    <>
      <p className={servedAs === null ? 'where-line is-nowhere' : 'where-line'}>
        <span className="mono wrap-anywhere">{asked}</span>
        <IconArrowRight size={18} aria-label={t('routing.goesTo')} />
        <strong className="mono wrap-anywhere">{target ?? t('routing.goesNowhere')}</strong>
        {servedAs !== null && servedAs !== target && (
          <span className="where-extra">{t('routing.servedAs', { id: servedAs })}</span>
        )}
        {extras.map((extra) => (
          <span key={extra} className="where-extra">
            {extra}
          </span>
        ))}
        {servedAs !== null && (
          <span className="small">
            <Link to="/usage" search={{ model: servedAs, by: 'account' }}>
              {t('routing.usageOfModel')}
            </Link>
          </span>
        )}
      </p>
      {chain !== undefined && <Chain chain={chain} />}
      {error !== null && <p className="where-error wrap-anywhere">{say(error)}</p>}
      {asked.startsWith('@') && (
        <p className="where-error wrap-anywhere">{t('routing.chainOnly', { name: asked })}</p>
      )}
      {steps.length > 0 && (
        <ol className="where-steps">
          {steps.filter(isNew).map(({ kind, name, target: to, detail = '' }) => (
            <li key={`${kind} ${name} ${to}`} className="wrap-anywhere">
              {t(`routing.steps.${kind}`, { name, target: to, detail })}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** The steps of a target: of the models of one the heavier is tried first more often. */
function Chain({ chain }: { readonly chain: NonNullable<RouteExplanation['chain']> }) {
  const { t } = useTranslation();
  return (
    <ol className="where-chain" aria-label={t('routing.chain')}>
      {chain.map((step) => (
        <li key={step.map(({ name }) => name).join(' ')}>
          {step.map(({ name, weight, servedAs }) => (
            <span key={name} className="where-line">
              <strong className="mono wrap-anywhere">{name}</strong>
              {step.length > 1 && (
                <span className="where-extra">{t('routing.weight', { weight })}</span>
              )}
              <span className="where-extra">
                {servedAs === null
                  ? t('routing.notServed')
                  : t('routing.servedAs', { id: servedAs })}
              </span>
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** A way may come by the same place twice. */
function isNew({ text }: Step, place: number, steps: readonly Step[]): boolean {
  return steps.findIndex((step) => step.text === text) === place;
}

/** What the name asks for besides a model. */
function useExtras({ thinking, effort, webSearch, image }: RouteExplanation): readonly string[] {
  const { t } = useTranslation();
  const size = [image?.aspectRatio, image?.size].filter(Boolean).join(' ');
  return [
    thinking === null ? '' : t('routing.thinking', { value: thinking }),
    effort === null ? '' : t('routing.effort', { value: effort }),
    webSearch ? t('routing.webSearch') : '',
    size === '' ? '' : t('routing.image', { value: size }),
  ].filter((text) => text !== '');
}

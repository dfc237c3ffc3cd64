// The variables of the environment: what each is for, what is in force, where that comes from, and how to change it.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { EnvironmentVariable } from '../../../../src/admin/contract.ts';
import { environmentQuery } from '../../api/queries/environment.ts';
import { Hint } from '../../components/hint.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import type { en } from '../../i18n/en.ts';
import { placeOfVariable } from '../../settings/setting-places.ts';

export function EnvironmentPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(environmentQuery);
  if (data === undefined) {
    return (
      <Panel title={t('settings.groups.environment')} hint={t('settings.groupHints.environment')}>
        <NotLoaded error={error} onRetry={() => void refetch()} height="100vh" />
      </Panel>
    );
  }
  const given = data.variables.filter(isGiven);
  const others = data.variables.filter((variable) => !isGiven(variable));
  return (
    <>
      <Panel
        isFlush
        title={t('environment.given')}
        hint={t(given.length === 0 ? 'environment.noneGiven' : 'environment.givenHint')}
      >
        <VariableList variables={given} />
      </Panel>
      <Panel isFlush title={t('environment.others')} hint={t('environment.othersHint')}>
        <VariableList variables={others} />
      </Panel>
    </>
  );
}

function VariableList({ variables }: { readonly variables: readonly EnvironmentVariable[] }) {
  return (
    <ul className="variables">
      {variables.map((variable) => (
        <VariableLine key={variable.name} variable={variable} />
      ))}
    </ul>
  );
}

function VariableLine({ variable }: { readonly variable: EnvironmentVariable }) {
  const { t } = useTranslation();
  const about = useVariableText();
  const { name, flag, origin } = variable;
  return (
    <li>
      <div>
        <strong className="mono wrap-anywhere">{name}</strong>
        {flag !== null && <span className="variable-flag mono">{flag}</span>}
        <p className="setting-hint">{about(variable)}</p>
      </div>
      <div className="variable-now">
        <VariableValue variable={variable} />
        {(isGiven(variable) || origin === 'file') && (
          <span className={`variable-origin is-${origin}`}>
            {t(`environment.origins.${origin}`)}
          </span>
        )}
        <ChangeNote variable={variable} />
      </div>
    </li>
  );
}

function VariableValue({ variable }: { readonly variable: EnvironmentVariable }) {
  const { t } = useTranslation();
  const { isSet, isSecret, value } = variable;
  if (!isSet || (!isSecret && value === null)) {
    return <span className="dimmed">{t('environment.unset')}</span>;
  }
  if (isSecret) return <span>{t('settings.secretHidden')}</span>;
  return <span className="mono wrap-anywhere">{value}</span>;
}

/** Where it is changed, and from when on that counts. */
function ChangeNote({ variable }: { readonly variable: EnvironmentVariable }) {
  const { t } = useTranslation();
  const { name, restart } = variable;
  const place = isGiven(variable) ? undefined : placeOfVariable(name);
  return (
    <p className="variable-change">
      {restart !== null && (
        <Hint label={t(`environment.restart.${restart}`)}>
          <span className="setting-mark is-warn">{t('environment.needsRestart')}</span>
        </Hint>
      )}
      {place !== undefined && (
        <Link to={place.to} search={place.search}>
          {t(restart === null ? 'environment.changeAtOnce' : 'environment.change')}
        </Link>
      )}
    </p>
  );
}

/** Said by the environment or a flag, and so locked here. */
function isGiven({ origin }: EnvironmentVariable): boolean {
  return origin === 'environment' || origin === 'flag';
}

type Known = keyof (typeof en)['environment']['about'];

/** A variable that this console has no words for is told in the gateway's own. */
function useVariableText(): (variable: EnvironmentVariable) => string {
  const { t, i18n: texts } = useTranslation();
  return ({ name, summary }) =>
    isKnown(texts, name) ? t(`environment.about.${name}`) : summary.replaceAll('`', '');
}

function isKnown(texts: i18n, name: string): name is Known {
  return texts.exists(`environment.about.${name}`);
}

// What a person may choose for the snippets: the model, and the key, with a word on who needs one.

import { Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { modelsQuery } from '../../api/queries/models.ts';
import { useGoesNowhere } from '../routing/use-goes-nowhere.ts';
import { ClientKey } from './client-key.tsx';
import type { SetUpState } from './use-set-up.ts';
import '../../components/form.css';

const SHOWN = 60;

export interface SetUpFormProps {
  readonly state: SetUpState;
  /** Of the client. */
  readonly name: string;
}

export function SetUpForm({ state, name }: SetUpFormProps) {
  const { t } = useTranslation();
  const { data } = useQuery(modelsQuery);
  const isLost = useGoesNowhere(state.setUp.model);
  const names = (data?.models ?? [])
    .filter(({ target, tasks, drawsImages }) => {
      return target !== null && tasks.includes('generate') && !drawsImages;
    })
    .map(({ id }) => id);
  return (
    <div className="form-stack">
      <div className="form-row">
        <Autocomplete
          label={t('clients.model')}
          // One line in either case, so that nothing below moves.
          description={
            isLost ? (
              <span className="clients-lost">{t('clients.modelLost')}</span>
            ) : (
              t('clients.modelHint')
            )
          }
          data={[...new Set(names)]}
          limit={SHOWN}
          placeholder={state.setUp.model}
          value={state.typedModel}
          onChange={state.typeModel}
          autoComplete="off"
          spellCheck={false}
        />
        <ClientKey state={state} name={name} />
      </div>
      <p className="form-note">
        {state.made === undefined
          ? t(`clients.needs.${state.need}`)
          : t('clients.keyMade', { name: state.made.name })}{' '}
        {state.need !== 'never' && (
          <Link to="/keys" search={{}}>
            {t('clients.toKeys')}
          </Link>
        )}
      </p>
    </div>
  );
}

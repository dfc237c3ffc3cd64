// What a person may choose for the snippets: the model, and the key, with a word on who needs one.

import { Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { modelsQuery } from '../../api/queries/models.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { useGoesNowhere } from '../routing/use-goes-nowhere.ts';
import type { SetUpState } from './use-set-up.ts';
import '../../components/form.css';

const SHOWN = 60;

export function SetUpForm({ state }: { readonly state: SetUpState }) {
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
        <SecretInput
          label={t('clients.key')}
          description={t('clients.keyHint')}
          placeholder="sk-…"
          autoComplete="off"
          spellCheck={false}
          value={state.typedKey}
          onChange={({ currentTarget }) => state.typeKey(currentTarget.value)}
        />
      </div>
      <p className="form-note">
        {t(`clients.needs.${state.need}`)}{' '}
        {state.need !== 'never' && (
          <Link to="/keys" search={{}}>
            {t('clients.toKeys')}
          </Link>
        )}
      </p>
    </div>
  );
}

// What a person may choose for the snippets: the model, and the key, with a word on who needs one.

import { Autocomplete, Button } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCreateKey } from '../../api/queries/keys.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { useMay } from '../../api/queries/session.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useLeaveGuard } from '../../components/use-leave-guard.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useGoesNowhere } from '../routing/use-goes-nowhere.ts';
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

interface ClientKeyProps {
  readonly state: SetUpState;
  /** Of the client: the key is named after it. */
  readonly name: string;
}

function ClientKey({ state, name }: ClientKeyProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { mutateAsync, isPending } = useCreateKey();
  const { made, need, keyNames } = state;
  const mayCreate = useMay('operator');
  // The key is shown here alone, and once.
  useLeaveGuard(() => made !== undefined, {
    title: t('clients.leaveTitle'),
    body: <p className="dialog-text">{t('clients.leaveHint')}</p>,
    confirm: t('clients.leave'),
  });
  const create = (): void =>
    void mutateAsync({ name: freeName(name, keyNames) }).then(
      ({ key, secret }) => state.setMade({ id: key.id, name: key.name, secret }),
      toasts.failed,
    );
  return (
    <div className="client-key">
      <SecretInput
        label={t('clients.key')}
        description={t('clients.keyHint')}
        placeholder="sk-…"
        autoComplete="off"
        spellCheck={false}
        value={state.typedKey}
        onChange={({ currentTarget }) => state.typeKey(currentTarget.value)}
      />
      {made === undefined
        ? need !== 'never' &&
          mayCreate && (
            <Button
              variant={need === 'always' ? 'filled' : 'default'}
              leftSection={<IconKey size={16} />}
              loading={isPending}
              onClick={create}
            >
              {t('clients.createKey')}
            </Button>
          )
        : state.typedKey === made.secret && (
            <CopyButton isFirst text={made.secret} label={t('clients.copyKey')} />
          )}
    </div>
  );
}

/** The name itself, or with the first number that is free. */
function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  let number = 2;
  while (taken.includes(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}

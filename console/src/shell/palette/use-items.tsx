// Everything the palette finds, with what happens when it is chosen.

import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { useMay } from '../../api/queries/session.ts';
import { changeLanguage, changeNames } from '../../i18n/choose-language.ts';
import { LANGUAGES } from '../../i18n/languages.ts';
import { CLIENTS } from '../../pages/clients/clients.ts';
import { PAGES } from '../../pages.ts';
import { SETTING_PLACES } from '../../settings/setting-places.ts';
import { SCHEMES } from '../color-schemes.ts';
import { NAME_KINDS } from '../name-kinds.ts';
import { type Item, isRequestId } from './find-items.ts';

export function useItems(text: string): readonly Item[] {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const mayChange = useMay('operator');
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { data: accounts, isPending: hasNoAccounts } = useQuery(accountsQuery);
  const { data: keys, isPending: hasNoKeys } = useQuery(keysQuery);
  const { data: models, isPending: hasNoModels } = useQuery(modelsQuery);
  const isLoading = hasNoAccounts || hasNoKeys || hasNoModels;
  const fixed = useMemo(() => {
    const go = (to: string, search: Readonly<Record<string, string>> = {}): void =>
      void navigate({ to, search });
    const pages = PAGES.map(({ name, path }): Item => {
      return {
        id: `page ${name}`,
        group: 'pages',
        label: t(`shell.pages.${name}`),
        isFirst: true,
        run: () => go(path),
      };
    });
    const settings = SETTING_PLACES.flatMap(({ to, search, fields }) =>
      fields.map(({ id, section, path, variable }): Item => {
        return {
          id: `setting ${id}`,
          group: 'settings',
          label: t(`settings.fields.${id}.name`),
          hint: t(`settings.fields.${id}.hint`),
          words: `${section}.${path.join('.')} ${variable ?? ''}`,
          run: () => go(to, { ...search, field: id }),
        };
      }),
    );
    const clients = CLIENTS.map(({ id, name, words = '' }): Item => {
      return {
        id: `client ${id}`,
        group: 'clients',
        label: t('palette.setUp', { name: id === 'other' ? t('clients.otherApp') : name }),
        words,
        run: () => go('/clients', { client: id }),
      };
    });
    const adding: readonly Item[] = [
      {
        id: 'add account',
        group: 'actions',
        label: t('accounts.add'),
        isFirst: true,
        run: () => go('/accounts', { add: 'sign-in' }),
      },
    ];
    const actions: readonly Item[] = [
      ...(mayChange ? adding : []),
      ...SCHEMES.map(({ value, text: name }): Item => {
        return {
          id: `scheme ${value}`,
          group: 'actions',
          label: `${t('shell.theme')}: ${t(name)}`,
          run: () => setColorScheme(value),
        };
      }),
      ...LANGUAGES.map(({ code, name }): Item => {
        return {
          id: `language ${code}`,
          group: 'actions',
          label: `${t('shell.language')}: ${name}`,
          run: () => void changeLanguage(i18n, code),
        };
      }),
      ...NAME_KINDS.map(({ value, text: name }): Item => {
        return {
          id: `names ${value}`,
          group: 'actions',
          label: `${t('shell.names')}: ${t(name)}`,
          run: () => void changeNames(i18n, value),
        };
      }),
    ];
    return [...pages, ...actions, ...settings, ...clients];
  }, [t, i18n, navigate, setColorScheme, mayChange]);
  const known = useMemo((): readonly Item[] => {
    const go = (to: string, search: Readonly<Record<string, string>>): void =>
      void navigate({ to, search });
    return [
      ...(accounts?.accounts ?? []).map(({ id, label, upstream }): Item => {
        return {
          id: `account ${id}`,
          group: 'accounts',
          label,
          hint: upstream,
          words: id,
          run: () => go('/accounts', { id }),
        };
      }),
      ...(keys?.keys ?? []).map(({ id, name }): Item => {
        return {
          id: `key ${id}`,
          group: 'keys',
          label: name,
          words: id,
          run: () => go('/keys', { id }),
        };
      }),
      ...(models?.models ?? []).map(({ id, displayName }): Item => {
        return {
          id: `model ${id}`,
          group: 'models',
          label: id,
          ...(displayName === id ? {} : { hint: displayName }),
          run: () => go('/routing', { name: id }),
        };
      }),
    ];
  }, [accounts, keys, models, navigate]);
  return useMemo(() => {
    const id = text.trim();
    // The name of a model may look like the id of a request: until all names are known, Enter would lead there.
    const request: readonly Item[] =
      !isLoading && isRequestId(id)
        ? [
            {
              id: 'request',
              group: 'requests',
              label: t('palette.request', { id }),
              run: () => void navigate({ to: '/requests', search: { id } }),
            },
          ]
        : [];
    return [...request, ...fixed, ...known];
  }, [text, isLoading, fixed, known, navigate, t]);
}

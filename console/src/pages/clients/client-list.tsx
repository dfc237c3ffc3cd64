// The clients to choose from, by group: a list with a search, on a narrow screen one field.

import { Select, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Client } from './client.ts';
import { CLIENT_GROUPS, CLIENTS, searchClients } from './clients.ts';

export interface ClientListProps {
  readonly chosen: Client;
  readonly onChoose: (id: string) => void;
}

export function ClientList(props: ClientListProps) {
  // Known at once: the page would jump if it came later.
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, {
    getInitialValueInEffect: false,
  });
  return isNarrow ? <ClientField {...props} /> : <ClientNav {...props} />;
}

function ClientField({ chosen, onChoose }: ClientListProps) {
  const { t } = useTranslation();
  return (
    <Select
      label={t('clients.client')}
      data={CLIENT_GROUPS.map((group) => ({
        group: t(`clients.groups.${group}`),
        items: CLIENTS.filter((client) => client.group === group).map(({ id, name }) => ({
          value: id,
          label: sayName({ id, name }, t('clients.otherApp')),
        })),
      }))}
      value={chosen.id}
      allowDeselect={false}
      searchable
      maxDropdownHeight={360}
      nothingFoundMessage={t('clients.noneFound')}
      onChange={(id) => onChoose(id ?? chosen.id)}
    />
  );
}

function ClientNav({ chosen, onChoose }: ClientListProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const found = searchClients(search);
  const onKey = (event: KeyboardEvent): void => {
    const [first] = found;
    if (event.key === 'Enter' && first !== undefined) onChoose(first.id);
  };
  return (
    <nav className="clients-nav" aria-label={t('clients.list')}>
      <TextInput
        type="search"
        data-page-search
        aria-label={t('clients.searchLabel')}
        placeholder={t('clients.searchHint')}
        leftSection={<IconSearch size={16} />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        onKeyDown={onKey}
      />
      {CLIENT_GROUPS.map((group) => {
        const members = found.filter((client) => client.group === group);
        if (members.length === 0) return null;
        return (
          <section key={group} aria-label={t(`clients.groups.${group}`)}>
            <p className="clients-group">{t(`clients.groups.${group}`)}</p>
            {members.map((client) => (
              <button
                key={client.id}
                type="button"
                aria-current={client.id === chosen.id ? 'page' : undefined}
                onClick={() => onChoose(client.id)}
              >
                {sayName(client, t('clients.otherApp'))}
              </button>
            ))}
          </section>
        );
      })}
      {found.length === 0 && (
        <p className="clients-none dimmed" role="status">
          {t('clients.noneFound')}
        </p>
      )}
    </nav>
  );
}

/** Names of products stay as they are; what stands for all others is said in words. */
export function sayName({ id, name }: Pick<Client, 'id' | 'name'>, otherApp: string): string {
  return id === 'other' ? otherApp : name;
}

// Narrows the list of requests; every choice stands in the page's address.

import { Autocomplete, Button, CloseButton, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { countFilters, NO_FILTERS, PROTOCOLS, RANGES, type RequestFilters } from './filters.ts';
import { readName, writeName } from './name-filter.ts';
import { shortSession } from './short-session.ts';

export interface FilterBarProps {
  readonly filters: RequestFilters;
  /** Of all that serve together; empty where one is alone. */
  readonly replicas: readonly string[];
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

const STATUSES = ['ok', 'error', 'cancelled', '4xx', '5xx', '429', '401'] as const;
/** A time of one's own, which no range is. */
const FIXED = 'fixed';

export function FilterBar({ filters, replicas, onChange }: FilterBarProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  /** Fields made anew forget what was typed a moment ago. */
  const [clears, setClears] = useState(0);
  // Addresses may ask for any status.
  const statuses = [...new Set([...STATUSES, ...(filters.status ? [filters.status] : [])])];
  const isShared = replicas.length > 1 || filters.replica !== undefined;
  const isFixed = filters.from !== undefined || filters.to !== undefined;
  const count = countFilters({ ...filters, search: undefined });
  return (
    <>
      <search className={`filter-bar${isOpen ? ' is-open' : ''}${isShared ? ' is-shared' : ''}`}>
        <SearchField
          key={`search-${clears}`}
          label={t('requests.search')}
          placeholder={t('requests.searchHint')}
          value={filters.search ?? ''}
          onChange={(search) => onChange({ search })}
        />
        <Button
          className="filter-toggle"
          variant="default"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t('requests.filters')}
          {count > 0 && ` (${count})`}
        </Button>
        <Select
          aria-label={t('requests.range')}
          placeholder={t('requests.anyTime')}
          data={[
            ...RANGES.map((value) => ({ value, label: t(`requests.ranges.${value}`) })),
            ...(isFixed ? [{ value: FIXED, label: t('requests.markedTime') }] : []),
          ]}
          value={isFixed ? FIXED : (filters.range ?? null)}
          onChange={(range) =>
            range !== FIXED &&
            onChange({ range: range ?? undefined, from: undefined, to: undefined })
          }
          clearable
          clearSectionMode="clear"
        />
        <Select
          aria-label={t('requests.status')}
          placeholder={t('requests.anyStatus')}
          data={statuses.map((value) => ({
            value,
            label: isOutcome(value) ? t(`requests.outcomes.${value}`) : value,
          }))}
          value={filters.status ?? null}
          onChange={(status) => onChange({ status: status ?? undefined })}
          clearable
          clearSectionMode="clear"
        />
        <Select
          aria-label={t('requests.protocol')}
          placeholder={t('requests.anyProtocol')}
          data={PROTOCOLS.map((value) => ({ value, label: t(`protocols.${value}`) }))}
          value={filters.protocol ?? null}
          onChange={(protocol) => onChange({ protocol: protocol ?? undefined })}
          clearable
          clearSectionMode="clear"
        />
        <NameFilters key={`names-${clears}`} {...{ filters, replicas, isShared, onChange }} />
        {countFilters(filters) > 0 && (
          <Button
            variant="subtle"
            color="gray"
            leftSection={<IconX size={14} />}
            onClick={() => {
              setClears(clears + 1);
              onChange(NO_FILTERS);
            }}
          >
            {t('requests.clearFilters')}
          </Button>
        )}
      </search>
      <FilterMarks {...{ filters, onChange }} />
    </>
  );
}

/** Those that have no field: links set them. */
const MARKS = ['session', 'client', 'error', 'owner', 'team', 'tag', 'without'] as const;

function FilterMarks({ filters, onChange }: Pick<FilterBarProps, 'filters' | 'onChange'>) {
  const { t } = useTranslation();
  const set = MARKS.filter((name) => filters[name] !== undefined);
  if (set.length === 0) return null;
  return (
    <ul className="filter-marks">
      {set.map((name) => {
        const value = filters[name] ?? '';
        const label = t(`requests.${name === 'without' ? (filters.without ?? 'key') : name}`);
        const shown = name === 'session' ? shortSession(value) : value;
        return (
          <li key={name}>
            <span className="dimmed">{label}</span>{' '}
            <span className="one-line" title={value}>
              {name === 'without' ? t('usage.noGroup') : shown}
            </span>
            {name === 'session' && (
              <Link to="/requests/session" search={{ session: value }}>
                {t('requests.toSession')}
              </Link>
            )}
            <CloseButton
              size="xs"
              aria-label={t('requests.clearFilter', { name: label })}
              onClick={() => onChange({ [name]: undefined })}
            />
          </li>
        );
      })}
    </ul>
  );
}

function isOutcome(value: string): value is 'ok' | 'error' | 'cancelled' {
  return value === 'ok' || value === 'cancelled' || value === 'error';
}

function NameFilters(props: FilterBarProps & { readonly isShared: boolean }) {
  const { filters, replicas, isShared, onChange } = props;
  const { t } = useTranslation();
  const models = useQuery(modelsQuery);
  const accounts = useQuery(accountsQuery);
  const keys = useQuery(keysQuery);
  const modelNames = new Set(models.data?.models.map(({ id }) => id));
  const accountNames = new Set(accounts.data?.accounts.map(({ label }) => label));
  const keyNames = new Set(keys.data?.keys.map(({ name }) => name));
  return (
    <>
      <NameFilter
        label={t('requests.model')}
        placeholder={t('requests.anyModel')}
        names={[...modelNames]}
        value={filters.model ?? ''}
        onChange={(model) => onChange({ model })}
      />
      <NameFilter
        label={t('requests.account')}
        placeholder={t('requests.anyAccount')}
        names={[...accountNames]}
        value={filters.account ?? ''}
        onChange={(account) => onChange({ account })}
      />
      <NameFilter
        label={t('requests.key')}
        placeholder={t('requests.anyKey')}
        names={[...keyNames]}
        value={filters.key ?? ''}
        onChange={(key) => onChange({ key })}
      />
      {isShared && (
        <NameFilter
          label={t('requests.replica')}
          placeholder={t('requests.replica')}
          names={[...replicas]}
          value={filters.replica ?? ''}
          onChange={(replica) => onChange({ replica })}
        />
      )}
    </>
  );
}

interface NameFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly names: string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A part of a name will do, and so will one that is gone since. */
function NameFilter({ label, placeholder, names, value, onChange }: NameFilterProps) {
  const [typed, setTyped] = useTyped(readName(value), (text) => onChange(writeName(text, names)));
  return (
    <Autocomplete
      aria-label={label}
      placeholder={placeholder}
      data={names}
      limit={40}
      value={typed}
      onChange={setTyped}
      clearable
      comboboxProps={{ width: 280, position: 'bottom-start' }}
    />
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SearchField({ label, placeholder, value, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useTyped(value, onChange);
  return (
    <TextInput
      className="filter-search"
      data-page-search
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} />}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}

const PAUSE_MS = 300;

/** What is typed shows at once and counts after a pause. */
function useTyped(value: string, onChange: (value: string) => void) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const report = useDebouncedCallback(onChange, PAUSE_MS);
  const change = (text: string): void => {
    setTyped(text);
    report(text);
  };
  return [typed, change] as const;
}

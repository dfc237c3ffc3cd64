// Chooses the upstream an account belongs to; there is nothing to choose where there is one.

import { Alert, Select, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Upstreams } from '../../../../src/admin/contract.ts';

export type Upstream = Upstreams['upstreams'][number];

/** What all forms that add accounts are given. */
export interface AddFormProps {
  readonly upstreams: readonly Upstream[];
  readonly isLoading: boolean;
  readonly onDone: () => void;
}

export interface ChosenUpstream {
  readonly id: string;
  readonly upstream: Upstream | undefined;
  choose(id: string): void;
}

/** The first one that suits, until a person chooses another. */
export function useUpstream(
  upstreams: readonly Upstream[],
  suits: (upstream: Upstream) => boolean,
): ChosenUpstream {
  const [chosen, choose] = useState<string>();
  const upstream =
    upstreams.find(({ id }) => id === chosen) ?? upstreams.find(suits) ?? upstreams[0];
  return { id: upstream?.id ?? '', upstream, choose };
}

export interface UpstreamSelectProps extends Pick<AddFormProps, 'upstreams' | 'isLoading'> {
  readonly chosen: ChosenUpstream;
  /** Of those that the settings do not name yet. */
  readonly isNew?: (id: string) => boolean;
}

export function UpstreamSelect(props: UpstreamSelectProps) {
  const { upstreams, isLoading, chosen, isNew = () => false } = props;
  const { t } = useTranslation();
  if (isLoading) return <Skeleton height={58} />;
  if (upstreams.length === 0) return <Alert color="yellow">{t('addAccount.noUpstreams')}</Alert>;
  const isSandbox = chosen.upstream?.profile === 'sandbox';
  const hint =
    isSandbox || isNew(chosen.id) ? (
      <>
        {t(isSandbox ? 'addAccount.sandboxHint' : 'addAccount.readyHint')}{' '}
        <Link to="/settings" search={{ section: 'upstreams' }}>
          {t(isSandbox ? 'addAccount.addUpstream' : 'addAccount.addOther')}
        </Link>
      </>
    ) : undefined;
  return (
    <Select
      label={t('addAccount.upstream')}
      description={hint}
      data={upstreams.map(({ id, profile }) => ({
        value: id,
        label: id === profile ? id : `${id} (${profile})`,
      }))}
      value={chosen.id}
      allowDeselect={false}
      onChange={(value) => value !== null && chosen.choose(value)}
    />
  );
}

// Every exact name a client may use, with what it stands for and its limits.

import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { memo, useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Models } from '../../../../src/admin/contract.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { MoreRows } from '../../components/more-rows.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { useFormat } from '../../components/use-format.ts';

type Model = Models['models'][number];

export function Catalogue({ onTry }: { readonly onTry: (name: string) => void }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(modelsQuery);
  const [search, setSearch] = useState('');
  const words = useDeferredValue(search).toLowerCase().split(/\s+/).filter(Boolean);
  const found = (data?.models ?? []).filter(({ id, target, displayName }) => {
    const text = `${id}\n${target}\n${displayName}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <Panel
      isFlush
      title={t('routing.catalogue')}
      hint={t('routing.catalogueHint')}
      actions={
        <TextInput
          type="search"
          size="xs"
          aria-label={t('routing.searchModels')}
          placeholder={t('routing.searchModels')}
          leftSection={<IconSearch size={14} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      }
    >
      {data === undefined && (
        <NotLoaded error={error} onRetry={() => void refetch()} height={320} m="md" w="auto" />
      )}
      {data !== undefined && found.length === 0 && (
        <EmptyNote title={t('routing.noModels')} hint={t('routing.noModelsHint')} />
      )}
      {found.length > 0 && (
        <MoreRows rows={found} resetKey={words.join(' ')}>
          {(rows) => <ModelTable models={rows} onTry={onTry} />}
        </MoreRows>
      )}
    </Panel>
  );
}

interface ModelTableProps {
  readonly models: readonly Model[];
  readonly onTry: (name: string) => void;
}

function ModelTable({ models, onTry }: ModelTableProps) {
  const { t } = useTranslation();
  return (
    <table className="plain-table models">
      <thead>
        <tr>
          <th scope="col">{t('routing.modelName')}</th>
          <th scope="col">{t('routing.target')}</th>
          <th scope="col" className="numeric">
            {t('routing.inputLimit')}
          </th>
          <th scope="col" className="numeric">
            {t('routing.outputLimit')}
          </th>
          <th scope="col">{t('routing.abilities')}</th>
        </tr>
      </thead>
      <tbody>
        {models.map((model) => (
          <ModelRow key={model.id} model={model} onTry={onTry} />
        ))}
      </tbody>
    </table>
  );
}

interface ModelRowProps extends Pick<ModelTableProps, 'onTry'> {
  readonly model: Model;
}

const ModelRow = memo(function ModelRow({ model, onTry }: ModelRowProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { id, target, servedAs, supportsThinking, drawsImages, tasks } = model;
  // A model that writes nothing has no limit of what it writes.
  const writes = tasks.includes('generate');
  const abilities = [
    ...tasks.map((task) =>
      task === 'generate' || task === 'embed' ? t(`routing.tasks.${task}`) : task,
    ),
    ...(supportsThinking ? [t('routing.thinks')] : []),
    ...(drawsImages ? [t('routing.draws')] : []),
  ];
  const limitCell = (limit: number | undefined) => (
    <td
      className="numeric"
      title={limit === undefined ? undefined : `${format.number(limit)} ${t('routing.tokensUnit')}`}
    >
      {limit === undefined ? '–' : format.compact(limit)}
    </td>
  );
  return (
    <tr>
      <td>
        <button type="button" className="entry-name mono" onClick={() => onTry(id)}>
          <span className="wrap-anywhere">{id}</span>
        </button>
      </td>
      <td className="mono wrap-anywhere">
        {target === id ? <span className="dimmed">{t('routing.sameModel')}</span> : (target ?? '–')}
        {servedAs !== null && servedAs !== target && (
          <span className="dimmed"> {t('routing.servedAs', { id: servedAs })}</span>
        )}
      </td>
      {limitCell(model.inputTokenLimit)}
      {limitCell(writes ? model.outputTokenLimit : undefined)}
      <td className="dimmed">{abilities.join(', ')}</td>
    </tr>
  );
});

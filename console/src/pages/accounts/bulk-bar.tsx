// What can be done to all selected accounts at once.

import { Button, CloseButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type BulkKind, useBulkAction } from '../../api/queries/accounts.ts';
import { Restricted } from '../../components/restricted.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useErrorText } from '../../components/use-error-text.ts';
import { useToasts } from '../../components/use-toasts.tsx';

export interface BulkBarProps {
  readonly ids: readonly string[];
  readonly onClear: () => void;
  readonly onExport: () => void;
}

export function BulkBar({ ids, onClear, onExport }: BulkBarProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const bulk = useBulkAction();
  const errorText = useErrorText();
  const run = (kind: BulkKind): void =>
    void bulk.mutateAsync({ kind, ids }).then(({ done, failures }) => {
      const [first] = failures;
      if (done > 0) toasts.done(t('accounts.bulkDone', { count: done }));
      if (first === undefined) return;
      const message = errorText(first.error);
      toasts.warn(t('accounts.bulkFailed', { count: failures.length, message }));
    }, toasts.failed);
  const remove = (): void =>
    confirm({
      title: t('accounts.removeMany', { count: ids.length }),
      body: t('accounts.removeHint'),
      confirm: t('common.remove'),
      onConfirm: () => run('remove'),
    });
  const isBusy = (kind: BulkKind): boolean => bulk.isPending && bulk.variables.kind === kind;
  return (
    <Restricted least="operator" isQuiet>
      <section className="bulk-bar" aria-label={t('accounts.selected', { count: ids.length })}>
        <strong>{t('accounts.selected', { count: ids.length })}</strong>
        {(['enable', 'disable', 'refresh'] as const).map((kind) => (
          <Button
            key={kind}
            size="xs"
            variant="default"
            loading={isBusy(kind)}
            disabled={bulk.isPending}
            onClick={() => run(kind)}
          >
            {t(kind === 'refresh' ? 'accounts.refreshShort' : `accounts.${kind}`)}
          </Button>
        ))}
        <Button size="xs" variant="default" onClick={onExport}>
          {t('accounts.exportAll')}
        </Button>
        <Button
          size="xs"
          color="red"
          variant="light"
          loading={isBusy('remove')}
          disabled={bulk.isPending}
          onClick={remove}
        >
          {t('common.remove')}
        </Button>
        <CloseButton aria-label={t('common.clear')} onClick={onClear} />
      </section>
    </Restricted>
  );
}

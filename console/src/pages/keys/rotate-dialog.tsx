// Gives a key another secret, once it is said how long the one before goes on working.

import { Button, Modal, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey, Key } from '../../../../src/admin/contract.ts';
import { useRotateKey } from '../../api/queries/keys.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import '../../components/form.css';

const OVERLAPS = ['0', '1', '24', '168'] as const;

export interface RotateDialogProps {
  readonly rotated: Key;
  readonly onClose: () => void;
  readonly onRotated: (created: CreatedKey) => void;
}

export function RotateDialog({ rotated, onClose, onRotated }: RotateDialogProps) {
  const { t } = useTranslation();
  const [hours, setHours] = useState<(typeof OVERLAPS)[number]>('24');
  const { error, isPending, mutateAsync } = useRotateKey();
  const run = (): void =>
    void mutateAsync({ key: rotated, overlapHours: Number(hours) }).then(
      onRotated,
      () => undefined,
    );
  return (
    <Modal opened onClose={onClose} title={t('keys.rotateTitle', { name: rotated.name })}>
      <div className="form-stack">
        <p className="form-note">{t('keys.rotateHint')}</p>
        <SegmentedControl
          aria-label={t('keys.overlap')}
          value={hours}
          onChange={setHours}
          data={OVERLAPS.map((value) => ({ value, label: t(`keys.overlaps.${value}`) }))}
          fullWidth
        />
        {error !== null && <ErrorNote error={error} />}
        <div className="form-actions">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button loading={isPending} onClick={run} data-autofocus>
            {t('keys.rotate')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

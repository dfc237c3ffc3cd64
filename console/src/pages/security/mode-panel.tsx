// Chooses who needs a key, and says what each choice means now.

import { Alert, Radio, Skeleton } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sectionQuery } from '../../api/queries/config.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { Panel } from '../../components/panel.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useOverrideText } from '../../settings/override-note.tsx';
import { SectionProblems } from '../../settings/section-problems.tsx';
import { ACCESS_PLACE } from '../../settings/setting-places.ts';
import { useSetting } from '../../settings/use-setting.ts';

const MODES = ['off', 'auto', 'strict'] as const;
type Mode = (typeof MODES)[number];

export function ModePanel() {
  const { t } = useTranslation();
  const confirm = useConfirm();
  const [field] = ACCESS_PLACE.fields;
  const setting = useSetting(field);
  const { error } = useQuery(sectionQuery(field.section));
  const sayOverride = useOverrideText();
  const { override } = setting;
  const { data: overview } = useQuery(overviewQuery);
  const inForce = readMode(override === undefined ? setting.value : override.value) ?? 'auto';
  const choose = (mode: Mode): void => {
    if (mode !== 'off') {
      setting.save(mode);
      return;
    }
    confirm({
      title: t('security.offTitle'),
      body: (
        <p className="dialog-text">
          {t('security.offHint', { address: overview?.address ?? window.location.origin })}
        </p>
      ),
      confirm: t('security.offConfirm'),
      onConfirm: () => setting.save(mode),
    });
  };
  return (
    <Panel title={t('security.modeTitle')} hint={t('security.modeHint')}>
      <SectionProblems fields={[field]} />
      {!setting.isLoaded && error === null && <Skeleton height={240} />}
      {setting.isLoaded && (
        <Radio.Group
          value={inForce}
          onChange={(value) => choose(readMode(value) ?? 'auto')}
          aria-label={t('security.modeTitle')}
        >
          <div className="modes">
            {MODES.map((mode) => (
              <Radio.Card
                key={mode}
                value={mode}
                className="mode-card"
                disabled={override !== undefined}
              >
                <Radio.Indicator />
                <span>
                  <strong>{t(`security.modes.${mode}`)}</strong>
                  {mode === inForce && <span className="mode-now">{t('security.modeNow')}</span>}
                  <span className="sub-line">{t(`security.modeMeanings.${mode}`)}</span>
                </span>
              </Radio.Card>
            ))}
          </div>
        </Radio.Group>
      )}
      {override !== undefined && (
        <Alert mt="md" color="yellow" variant="light" icon={<IconLock size={18} />}>
          {sayOverride(override)}
        </Alert>
      )}
    </Panel>
  );
}

function readMode(value: unknown): Mode | undefined {
  return MODES.find((mode) => typeof value === 'string' && mode === value.toLowerCase());
}

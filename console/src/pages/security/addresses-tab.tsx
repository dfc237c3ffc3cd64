// The address filter: whether it is on, what an address would meet, and its rules.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AddressCheck } from '../../../../src/admin/contract.ts';
import { useCheckAddress } from '../../api/queries/address-rules.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { SectionProblems } from '../../settings/section-problems.tsx';
import { FILTER_PLACE } from '../../settings/setting-places.ts';
import { SettingRow } from '../../settings/setting-row.tsx';
import { RulesPanel } from './rules-panel.tsx';

export function AddressesTab() {
  const { t } = useTranslation();
  return (
    <div className="security-stack">
      <div className="security-columns">
        <Panel title={t('security.filterTitle')} hint={t('security.filterHint')}>
          <SectionProblems fields={FILTER_PLACE.fields} />
          <Restricted least="operator">
            {FILTER_PLACE.fields.map((field) => (
              <SettingRow key={field.id} field={field} />
            ))}
          </Restricted>
        </Panel>
        <CheckPanel />
      </div>
      <Restricted least="operator" isQuiet>
        <RulesPanel />
      </Restricted>
    </div>
  );
}

function CheckPanel() {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const check = useCheckAddress();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed.trim() !== '') check.mutate(typed.trim());
  };
  return (
    <Panel title={t('security.checkTitle')}>
      <form className="check-form" onSubmit={submit}>
        <TextInput
          label={t('security.checkLabel')}
          placeholder={t('security.checkPlaceholder')}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            check.reset();
          }}
        />
        <Button type="submit" variant="default" loading={check.isPending}>
          {t('security.check')}
        </Button>
      </form>
      <div className="check-answer" role="status">
        {check.data !== undefined && <Verdict check={check.data} address={check.variables} />}
        {check.error !== null && <ErrorNote error={check.error} />}
      </div>
    </Panel>
  );
}

interface VerdictProps {
  readonly check: AddressCheck;
  readonly address: string;
}

function Verdict({ check, address }: VerdictProps) {
  const { t } = useTranslation();
  const { verdict, rule } = check;
  const isAllowed = verdict === 'allowed';
  return (
    <>
      <StatusMark tone={isAllowed ? 'ok' : 'bad'}>
        {t(isAllowed ? 'security.checkAllowed' : 'security.checkDenied', { address })}
      </StatusMark>
      <span className="sub-line wrap-anywhere">
        {rule === undefined
          ? t('security.checkNoRule')
          : t('security.checkRule', {
              range: rule.range,
              list: t(`security.lists.${rule.list}`),
            })}
      </span>
    </>
  );
}

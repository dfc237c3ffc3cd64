// Who is let in: keys, addresses, web pages and proxies, and who was turned away.

import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useActiveInView } from '../../components/use-active-in-view.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { SectionProblems } from '../../settings/section-problems.tsx';
import { WEB_PLACE } from '../../settings/setting-places.ts';
import { SettingRow } from '../../settings/setting-row.tsx';
import { AccessLogPanel } from './access-log-panel.tsx';
import { AddressesTab } from './addresses-tab.tsx';
import { AuditPanel } from './audit-panel.tsx';
import { ExposurePanel } from './exposure-panel.tsx';
import { ModePanel } from './mode-panel.tsx';
import { PeopleTab } from './people-tab.tsx';
import './page.css';

const TABS = ['access', 'people', 'addresses', 'log', 'audit', 'web'] as const;

export function SecurityPage() {
  const { t } = useTranslation();
  const { texts, open } = useSearchTexts();
  const tab = TABS.find((one) => one === texts.tab) ?? 'access';
  const row = useActiveInView<HTMLDivElement>(tab);
  const { guard } = useCloseGuard();
  return (
    <>
      <PageHeader title={t('shell.pages.security')} subtitle={t('security.subtitle')} />
      {guard(
        <Tabs
          value={tab}
          onChange={(next) => open({ tab: next === 'access' || next === null ? undefined : next })}
          keepMounted={false}
        >
          <Tabs.List ref={row} className="scroll-tabs" aria-label={t('shell.pages.security')}>
            {TABS.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {t(`security.tabs.${name}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="access" pt="lg">
            <div className="security-columns">
              <Restricted least="owner" isQuiet>
                <ModePanel />
              </Restricted>
              <ExposurePanel />
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="people" pt="lg">
            <PeopleTab />
          </Tabs.Panel>
          <Tabs.Panel value="addresses" pt="lg">
            <AddressesTab />
          </Tabs.Panel>
          <Tabs.Panel value="log" pt="lg">
            <AccessLogPanel />
          </Tabs.Panel>
          <Tabs.Panel value="audit" pt="lg">
            <AuditPanel />
          </Tabs.Panel>
          <Tabs.Panel value="web" pt="lg">
            <Panel title={t('security.webTitle')} hint={t('security.webHint')}>
              <SectionProblems fields={WEB_PLACE.fields} />
              <Restricted least="operator">
                {WEB_PLACE.fields.map((field) => (
                  <SettingRow key={field.id} field={field} />
                ))}
              </Restricted>
            </Panel>
          </Tabs.Panel>
        </Tabs>,
      )}
    </>
  );
}

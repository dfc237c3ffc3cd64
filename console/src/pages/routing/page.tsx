// Where model names go: the mapping with its presets, the catalogue, the external provider.

import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/page-header.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useActiveInView } from '../../components/use-active-in-view.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { Catalogue } from './catalogue.tsx';
import { MappingPanel } from './mapping-panel.tsx';
import { PresetsPanel } from './presets-panel.tsx';
import { PricesPanel } from './prices-panel.tsx';
import { ProviderPanel } from './provider-panel.tsx';
import { TargetsPanel } from './targets-panel.tsx';
import { useWhere, WherePanel } from './where-panel.tsx';
import './page.css';

const TABS = ['mapping', 'catalogue', 'provider'] as const;

const TEXTS = {
  mapping: 'routing.tabMapping',
  catalogue: 'routing.tabCatalogue',
  provider: 'routing.tabProvider',
} as const;

export function RoutingPage() {
  const { t } = useTranslation();
  const { texts, open } = useSearchTexts();
  const where = useWhere();
  const tab = TABS.find((one) => one === texts.tab) ?? 'mapping';
  const row = useActiveInView<HTMLDivElement>(tab);
  const { guard } = useCloseGuard();
  return (
    <>
      <PageHeader title={t('shell.pages.routing')} subtitle={t('routing.subtitle')} />
      <WherePanel where={where} />
      {guard(
        <Tabs
          className="routing-tabs"
          value={tab}
          onChange={(value) => open({ tab: value === 'mapping' || value === null ? '' : value })}
          keepMounted={false}
        >
          <Tabs.List ref={row} className="scroll-tabs" aria-label={t('shell.pages.routing')}>
            {TABS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t(TEXTS[one])}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="mapping">
            <div className="routing-columns">
              <div className="routing-column">
                <Restricted least="operator" isQuiet>
                  <MappingPanel decidingKey={where.decidingKey} onTry={where.ask} />
                  <TargetsPanel onTry={where.ask} />
                  <PricesPanel />
                </Restricted>
              </div>
              <Restricted least="operator" isQuiet>
                <PresetsPanel />
              </Restricted>
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="catalogue">
            <Catalogue onTry={where.ask} />
          </Tabs.Panel>
          <Tabs.Panel value="provider">
            <Restricted least="operator" isQuiet>
              <ProviderPanel />
            </Restricted>
          </Tabs.Panel>
        </Tabs>,
      )}
    </>
  );
}

// Every setting of the config file that has no page of its own, by section.

import { TextInput } from '@mantine/core';
import { IconArrowsShuffle, IconSearch, IconShieldLock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { sectionQuery } from '../../api/queries/config.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useActiveInView } from '../../components/use-active-in-view.ts';
import { useAddressText } from '../../components/use-address-text.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { GROUPS, type GroupId } from '../../settings/field-groups.ts';
import type { Field } from '../../settings/fields.ts';
import { SectionProblems } from '../../settings/section-problems.tsx';
import { ACCESS_PLACE, FILTER_PLACE, WEB_PLACE } from '../../settings/setting-places.ts';
import { SettingRow } from '../../settings/setting-row.tsx';
import { AlertsPanel } from './alerts-panel.tsx';
import { EnvironmentPanel } from './environment-panel.tsx';
import { UpstreamsPanel } from './upstreams-panel.tsx';
import './page.css';

/** What decides about who comes in. */
const OWNERS_GROUPS: readonly GroupId[] = ['access', 'signIn'];

export function SettingsPage() {
  const { t } = useTranslation();
  const { texts, open } = useSearchTexts();
  const group = GROUPS.find(({ id }) => id === texts.section) ?? GROUPS[0];
  const search = texts.search ?? '';
  const [typed, setTyped] = useAddressText('search');
  const row = useActiveInView<HTMLElement>(group.id);
  const { guard } = useCloseGuard();
  return (
    <>
      <PageHeader title={t('shell.pages.settings')} subtitle={t('settings.subtitle')} />
      <div className="settings-layout">
        <div className="settings-side">
          <TextInput
            type="search"
            data-page-search
            aria-label={t('settings.searchLabel')}
            placeholder={t('settings.searchHint')}
            leftSection={<IconSearch size={16} />}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <nav ref={row} className="settings-nav" aria-label={t('settings.sections')}>
            {GROUPS.map(({ id }) => (
              <button
                key={id}
                type="button"
                aria-current={search === '' && id === group.id ? 'page' : undefined}
                onClick={() =>
                  open({
                    section: id === GROUPS[0].id ? undefined : id,
                    search: undefined,
                    field: undefined,
                  })
                }
              >
                {t(`settings.groups.${id}`)}
              </button>
            ))}
          </nav>
        </div>
        <div className="settings-content">
          {guard(
            search.trim() === '' ? (
              <>
                <GroupContent id={group.id} fields={group.fields} />
                <Elsewhere />
              </>
            ) : (
              <FoundSettings search={search} />
            ),
          )}
        </div>
      </div>
    </>
  );
}

interface GroupPanelProps {
  readonly id: GroupId;
  readonly fields: readonly Field[];
}

function GroupContent({ id, fields }: GroupPanelProps) {
  if (id === 'upstreams') {
    return (
      <Restricted least="operator">
        <UpstreamsPanel />
      </Restricted>
    );
  }
  if (id === 'environment') return <EnvironmentPanel />;
  if (id === 'alerts') {
    return (
      <div className="settings-stack">
        <AlertsPanel />
        <GroupPanel id={id} fields={fields} />
      </div>
    );
  }
  return <GroupPanel id={id} fields={fields} />;
}

function GroupPanel({ id, fields }: GroupPanelProps) {
  const { t } = useTranslation();
  const sections = [...new Set(fields.map(({ section }) => section))];
  return (
    <Panel title={t(`settings.groups.${id}`)} hint={t(`settings.groupHints.${id}`)}>
      <SectionProblems fields={fields} />
      <Restricted least={OWNERS_GROUPS.includes(id) ? 'owner' : 'operator'}>
        {fields.map((field) => (
          <SettingRow key={field.id} field={field} />
        ))}
      </Restricted>
      <footer className="settings-foot">
        {sections.map((section) => (
          <Revision key={section} section={section} />
        ))}
      </footer>
    </Panel>
  );
}

function Revision({ section }: { readonly section: string }) {
  const { t } = useTranslation();
  const { data } = useQuery(sectionQuery(section));
  if (data === undefined) return null;
  return (
    <span title={data.revision}>
      {section} · {t('settings.revision', { revision: data.revision.slice(0, 7) })}
    </span>
  );
}

function Elsewhere() {
  const { t } = useTranslation();
  return (
    <section className="elsewhere" aria-label={t('settings.elsewhere')}>
      <Link to="/routing" search={{}}>
        <IconArrowsShuffle size={18} aria-hidden="true" />
        <strong>{t('shell.pages.routing')}</strong>
        <span className="dimmed">{t('settings.elsewhereRouting')}</span>
      </Link>
      <Link to="/security" search={{}}>
        <IconShieldLock size={18} aria-hidden="true" />
        <strong>{t('shell.pages.security')}</strong>
        <span className="dimmed">{t('settings.elsewhereSecurity')}</span>
      </Link>
    </section>
  );
}

/** The settings of every section that hold the words searched for, to be changed where they are found. */
function FoundSettings({ search }: { readonly search: string }) {
  const { t } = useTranslation();
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = ({ id, section, path, variable = '' }: Field): boolean => {
    const name = t(`settings.fields.${id}.name`);
    const hint = t(`settings.fields.${id}.hint`);
    const text = `${name} ${hint} ${section}.${path.join('.')} ${variable}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const groups = [
    ...GROUPS.map(({ id, fields }) => ({ id, title: t(`settings.groups.${id}`), fields })),
    {
      id: 'security',
      title: t('shell.pages.security'),
      fields: [ACCESS_PLACE, FILTER_PLACE, WEB_PLACE].flatMap(({ fields }) => [...fields]),
    },
  ].map(({ id, title, fields }) => ({ id, title, found: fields.filter(isFound) }));
  const shown = groups.filter(({ found }) => found.length > 0);
  if (shown.length === 0) {
    return (
      <EmptyNote
        icon={<IconSearch size={32} stroke={1.5} />}
        title={t('settings.noneFound')}
        hint={t('settings.noneFoundHint')}
      />
    );
  }
  return shown.map(({ id, title, found }) => (
    <Panel key={id} title={title}>
      {found.map((field) => (
        <SettingRow key={field.id} field={field} />
      ))}
    </Panel>
  ));
}

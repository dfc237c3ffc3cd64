// The menus of appearance, and of language and names; each is opened as soon as it is there.

import { ActionIcon, Menu, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconLanguage } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { changeLanguage, changeNames, namesOf } from '../i18n/choose-language.ts';
import { LANGUAGES } from '../i18n/languages.ts';
import { SCHEMES } from './color-schemes.ts';
import { NAME_KINDS } from './name-kinds.ts';

export function ThemeMenu() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme({
    // Else a style element is put into the page for a moment, which its policy forbids.
    keepTransitions: true,
  });
  const { icon: Current } = SCHEMES.find(({ value }) => value === colorScheme) ?? SCHEMES[0];
  return (
    <Menu position="top-start" defaultOpened>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('shell.theme')}>
          <Current size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('shell.theme')}</Menu.Label>
        {SCHEMES.map(({ value, text, icon: SchemeIcon }) => (
          <Menu.Item
            key={value}
            leftSection={<SchemeIcon size={16} />}
            rightSection={<Chosen isChosen={value === colorScheme} />}
            onClick={() => setColorScheme(value)}
          >
            {t(text)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="top-start" defaultOpened>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('shell.languageAndNames')}
        >
          <IconLanguage size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('shell.language')}</Menu.Label>
        {LANGUAGES.map(({ code, name }) => (
          <Menu.Item
            key={code}
            lang={code}
            rightSection={<Chosen isChosen={code === i18n.language} />}
            onClick={() => void changeLanguage(i18n, code)}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('shell.names')}</Menu.Label>
        {NAME_KINDS.map(({ value, text }) => (
          <Menu.Item
            key={value}
            rightSection={<Chosen isChosen={value === namesOf(i18n)} />}
            onClick={() => void changeNames(i18n, value)}
          >
            {t(text)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Chosen({ isChosen }: { readonly isChosen: boolean }) {
  const { t } = useTranslation();
  if (!isChosen) return null;
  return (
    <>
      <IconCheck size={15} aria-hidden="true" />
      <VisuallyHidden>{t('common.on')}</VisuallyHidden>
    </>
  );
}

// Appearance, language and names of protocols, kept in this browser; their menus are loaded when they are opened.

import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { IconLanguage } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { later } from '../components/later.tsx';
import { SCHEMES } from './color-schemes.ts';
import './preferences.css';

const ThemeMenu = later(
  async () => (await import('./preference-menus.tsx')).ThemeMenu,
  ThemeButton,
);
const LanguageMenu = later(
  async () => (await import('./preference-menus.tsx')).LanguageMenu,
  LanguageButton,
);

export function Preferences() {
  const [isThemeOpen, setThemeOpen] = useState(false);
  const [isLanguageOpen, setLanguageOpen] = useState(false);
  return (
    <div className="preferences">
      {isThemeOpen ? <ThemeMenu /> : <ThemeButton onOpen={() => setThemeOpen(true)} />}
      {isLanguageOpen ? <LanguageMenu /> : <LanguageButton onOpen={() => setLanguageOpen(true)} />}
    </div>
  );
}

interface OpenerProps {
  readonly onOpen?: () => void;
}

function ThemeButton({ onOpen }: OpenerProps) {
  const { t } = useTranslation();
  const { colorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { icon: Current } = SCHEMES.find(({ value }) => value === colorScheme) ?? SCHEMES[0];
  return (
    <MenuButton label={t('shell.theme')} onOpen={onOpen}>
      <Current size={18} />
    </MenuButton>
  );
}

function LanguageButton({ onOpen }: OpenerProps) {
  const { t } = useTranslation();
  return (
    <MenuButton label={t('shell.languageAndNames')} onOpen={onOpen}>
      <IconLanguage size={18} />
    </MenuButton>
  );
}

interface MenuButtonProps {
  readonly label: string;
  readonly onOpen: (() => void) | undefined;
  readonly children: ReactNode;
}

function MenuButton({ label, onOpen, children }: MenuButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={onOpen}
    >
      {children}
    </ActionIcon>
  );
}

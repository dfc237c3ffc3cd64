// Colours, type and component defaults of the console.

import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import type { i18n } from 'i18next';

/** From the page's own grey to text; every step from 5 on reads on white. */
const GRAY: MantineColorsTuple = [
  ...(['#f8f9fa', '#f1f3f5', '#e6e9ed', '#d9dde3', '#c3c9d1'] as const),
  ...(['#828b96', '#5c6570', '#454d57', '#2c333b', '#181d23'] as const),
];

/** From text to the page; 7 is the surface of cards. */
const DARK: MantineColorsTuple = [
  ...(['#e4e7eb', '#c4c9d0', '#98a1ab', '#6b747f', '#3d444d'] as const),
  ...(['#2b3138', '#22272d', '#15191e', '#0f1216', '#0a0c0f'] as const),
];

const ACCENT: MantineColorsTuple = [
  ...(['#eef0fe', '#dde1fc', '#b8c0f8', '#909cf3', '#7080ee'] as const),
  ...(['#5567e6', '#4457dc', '#3b4fd8', '#2f40b5', '#26348f'] as const),
];

/** Every page has one, the sign-in as well. */
const IN_MAIN = { target: 'main' };

export const THEME = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 7 },
  colors: { gray: GRAY, dark: DARK, accent: ACCENT },
  fontFamily:
    '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: {
    xs: '0.75rem',
    sm: '0.8125rem',
    md: '0.875rem',
    lg: '1rem',
    xl: '1.25rem',
  },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '6px', md: '8px', lg: '12px', xl: '20px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the scroll inserts a style element; the stylesheet does it instead.
    Modal: { defaultProps: { lockScroll: false, radius: 'md', overlayProps: { opacity: 0.45 } } },
    Drawer: { defaultProps: { lockScroll: false, overlayProps: { opacity: 0.45 } } },
    // What it would focus first is no entry, which a menu may not hold.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // Behind the end of the page they would be in no landmark.
    Popover: { defaultProps: { portalProps: IN_MAIN } },
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Tooltip: {
      defaultProps: {
        ...{ openDelay: 250, multiline: true, maw: 320, withArrow: true },
        portalProps: IN_MAIN,
      },
    },
  },
});

/** Says in the language of the console what closes something. */
export function themeIn(texts: i18n): typeof THEME {
  const defaultProps = () => ({ 'aria-label': texts.t('common.close') });
  return { ...THEME, components: { ...THEME.components, CloseButton: { defaultProps } } };
}

/** What is not Mantine's own: surfaces, lines and the colours of a condition. */
export const APP_VARIABLES: ReturnType<CSSVariablesResolver> = {
  variables: {},
  light: {
    '--app-page': '#f7f8fa',
    '--app-surface': '#ffffff',
    '--app-raised': '#ffffff',
    '--app-sunken': '#f1f3f5',
    '--app-line': '#e3e6ea',
    '--app-line-strong': '#cdd2d9',
    '--app-ok': '#1a7f37',
    '--app-warn': '#8f5d00',
    '--app-bad': '#c31e2a',
    '--app-ok-fill': '#2da44e',
    '--app-warn-fill': '#d4961c',
    '--app-bad-fill': '#d1363f',
    '--app-idle-fill': '#aeb5be',
    '--app-accent-text': '#3b4fd8',
    '--mantine-color-dimmed': '#5c6570',
    '--mantine-color-placeholder': '#6d7681',
    '--mantine-color-yellow-light': '#fff6dd',
    '--mantine-color-yellow-light-color': '#8f5d00',
    '--mantine-color-green-light': '#e8f6ec',
    '--mantine-color-green-light-color': '#1a7f37',
    '--mantine-color-red-light': '#fdeeee',
    '--mantine-color-red-light-color': '#c31e2a',
    '--mantine-color-error': '#c31e2a',
  },
  dark: {
    '--app-page': '#0d1014',
    '--app-surface': '#15191e',
    '--app-raised': '#1b2026',
    '--app-sunken': '#0f1216',
    '--app-line': '#252b32',
    '--app-line-strong': '#3a424b',
    '--app-ok': '#4cc38a',
    '--app-warn': '#e2a336',
    '--app-bad': '#ff7b78',
    '--app-ok-fill': '#2f9e63',
    '--app-warn-fill': '#c98a1b',
    '--app-bad-fill': '#d84a4a',
    '--app-idle-fill': '#4d5661',
    '--app-accent-text': '#98a5ff',
    '--mantine-color-dimmed': '#98a1ab',
    '--mantine-color-placeholder': '#7d8792',
    '--mantine-color-anchor': '#98a5ff',
    // Notes are tinted, not painted.
    '--mantine-color-red-light': 'rgba(216, 74, 74, 0.1)',
    '--mantine-color-red-light-color': '#ff7b78',
    '--mantine-color-yellow-light': 'rgba(226, 163, 54, 0.09)',
    '--mantine-color-yellow-light-color': '#e2a336',
    '--mantine-color-green-light': 'rgba(47, 158, 99, 0.1)',
    '--mantine-color-green-light-color': '#4cc38a',
    '--mantine-color-accent-light': 'rgba(112, 128, 238, 0.1)',
    '--mantine-color-accent-light-color': '#98a5ff',
    '--mantine-color-gray-light': 'rgba(152, 161, 171, 0.09)',
    '--mantine-color-error': '#ff7b78',
  },
};

// Writes the theme as a stylesheet when the console is built: the page's policy allows no inline style.

import {
  convertCssVariables,
  DEFAULT_THEME,
  deepMerge,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core';
import type { Plugin } from 'vite';
import { APP_VARIABLES, THEME } from './src/theme.ts';

const NAME = 'virtual:theme-variables.css';
const RESOLVED = `\0${NAME}`;

export function themeVariables(): Plugin {
  return {
    name: 'theme-variables',
    resolveId: (id) => (id === NAME ? RESOLVED : undefined),
    load: (id) => (id === RESOLVED ? writeVariables() : undefined),
  };
}

function writeVariables(): string {
  const theme = mergeMantineTheme(DEFAULT_THEME, THEME);
  const scheme = {
    variables: {},
    dark: { '--mantine-color-scheme': 'dark' },
    light: { '--mantine-color-scheme': 'light' },
  };
  const own = deepMerge(scheme, APP_VARIABLES);
  const all = deepMerge(defaultCssVariablesResolver(theme), own);
  // Paper is light, whatever the screen is.
  const onPaper = convertCssVariables({ variables: {}, light: {}, dark: all.light }, ':root');
  return `${convertCssVariables(all, ':root')}\n@media print {\n${onPaper}\n}\n`;
}

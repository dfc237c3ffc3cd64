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

/** Colours of the package that the console has nothing in. */
const UNUSED = /^--mantine-color-(?:blue|cyan|grape|indigo|lime|orange|pink|violet)-/;

type Variables = ReturnType<typeof defaultCssVariablesResolver>;

function withoutUnused(all: Variables): Variables {
  const strip = (some: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(some).filter(([name]) => !UNUSED.test(name)));
  return { variables: strip(all.variables), light: strip(all.light), dark: strip(all.dark) };
}

function writeVariables(): string {
  const theme = mergeMantineTheme(DEFAULT_THEME, THEME);
  const scheme = {
    variables: {},
    dark: { '--mantine-color-scheme': 'dark' },
    light: { '--mantine-color-scheme': 'light' },
  };
  const own = deepMerge(scheme, APP_VARIABLES);
  const all = withoutUnused(deepMerge(defaultCssVariablesResolver(theme), own));
  // Paper is light, whatever the screen is.
  const onPaper = convertCssVariables({ variables: {}, light: {}, dark: all.light }, ':root');
  return `${convertCssVariables(all, ':root')}\n@media print {\n${onPaper}\n}\n`;
}

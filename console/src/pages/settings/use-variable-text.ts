// What a variable of the environment is for, in the language of the console.

import type { i18n } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { EnvironmentVariable } from '../../../../src/admin/contract.ts';
import type { en } from '../../i18n/en.ts';

type Known = keyof (typeof en)['environment']['about'];

/** A variable that this console has no words for is told in the gateway's own. */
export function useVariableText(): (variable: EnvironmentVariable) => string {
  const { t, i18n: texts } = useTranslation();
  return ({ name, summary }) =>
    isKnown(texts, name) ? t(`environment.about.${name}`) : summary.replaceAll('`', '');
}

function isKnown(texts: i18n, name: string): name is Known {
  return texts.exists(`environment.about.${name}`);
}

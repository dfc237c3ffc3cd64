// Disables what the role of who is signed in may not do, and says why.

import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Role } from '../../../src/admin/contract.ts';
import { useMay } from '../api/queries/session.ts';
import './restricted.css';

export interface RestrictedProps {
  /** The least role that may. */
  readonly least: Role;
  /** Where the page says it already. */
  readonly isQuiet?: boolean;
  readonly children: ReactNode;
}

export function Restricted({ least, isQuiet = false, children }: RestrictedProps) {
  const { t } = useTranslation();
  const may = useMay(least);
  const why = t('roles.needed', { role: t(`roles.names.${least}`) });
  // The same elements in both cases, so that nothing typed is lost when a role changes.
  return (
    <fieldset className="restricted" disabled={!may} {...(!may && { title: why })}>
      {!may && !isQuiet && (
        <p className="restricted-why" role="note">
          {why}
        </p>
      )}
      {children}
    </fieldset>
  );
}

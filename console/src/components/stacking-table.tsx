// A table whose rows become cards on a narrow screen. Its last column is that of the actions.

import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import './stacking-table.css';

export interface StackingTableProps {
  /** Of all columns but that of the actions. */
  readonly headings: readonly string[];
  /** The rows. */
  readonly children: ReactNode;
}

export function StackingTable({ headings, children }: StackingTableProps) {
  const { t } = useTranslation();
  return (
    <table className="plain-table is-stacking">
      <thead>
        <tr>
          {headings.map((heading) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
          <th scope="col">
            <span className="visually-hidden">{t('common.more')}</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

// What a person should look at, the worst first, each with the way out.

import { IconArrowRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Attention } from '../../../../src/admin/contract.ts';
import { LinkButton } from '../../components/link-button.tsx';

const RANKS = { error: 0, warning: 1, info: 2 } as const;

export function AttentionList({ entries }: { readonly entries: readonly Attention[] }) {
  const { t } = useTranslation();
  if (entries.length === 0) return null;
  const sorted = entries.toSorted((left, right) => RANKS[left.severity] - RANKS[right.severity]);
  return (
    <section aria-label={t('overview.needsAttention')}>
      <ul className="attention">
        {sorted.map((entry) => (
          <li key={`${entry.kind} ${entry.message}`} className={`is-${entry.severity}`}>
            <div>
              <strong className="wrap-anywhere">{entry.message}</strong>
              <p className="wrap-anywhere">{entry.wayOut}</p>
            </div>
            {isOwnPath(entry.link) && <OpenButton link={entry.link} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OpenButton({ link }: { readonly link: string }) {
  const { t } = useTranslation();
  const [to = '/', query = ''] = link.split('?', 2);
  return (
    <LinkButton
      to={to}
      search={Object.fromEntries(new URLSearchParams(query))}
      size="xs"
      variant="default"
      rightSection={<IconArrowRight size={14} />}
    >
      {t('common.open')}
    </LinkButton>
  );
}

function isOwnPath(link: string): boolean {
  return /^\/(?!\/)/.test(link);
}

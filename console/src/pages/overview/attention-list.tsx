// What a person should look at, the worst first, each with the way out.

import { IconArrowRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Attention } from '../../../../src/admin/contract.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { useAttentionFacts } from '../../components/use-attention-facts.ts';

const RANKS = { error: 0, warning: 1, info: 2 } as const;

export function AttentionList({ entries }: { readonly entries: readonly Attention[] }) {
  const { t } = useTranslation();
  if (entries.length === 0) return null;
  const sorted = entries.toSorted((left, right) => RANKS[left.severity] - RANKS[right.severity]);
  return (
    <section aria-label={t('overview.needsAttention')}>
      <ul className="attention">
        {sorted.map((entry) => (
          <Entry key={`${entry.kind} ${entry.message}`} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ entry }: { readonly entry: Attention }) {
  const { t } = useTranslation();
  const { kind, severity, link } = entry;
  const facts = useAttentionFacts(entry);
  return (
    <li className={`is-${severity}`}>
      <div>
        <strong className="wrap-anywhere">{t(`overview.attentions.${kind}.message`, facts)}</strong>
        <p className="wrap-anywhere">{t(`overview.attentions.${kind}.wayOut`, facts)}</p>
      </div>
      {isOwnPath(link) && <OpenButton link={link} />}
    </li>
  );
}

function OpenButton({ link }: { readonly link: string }) {
  const { t } = useTranslation();
  const [to = '/', query = ''] = link.split('?', 2);
  const search = Object.fromEntries(new URLSearchParams(query));
  return (
    <LinkButton
      to={to}
      search={search}
      size="xs"
      variant="default"
      rightSection={<IconArrowRight size={14} />}
    >
      {search.add === undefined ? t('common.open') : t('overview.addAccount')}
    </LinkButton>
  );
}

function isOwnPath(link: string): boolean {
  return /^\/(?!\/)/.test(link);
}

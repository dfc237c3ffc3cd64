// What a person should look at, the worst first, each with the way out.

import { IconArrowRight } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Attention } from '../../../../src/admin/contract.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { sayReason, sayWayOut } from '../../components/say-account-state.ts';
import { type Format, useFormat } from '../../components/use-format.ts';
import type { SayIn } from '../../i18n/sentences.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { sayFamily } from './say-family.ts';

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
  const say = useSentences(entry.about.problems !== undefined);
  const facts = readFacts({ entry, format: useFormat(), say, t });
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

interface Telling {
  readonly entry: Attention;
  readonly format: Format;
  readonly say: SayIn;
  readonly t: TFunction;
}

/** What the sentences of the entry are filled with. */
function readFacts({ entry: { about, wayOut }, format, say, t }: Telling) {
  const { account = '', accountKind, reason, family = '', quotaKind, percent = 0 } = about;
  const { upstream = '', models = '', version = '', problems } = about;
  const state = { kind: accountKind, reason };
  return {
    account,
    upstream,
    models,
    version,
    problems: problems === undefined ? '' : say(problems),
    reason: sayReason(state, t),
    wayOut: sayWayOut(state, wayOut, t),
    family: sayFamily({ family, kind: quotaKind }, t),
    percent: format.percent(percent),
    count: about.count ?? 0,
    total: about.total ?? 0,
  };
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

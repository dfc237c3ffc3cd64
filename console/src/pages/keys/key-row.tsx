// One key in the list: what it is, what it used today, what limits it, and what can be done with it.

import { ActionIcon, Badge, Menu } from '@mantine/core';
import {
  IconDots,
  IconEdit,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Budget, Key } from '../../../../src/admin/contract.ts';
import { useMay } from '../../api/queries/session.ts';
import type { Tone } from '../../components/meter.tsx';
import { useNow } from '../../components/now.tsx';
import { RemoveItem } from '../../components/remove-item.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { type Format, readTime, useFormat } from '../../components/use-format.ts';
import { BudgetBar } from './budget-bar.tsx';
import { isInCurfew } from './key-values.ts';

export interface KeyActions {
  readonly onEdit: (key: Key) => void;
  readonly onSwitch: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRemove: (key: Key) => void;
}

export interface KeyRowProps {
  readonly row: Key;
  /** Those of this key. */
  readonly budgets: readonly Budget[];
  readonly actions: KeyActions;
}

export const KeyRow = memo(function KeyRow({ row, budgets, actions }: KeyRowProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { lastUsedAt } = row;
  const isUsed = lastUsedAt !== undefined;
  const limits = listLimits(row, t, format);
  const lacking = [
    ...(limits.length + budgets.length === 0 ? [t('keys.unlimited')] : []),
    ...(isUsed ? [] : [t('keys.neverUsed')]),
  ];
  return (
    <tr>
      <td className="is-lead">
        <button type="button" className="plain-link" onClick={() => actions.onEdit(row)}>
          {row.name}
        </button>
        <span className="sub-line key-prefix mono">{row.prefix}…</span>
        <PreviousSecret row={row} />
        <KeyHolder row={row} />
      </td>
      <td className="key-state">
        <KeyState row={row} budgets={budgets} lacking={lacking} />
      </td>
      <td className={hasUse(row, budgets) ? undefined : 'is-blank'}>
        <KeyUse row={row} budgets={budgets} />
      </td>
      <td className={limits.length > 0 ? undefined : 'is-blank'}>
        <span className="cell-label">{t('keys.limits')}</span>
        <KeyLimits limits={limits} />
      </td>
      <td className={isUsed ? 'key-last' : 'key-last is-blank'}>
        <span className="cell-label">{t('keys.lastUsed')}</span>
        {isUsed ? (
          <RelativeTime at={lastUsedAt} />
        ) : (
          <span className="dimmed">{t('keys.neverUsed')}</span>
        )}
      </td>
      <td className="is-corner key-corner">
        <KeyMenu row={row} actions={actions} />
      </td>
    </tr>
  );
});

/** Whose it is; each name leads to what was used this month. */
function KeyHolder({ row }: { readonly row: Key }) {
  const { t } = useTranslation();
  const names = [
    ...(['owner', 'team'] as const).flatMap((what) =>
      typeof row[what] === 'string' ? [{ what, name: row[what] }] : [],
    ),
    ...row.tags.map((name) => ({ what: 'tag', name }) as const),
  ];
  if (names.length === 0) return null;
  return (
    <span className="sub-line key-holder">
      {names.map(({ what, name }) => (
        <Link
          key={`${what} ${name}`}
          to="/usage"
          search={{ period: 'thisMonth', [what]: name }}
          title={t(`keys.${what}Usage`, { name })}
          className="wrap-anywhere"
        >
          {what === 'tag' ? `#${name}` : name}
        </Link>
      ))}
    </span>
  );
}

/** Whether there is anything to say about what was used. */
function hasUse({ usedToday }: Key, budgets: readonly Budget[]): boolean {
  const { requests, tokens, images } = usedToday;
  return budgets.length > 0 || requests + tokens + images > 0;
}

type Condition = 'active' | 'disabled' | 'expired' | 'resting' | 'atLimit';

const TONES: Readonly<Record<Condition, Tone>> = {
  active: 'ok',
  disabled: 'idle',
  expired: 'bad',
  resting: 'warn',
  atLimit: 'warn',
};

interface KeyStateProps {
  readonly row: Key;
  readonly budgets: readonly Budget[];
  /** What has no line of its own where the cells of a row stand below each other. */
  readonly lacking: readonly string[];
}

function KeyState({ row, budgets, lacking }: KeyStateProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  const condition = conditionOf(row, budgets, now);
  const { expiresAt } = row;
  return (
    <>
      <StatusMark tone={TONES[condition]}>{t(`keys.${condition}`)}</StatusMark>
      <span className="key-lacking">{lacking.map((words) => ` · ${words}`).join('')}</span>
      {expiresAt !== undefined && condition !== 'expired' && (
        <span className="sub-line" title={format.absolute(expiresAt)}>
          {t('keys.expires', { time: format.relative(expiresAt, now) })}
        </span>
      )}
    </>
  );
}

function conditionOf(row: Key, budgets: readonly Budget[], now: number): Condition {
  const { expiresAt, curfew } = row;
  if (!row.enabled) return 'disabled';
  if (expiresAt !== undefined && readTime(expiresAt) <= now) return 'expired';
  if (curfew !== undefined && isInCurfew(curfew, now)) return 'resting';
  const isSpent = budgets.some(({ isHard, level }) => isHard && level === 'spent');
  return isSpent ? 'atLimit' : 'active';
}

interface KeyUseProps {
  readonly row: Key;
  readonly budgets: readonly Budget[];
}

function KeyUse({ row, budgets }: KeyUseProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { requests, tokens, images } = row.usedToday;
  return (
    <div className="key-use">
      <span>{t('keys.requests', { count: requests })}</span>
      <span className="sub-line">{t('keys.tokensUsed', { used: format.compact(tokens) })}</span>
      {images > 0 && <span className="sub-line">{t('keys.images', { count: images })}</span>}
      {budgets.map((budget) => (
        <BudgetBar key={budget.id} budget={budget} />
      ))}
    </div>
  );
}

function KeyLimits({ limits }: { readonly limits: readonly string[] }) {
  const { t } = useTranslation();
  if (limits.length === 0) return <span className="dimmed">{t('keys.noLimits')}</span>;
  return (
    <span className="key-limits">
      {limits.map((limit) => (
        <Badge key={limit} variant="default" tt="none" fw={500} radius="sm">
          {limit}
        </Badge>
      ))}
    </span>
  );
}

function listLimits(row: Key, t: TFunction, format: Format): readonly string[] {
  const { allowedModels, maxAddresses, requestsPerMinute, tokensPerMinute } = row;
  const { curfew, expiresAt, maxConcurrency } = row;
  const say = <Limit,>(limit: Limit | null | undefined, words: (limit: Limit) => string) =>
    limit === null || limit === undefined ? [] : [words(limit)];
  return [
    ...say(requestsPerMinute, (count) => t('keys.limitRequests', { count })),
    ...say(tokensPerMinute, (count) => t('keys.limitTokens', { tokens: format.compact(count) })),
    ...say(maxConcurrency, (count) => t('keys.limitConcurrency', { count })),
    ...(allowedModels.length > 0 ? [t('keys.limitModels', { count: allowedModels.length })] : []),
    ...say(maxAddresses, (count) => t('keys.limitAddresses', { count })),
    ...say(curfew, ({ from, to, timeZone: zone }) => t('keys.limitCurfew', { from, to, zone })),
    ...say(expiresAt, (at) => t('keys.limitExpiry', { date: format.date(at) })),
  ];
}

/** Until when the secret before works, and whether somebody uses it still. */
function PreviousSecret({ row }: { readonly row: Key }) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  const last = row.previous?.at(-1);
  if (last === undefined) return null;
  const { prefix, endsAt, lastUsedAt } = last;
  const end = format.relative(endsAt, now);
  return (
    <span className="sub-line key-previous">
      {lastUsedAt === undefined
        ? t('keys.previousUnused', { prefix, end })
        : t('keys.previousUsed', { prefix, end, used: format.relative(lastUsedAt, now) })}
    </span>
  );
}

function KeyMenu({ row, actions }: { readonly row: Key; readonly actions: KeyActions }) {
  const { t } = useTranslation();
  const may = useMay('operator');
  if (!may) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('keys.menu', { name: row.name })}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconEdit size={16} />} onClick={() => actions.onEdit(row)}>
          {t('keys.edit')}
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => actions.onRotate(row)}>
          {t('keys.rotate')}
        </Menu.Item>
        <Menu.Item
          leftSection={row.enabled ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
          onClick={() => actions.onSwitch(row)}
        >
          {row.enabled ? t('keys.disable') : t('keys.enable')}
        </Menu.Item>
        <Menu.Divider />
        <RemoveItem onClick={() => actions.onRemove(row)}>{t('keys.remove')}</RemoveItem>
      </Menu.Dropdown>
    </Menu>
  );
}

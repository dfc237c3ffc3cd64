// Below the navigation: whether figures are live, preferences, and the way out.

import { ActionIcon } from '@mantine/core';
import { IconLogout } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { FeedState } from '../api/events.ts';
import { sessionQuery, useSignOut } from '../api/queries/session.ts';
import { Hint } from '../components/hint.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useToasts } from '../components/use-toasts.tsx';
import { Preferences } from './preferences.tsx';

const MARKS = {
  open: { tone: 'ok', text: 'shell.live', hint: 'shell.liveHint' },
  connecting: { tone: 'idle', text: 'shell.connecting', hint: 'shell.liveHint' },
  lost: { tone: 'warn', text: 'shell.lost', hint: 'shell.lostHint' },
} as const;

export function ShellFoot({ feed }: { readonly feed: FeedState }) {
  const { t } = useTranslation();
  const { tone, text, hint } = MARKS[feed];
  return (
    <div className="shell-foot">
      <Hint label={t(hint)}>
        <span className="feed-mark" role="status">
          <StatusMark tone={tone}>{t(text)}</StatusMark>
        </span>
      </Hint>
      <div className="shell-foot-icons">
        <Preferences />
        <SignOut />
      </div>
    </div>
  );
}

function SignOut() {
  const { t } = useTranslation();
  const { data } = useQuery(sessionQuery);
  const signOut = useSignOut();
  const toasts = useToasts();
  // Where no password is needed there is nothing to leave.
  if (data?.signedIn !== true || (!data.needsPassword && data.person === undefined)) return null;
  return (
    <Hint label={t('shell.signOut')}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('shell.signOut')}
        loading={signOut.isPending}
        onClick={() => signOut.mutate(undefined, { onError: toasts.failed })}
      >
        <IconLogout size={18} />
      </ActionIcon>
    </Hint>
  );
}

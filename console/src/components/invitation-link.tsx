// Shows the link of an invitation, this once.

import { useTranslation } from 'react-i18next';
import type { CreatedInvitation } from '../../../src/admin/contract.ts';
import { OnceSecret } from './once-secret.tsx';
import { useFormat } from './use-format.ts';

export interface InvitationLinkProps {
  readonly created: CreatedInvitation;
  readonly onClose: () => void;
}

export function InvitationLink({ created, onClose }: InvitationLinkProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { invitation, path } = created;
  return (
    <OnceSecret
      title={t('people.linkTitle', { name: invitation.name })}
      hint={t('people.linkHint', { time: format.absolute(invitation.expiresAt) })}
      secret={`${window.location.origin}${path}`}
      copy={t('people.copyLink')}
      onClose={onClose}
    />
  );
}

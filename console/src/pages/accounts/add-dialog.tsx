// The dialog that adds accounts, one way or the other.

import { Modal, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { upstreamsQuery } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { ImportForm } from './import-form.tsx';
import { KeyForm } from './key-form.tsx';
import { ServiceAccountForm } from './service-account-form.tsx';
import { SignInFlow } from './sign-in-flow.tsx';
import './add-dialog.css';

/** What most people own stands first. */
const WAYS = ['key', 'sign-in', 'service-account', 'import'] as const;
export type Way = (typeof WAYS)[number];

export function isWay(text: string | undefined): text is Way {
  return WAYS.some((way) => way === text);
}

const TEXTS = {
  'sign-in': 'addAccount.bySignIn',
  key: 'addAccount.byKey',
  'service-account': 'addAccount.byServiceAccount',
  import: 'addAccount.byImport',
} as const;

export interface AddDialogProps {
  /** Undefined: the dialog is closed. */
  readonly way: Way | undefined;
  /** The account that signs in again, if it is not a new one. */
  readonly again: Account | undefined;
  readonly onWay: (way: Way) => void;
  readonly onClose: () => void;
}

export function AddDialog({ way, again, onWay, onClose }: AddDialogProps) {
  const { t } = useTranslation();
  const { close, leave, guard } = useCloseGuard(onClose, 'add');
  const { data, error, refetch } = useQuery({ ...upstreamsQuery, enabled: way !== undefined });
  const upstreams = data?.upstreams ?? [];
  const form = { upstreams, isLoading: data === undefined, onDone: leave };
  const title =
    again === undefined ? t('addAccount.title') : t('addAccount.again', { name: again.label });
  return (
    <Modal
      opened={way !== undefined}
      onClose={close}
      size="lg"
      title={title}
      closeOnClickOutside={false}
    >
      {/* Above the form: somebody may type in it by then. */}
      {data === undefined && error !== null && (
        <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={() => void refetch()} />
      )}
      <Restricted least="operator">
        {again !== undefined ? (
          <SignInFlow key={again.id} {...form} again={again} />
        ) : (
          <Tabs
            value={way ?? 'key'}
            onChange={(value) => onWay(WAYS.find((one) => one === value) ?? 'key')}
            keepMounted={false}
          >
            <Tabs.List className="scroll-tabs" mb="md" aria-label={t('addAccount.how')}>
              {WAYS.map((one) => (
                <Tabs.Tab key={one} value={one}>
                  {t(TEXTS[one])}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="sign-in">
              <SignInFlow {...form} again={undefined} />
            </Tabs.Panel>
            <Tabs.Panel value="key">{guard(<KeyForm {...form} />)}</Tabs.Panel>
            <Tabs.Panel value="service-account">
              {guard(<ServiceAccountForm {...form} />)}
            </Tabs.Panel>
            <Tabs.Panel value="import">{guard(<ImportForm {...form} />)}</Tabs.Panel>
          </Tabs>
        )}
      </Restricted>
    </Modal>
  );
}

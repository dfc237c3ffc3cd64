// Asks for the password when a session ends, above the page, which keeps what was typed.

import { Modal } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useOpenedLater } from '../components/later.tsx';
import { SignInForm } from '../pages/sign-in/form.tsx';

/** Above dialogs, drawers and their lists, below the notices. */
const ABOVE_DIALOGS = 350;

export function SessionOver({ isOver }: { readonly isOver: boolean }) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(isOver);
  return (
    <Modal
      opened={isOpened}
      onClose={() => undefined}
      zIndex={ABOVE_DIALOGS}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t('signIn.title')}
      centered
    >
      <p className="dialog-text">{t('shell.sessionOver')}</p>
      <SignInForm />
    </Modal>
  );
}

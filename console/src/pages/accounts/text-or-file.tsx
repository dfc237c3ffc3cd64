// A text that is pasted or read from a file of this machine.

import { Button, FileButton, Textarea } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useToasts } from '../../components/use-toasts.tsx';

export interface TextOrFileProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Of the file dialog, such as `.json`. */
  readonly accept: string;
}

export function TextOrFile({ label, hint, value, onChange, accept }: TextOrFileProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const read = (file: File | null): void => {
    file?.text().then(onChange, toasts.failed);
  };
  return (
    <div className="text-or-file">
      <Textarea
        label={label}
        description={hint}
        className="mono-input"
        autosize
        minRows={5}
        maxRows={12}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <FileButton accept={accept} onChange={read}>
        {(props) => (
          <Button {...props} size="xs" variant="default" leftSection={<IconFileUpload size={15} />}>
            {t('addAccount.chooseFile')}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

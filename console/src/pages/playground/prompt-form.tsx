// Where a message is written and sent, with files: Enter sends, Shift and Enter begin a new line.

import { ActionIcon, Button, FileButton, Textarea } from '@mantine/core';
import { IconPaperclip, IconPlayerStop, IconSend } from '@tabler/icons-react';
import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { Hint } from '../../components/hint.tsx';
import { type Attachment, acceptedFiles } from '../../wire/attachments.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import { keepPrompt, readPrompt } from './draft-store.ts';
import { FileList } from './file-list.tsx';
import type { Message } from './use-conversation.ts';

export interface PromptFormProps {
  /** What stands in the field at first; what was left there before where it is absent. */
  readonly first: string | undefined;
  readonly protocol: WireProtocol;
  readonly isBusy: boolean;
  /** Why nothing can be sent yet. */
  readonly trouble: 'noModel' | 'noSecondModel' | 'badAmount' | 'badTools' | undefined;
  readonly files: readonly Attachment[];
  readonly onFiles: (files: readonly Attachment[]) => void;
  readonly onAdd: (files: readonly File[]) => void;
  /** False when it got no answer. */
  readonly onSend: (message: Message) => Promise<boolean>;
  readonly onStop: () => void;
}

export function PromptForm(props: PromptFormProps) {
  const { first, protocol, isBusy, trouble, files, onFiles, onAdd, onSend, onStop } = props;
  const { t } = useTranslation();
  const [prompt, setPrompt] = useState(() => first ?? readPrompt());
  useEffect(() => keepPrompt(prompt), [prompt]);
  const [isTried, setTried] = useState(false);
  const accept = acceptedFiles(protocol);
  const isEmpty = prompt.trim() === '' && files.length === 0;
  const send = (): void => {
    if (isBusy || isEmpty) return;
    setTried(true);
    if (trouble !== undefined) return;
    setPrompt('');
    onFiles([]);
    void onSend({ text: prompt, files }).then((isAnswered) => {
      if (isAnswered) return;
      setPrompt((now) => now || prompt);
      onFiles(files);
    });
  };
  const onKey = (event: KeyboardEvent): void => {
    // A key that ends the choice of a character is none of ours.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    onAdd(pasted);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
  const isImage = protocol === 'images';
  return (
    <form className="prompt-form" onSubmit={submit}>
      {files.length > 0 && (
        <FileList
          files={files}
          onRemove={(removed) => onFiles(files.filter((file) => file !== removed))}
        />
      )}
      <div className="prompt-line">
        {accept !== '' && (
          <FileButton multiple accept={accept} onChange={(chosen) => onAdd(chosen)}>
            {(button) => (
              <Hint label={t('playground.attach')}>
                <ActionIcon
                  {...button}
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={t('playground.attach')}
                >
                  <IconPaperclip size={18} />
                </ActionIcon>
              </Hint>
            )}
          </FileButton>
        )}
        <Textarea
          className="prompt-text"
          aria-label={t('playground.prompt')}
          placeholder={t(isImage ? 'playground.imagePlaceholder' : 'playground.promptPlaceholder')}
          autosize
          minRows={1}
          maxRows={10}
          value={prompt}
          error={isTried && trouble !== undefined ? t(`playground.${trouble}`) : undefined}
          onChange={({ currentTarget }) => setPrompt(currentTarget.value)}
          onKeyDown={onKey}
          onPaste={onPaste}
        />
        {isBusy ? (
          <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={onStop}>
            {t('playground.stop')}
          </Button>
        ) : (
          <Button type="submit" leftSection={<IconSend size={16} />} disabled={isEmpty}>
            {t('playground.send')}
          </Button>
        )}
      </div>
    </form>
  );
}

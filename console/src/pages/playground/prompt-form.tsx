// Where a message is written and sent: Enter sends, Shift and Enter begin a new line.

import { Button, Textarea } from '@mantine/core';
import { IconPlayerStop, IconSend } from '@tabler/icons-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';

export interface PromptFormProps {
  readonly isBusy: boolean;
  readonly isImage: boolean;
  /** Why nothing can be sent yet. */
  readonly trouble: 'noModel' | 'badAmount' | undefined;
  /** False when it got no answer. */
  readonly onSend: (prompt: string) => Promise<boolean>;
  readonly onStop: () => void;
}

export function PromptForm({ isBusy, isImage, trouble, onSend, onStop }: PromptFormProps) {
  const { t } = useTranslation();
  const [prompt, setPrompt] = useState('');
  const [isTried, setTried] = useState(false);
  const send = (): void => {
    if (isBusy || prompt.trim() === '') return;
    setTried(true);
    if (trouble !== undefined) return;
    setPrompt('');
    void onSend(prompt).then((isAnswered) => {
      if (!isAnswered) setPrompt((now) => now || prompt);
    });
  };
  const onKey = (event: KeyboardEvent): void => {
    // A key that ends the choice of a character is none of ours.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
  return (
    <form className="prompt-form" onSubmit={submit}>
      <Textarea
        aria-label={t('playground.prompt')}
        placeholder={t(isImage ? 'playground.imagePlaceholder' : 'playground.promptPlaceholder')}
        autosize
        minRows={1}
        maxRows={10}
        value={prompt}
        error={isTried && trouble !== undefined ? t(`playground.${trouble}`) : undefined}
        onChange={({ currentTarget }) => setPrompt(currentTarget.value)}
        onKeyDown={onKey}
      />
      {isBusy ? (
        <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={onStop}>
          {t('playground.stop')}
        </Button>
      ) : (
        <Button type="submit" leftSection={<IconSend size={16} />} disabled={prompt.trim() === ''}>
          {t('playground.send')}
        </Button>
      )}
    </form>
  );
}

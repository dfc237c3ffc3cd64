// What the tools of an answer give, typed in by hand, so that the model goes on with it.

import { Button, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolCall, ToolResult } from '../../wire/write-request.ts';

export interface ToolResultsProps {
  readonly calls: readonly ToolCall[];
  /** As far as they are known already. */
  readonly results: readonly ToolResult[] | undefined;
  readonly onSend: (results: readonly ToolResult[]) => void;
}

export function ToolResults({ calls, results = [], onSend }: ToolResultsProps) {
  const { t } = useTranslation();
  const [texts, setTexts] = useState<readonly string[]>(
    // Where the protocol names no calls, by their place.
    calls.map(
      ({ id }, index) => (results.find((one) => one.id === id) ?? results[index])?.text ?? '',
    ),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSend(calls.map(({ id, name }, index) => ({ id, name, text: texts[index] ?? '' })));
  };
  return (
    <form className="tool-results" onSubmit={submit}>
      {calls.map(({ id, name }, index) => (
        <Textarea
          key={id}
          label={t('playground.toolResult', { name })}
          autosize
          minRows={1}
          maxRows={8}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          value={texts[index] ?? ''}
          onChange={({ currentTarget: { value } }) =>
            setTexts((known) => calls.map((_, at) => (at === index ? value : (known[at] ?? ''))))
          }
        />
      ))}
      <div>
        <Button type="submit" size="xs" variant="default">
          {t('playground.sendResults')}
        </Button>
      </div>
    </form>
  );
}

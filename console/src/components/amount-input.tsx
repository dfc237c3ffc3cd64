// The field of an amount: read as people write it. What cannot be read is said beside it unless it is being typed.

import { TextInput } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { AmountRange } from './read-amount.ts';
import { useAmount } from './use-amount.ts';
import { writeBytes } from './write-bytes.ts';
import './amount-input.css';

export interface AmountInputProps {
  readonly range: AmountRange;
  /** As it is typed; the form reads it with the same range before it saves. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** When the field is left, or Enter pressed, whatever is typed there. */
  readonly onCommit?: () => void;
  /** What else is wrong, such as a refusal of the gateway. */
  readonly error?: ReactNode;
  readonly id?: string;
  readonly label?: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly autoFocus?: boolean;
  readonly 'aria-label'?: string;
  readonly 'aria-describedby'?: string;
}

export function AmountInput({
  range,
  value,
  onChange,
  onCommit,
  error,
  ...rest
}: AmountInputProps) {
  const { read, unitText, sayProblem } = useAmount(range);
  // Nobody has left empty yet what a form begins with empty.
  const [isTyping, setTyping] = useState(value === '');
  const { unit, isWhole } = range;
  const isSize = unit === 'bytes';
  const amount = read(value);
  const commit = (): void => {
    setTyping(false);
    onCommit?.();
  };
  return (
    <TextInput
      {...rest}
      value={value}
      inputMode={isSize ? 'text' : isWhole ? 'numeric' : 'decimal'}
      autoComplete="off"
      spellCheck={false}
      rightSectionWidth={unit === undefined ? 0 : 84}
      rightSection={
        unit !== undefined && (
          <span className="amount-unit">
            {isSize && amount.kind === 'value' ? writeBytes(amount.value) : unitText}
          </span>
        )
      }
      error={(isTyping ? undefined : sayProblem(value)) ?? error}
      errorProps={{ role: 'alert' }}
      onChange={({ currentTarget }) => {
        setTyping(true);
        onChange(currentTarget.value);
      }}
      onBlur={commit}
      onKeyDown={({ key }: KeyboardEvent) => {
        if (key === 'Enter') commit();
      }}
    />
  );
}

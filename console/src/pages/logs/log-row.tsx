// One line of the log; its fields unfold beneath it.

import { IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { StatusMark } from '../../components/status-mark.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { toneOfLevel } from './log-levels.ts';
import { findRequestId, sumUpFields } from './sum-up-fields.ts';
import type { NumberedLine } from './use-log-lines.ts';

export interface LogRowProps {
  readonly line: NumberedLine;
  readonly tabIndex: 0 | -1;
}

export function LogRow({ line, tabIndex }: LogRowProps) {
  const { t } = useTranslation();
  const clock = useClock();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const { at, level, message, fields } = line;
  const requestId = findRequestId(fields);
  return (
    <div className={isOpen ? 'log-row is-open' : 'log-row'}>
      <button
        type="button"
        className="log-line"
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <IconChevronRight className="log-arrow" size={14} aria-hidden="true" />
        <time
          className="mono dimmed"
          dateTime={new Date(at).toISOString()}
          title={format.absolute(at)}
        >
          {clock.exact(at)}
        </time>
        <span className="log-level">
          <StatusMark tone={toneOfLevel(level)}>{level}</StatusMark>
        </span>
        <span className="log-message mono">
          {message}
          <span className="dimmed">{sumUpFields(fields)}</span>
        </span>
      </button>
      {isOpen && (
        <div className="log-fields">
          {requestId !== undefined && (
            <Link to="/requests" search={{ id: requestId }}>
              {t('logs.openRequest')}
            </Link>
          )}
          <TextView text={JSON.stringify(fields, null, 2)} label={t('logs.fields')} isPlain />
        </div>
      )}
    </div>
  );
}

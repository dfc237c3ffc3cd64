// A long text as it is: searched, wrapped and copied; never as anything but text.

import { ActionIcon, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconSearch, IconTextWrap } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Code } from './code/code.tsx';
import { CopyIcon } from './copy-button.tsx';
import { findMatches, splitByMatches } from './find-matches.ts';
import { Hint } from './hint.tsx';
import { ScrollRegion } from './scroll-region.tsx';
import './text-view.css';

export interface TextViewProps {
  readonly text: string;
  readonly label: string;
  /** Without a search field, for short texts. */
  readonly isPlain?: boolean;
}

export function TextView({ text, label, isPlain = false }: TextViewProps) {
  const { t } = useTranslation();
  const [isWrapped, setWrapped] = useState(true);
  const [search, setSearch] = useState('');
  const [current, setCurrent] = useState(0);
  const matches = useMemo(() => findMatches(text, search), [text, search]);
  const shown = matches.length === 0 ? 0 : current % matches.length;
  const body = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the mark moves with these
  useEffect(() => {
    body.current?.querySelector('[data-current]')?.scrollIntoView({ block: 'nearest' });
  }, [shown, search]);
  const step = (by: number): void => setCurrent((shown + by + matches.length) % matches.length);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || matches.length === 0) return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  };
  return (
    <div className="text-view">
      <div className="text-view-bar">
        {!isPlain && (
          <>
            <TextInput
              size="xs"
              className="text-view-search"
              leftSection={<IconSearch size={14} />}
              placeholder={t('textView.search')}
              aria-label={t('textView.searchIn', { name: label })}
              value={search}
              onChange={({ currentTarget }) => {
                setSearch(currentTarget.value);
                setCurrent(0);
              }}
              onKeyDown={onKey}
            />
            {search !== '' && <MatchSteps count={matches.length} current={shown} onStep={step} />}
          </>
        )}
        <span className="text-view-gap" />
        <Hint label={t(isWrapped ? 'textView.unwrap' : 'textView.wrap')}>
          <ActionIcon
            variant={isWrapped ? 'light' : 'subtle'}
            color="gray"
            size="sm"
            aria-pressed={isWrapped}
            aria-label={t('textView.wrap')}
            onClick={() => setWrapped(!isWrapped)}
          >
            <IconTextWrap size={15} />
          </ActionIcon>
        </Hint>
        <CopyIcon text={text} label={t('textView.copy', { name: label })} />
      </div>
      <ScrollRegion
        ref={body}
        className={isWrapped ? 'text-view-body is-wrapped' : 'text-view-body'}
        label={label}
      >
        <MarkedText text={text} search={search} matches={matches} current={shown} />
      </ScrollRegion>
    </div>
  );
}

interface MatchStepsProps {
  readonly count: number;
  readonly current: number;
  readonly onStep: (by: number) => void;
}

function MatchSteps({ count, current, onStep }: MatchStepsProps) {
  const { t } = useTranslation();
  return (
    <span className="text-view-steps">
      <span role="status">
        {count === 0
          ? t('textView.noMatch')
          : t('textView.matchOf', { current: current + 1, total: count })}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        disabled={count === 0}
        aria-label={t('textView.previous')}
        onClick={() => onStep(-1)}
      >
        <IconChevronUp size={15} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        disabled={count === 0}
        aria-label={t('textView.next')}
        onClick={() => onStep(1)}
      >
        <IconChevronDown size={15} />
      </ActionIcon>
    </span>
  );
}

interface MarkedTextProps {
  readonly text: string;
  readonly search: string;
  readonly matches: readonly number[];
  readonly current: number;
}

function MarkedText({ text, search, matches, current }: MarkedTextProps) {
  const json = useMemo(() => findJson(text), [text]);
  if (matches.length === 0) {
    if (json === undefined) return text;
    return (
      <>
        {text.slice(0, json)}
        <Code language="json" code={text.slice(json)} />
      </>
    );
  }
  return splitByMatches(text, matches, search.length).map(({ at, piece, match }) =>
    match === undefined ? (
      piece
    ) : (
      <mark key={at} {...(match === current ? { 'data-current': true } : {})}>
        {piece}
      </mark>
    ),
  );
}

/** Where JSON begins that reaches to the end: at once, or below the head of a message; undefined where there is none. */
function findJson(text: string): number | undefined {
  const start = /^[{[]/.test(text) ? 0 : text.indexOf('\n\n') + 2;
  if (!/[{[]/.test(text.charAt(start))) return undefined;
  try {
    JSON.parse(text.slice(start));
    return start;
  } catch {
    return undefined;
  }
}

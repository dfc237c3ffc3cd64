// What was said: answers as Markdown, all else as text, thinking folded, pictures as pictures.

import { ActionIcon, Alert, Button, Loader, Textarea } from '@mantine/core';
import { IconAlertTriangle, IconDownload, IconMessageCode, IconPencil } from '@tabler/icons-react';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../../components/empty-note.tsx';
import { Hint } from '../../components/hint.tsx';
import { later } from '../../components/later.tsx';
import type { MarkdownProps } from '../../components/markdown/markdown.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import type { AnswerPiece } from '../../wire/read-answer.ts';
import type { Ending } from '../../wire/read-ending.ts';
import type { ToolCall, ToolResult } from '../../wire/write-request.ts';
import { AnswerFoot } from './answer-foot.tsx';
import { FileList } from './file-list.tsx';
import { callsOf, type Said, textOf } from './turns-of.ts';
import type { Conversation, Trouble } from './use-conversation.ts';

const Markdown = later(
  async () => (await import('../../components/markdown/markdown.tsx')).Markdown,
  PlainText,
);

export interface ConversationViewProps {
  readonly talk: Conversation;
  /** Names it beside another. */
  readonly label: string;
  readonly onRegenerate: () => void;
  readonly onEdit: (index: number, text: string) => void;
  /** What the calls gave, as far as that is known already. */
  readonly results: readonly ToolResult[] | undefined;
  readonly onResults: (results: readonly ToolResult[]) => void;
}

export function ConversationView(props: ConversationViewProps) {
  const { talk, label, onRegenerate, onEdit, results, onResults } = props;
  const { t } = useTranslation();
  const { said, trouble, isBusy } = talk;
  const end = useRef<HTMLDivElement>(null);
  const showEnd = useCallback(() => {
    const list = end.current?.parentElement;
    if (list !== null && list !== undefined) list.scrollTop = list.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes on as the answer does
  useEffect(showEnd, [said, trouble, showEnd]);
  const last = said.at(-1);
  const isSaid = last?.pieces.some(({ kind }) => kind === 'error' || kind === 'ending');
  if (last === undefined) {
    return (
      <div className="talk-empty">
        <EmptyNote
          icon={<IconMessageCode size={32} stroke={1.5} />}
          title={t('playground.empty')}
          hint={t('playground.emptyHint')}
        />
      </div>
    );
  }
  const calls = last.role === 'assistant' && !isBusy ? callsOf(last) : [];
  return (
    <ScrollRegion
      className="talk"
      label={label}
      // A picture has its height only now.
      onLoadCapture={showEnd}
    >
      {/* Answers have headings of their own below it. */}
      <h2 className="visually-hidden">{label}</h2>
      {said.map((turn, index) => (
        <TurnView
          // biome-ignore lint/suspicious/noArrayIndexKey: turns have no name but their place
          key={index}
          turn={turn}
          isComing={isBusy && turn === last}
          onRegenerate={turn === last && !isBusy ? onRegenerate : undefined}
          onEdit={isBusy ? undefined : (text) => onEdit(index, text)}
        />
      ))}
      {calls.length > 0 && (
        <ToolResults key={said.length} {...{ calls, results }} onSend={onResults} />
      )}
      {trouble !== undefined && !(SAID_IN_PLACE.has(trouble) && isSaid) && (
        <TroubleNote trouble={trouble} />
      )}
      <div ref={end} />
    </ScrollRegion>
  );
}

/** Troubles the answer itself gives the reason of, where it gives one. */
const SAID_IN_PLACE: ReadonlySet<Trouble> = new Set<Trouble>(['refused', 'empty']);

interface TurnViewProps {
  readonly turn: Said;
  readonly isComing: boolean;
  readonly onRegenerate: (() => void) | undefined;
  readonly onEdit: ((text: string) => void) | undefined;
}

function TurnView({ turn, isComing, onRegenerate, onEdit }: TurnViewProps) {
  const { t } = useTranslation();
  const { role, pieces } = turn;
  if (role === 'user') return <UserTurn turn={turn} onEdit={onEdit} />;
  if (pieces.length === 0 && !isComing) return null;
  return (
    <article className="turn is-assistant" aria-busy={isComing}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
        <PieceView key={index} piece={piece} number={index + 1} />
      ))}
      {isComing && pieces.length === 0 && (
        <Loader size="sm" type="dots" aria-label={t('common.loading')} />
      )}
      {!isComing && <AnswerFoot said={turn} onRegenerate={onRegenerate} />}
    </article>
  );
}

interface UserTurnProps {
  readonly turn: Said;
  readonly onEdit: ((text: string) => void) | undefined;
}

function UserTurn({ turn, onEdit }: UserTurnProps) {
  const { t } = useTranslation();
  const [edited, setEdited] = useState<string>();
  const { files = [], results = [], isEdited = false } = turn;
  const text = textOf(turn);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (edited === undefined || edited.trim() === '') return;
    setEdited(undefined);
    onEdit?.(edited);
  };
  return (
    <article className="turn is-user">
      <span className="visually-hidden">{t('playground.you')}</span>
      {results.map(({ id, name, text: result }) => (
        <div key={id} className="turn-tool">
          <strong>{t('playground.toolResult', { name })}</strong>
          <pre className="mono">{result}</pre>
        </div>
      ))}
      {files.length > 0 && <FileList files={files} />}
      {edited === undefined && text !== '' && <p className="turn-text">{text}</p>}
      {isEdited && <p className="dimmed small">{t('playground.sentAsEdited')}</p>}
      {edited !== undefined && (
        <form onSubmit={submit} className="turn-edit">
          <Textarea
            aria-label={t('playground.editMessage')}
            autosize
            autoFocus
            minRows={1}
            maxRows={12}
            value={edited}
            onChange={({ currentTarget }) => setEdited(currentTarget.value)}
          />
          <div className="turn-edit-actions">
            <Button size="xs" variant="default" onClick={() => setEdited(undefined)}>
              {t('common.cancel')}
            </Button>
            <Button size="xs" type="submit" disabled={edited.trim() === ''}>
              {t('playground.send')}
            </Button>
          </div>
        </form>
      )}
      {edited === undefined && onEdit !== undefined && text !== '' && (
        <div className="turn-actions">
          <Hint label={t('playground.editMessage')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t('playground.editMessage')}
              onClick={() => setEdited(text)}
            >
              <IconPencil size={15} />
            </ActionIcon>
          </Hint>
        </div>
      )}
    </article>
  );
}

interface PieceViewProps {
  readonly piece: AnswerPiece;
  readonly number: number;
}

function PieceView({ piece, number }: PieceViewProps) {
  const { t } = useTranslation();
  switch (piece.kind) {
    case 'text':
      return <Markdown text={piece.text} />;
    case 'thought':
      return (
        <details className="turn-thought">
          <summary>{t('playground.thought')}</summary>
          <p className="turn-text">{piece.text}</p>
        </details>
      );
    case 'tool-call':
      return (
        <div className="turn-tool">
          <strong>{t('playground.toolCall', { name: piece.name })}</strong>
          <pre className="mono">{piece.text}</pre>
        </div>
      );
    case 'image':
      return (
        <figure className="turn-image">
          <img src={piece.url} alt={t('playground.imageAlt', { number })} />
          <figcaption>
            <a href={piece.url} download={`isthmus-${number}.${extensionOf(piece.url)}`}>
              <IconDownload size={14} aria-hidden="true" />
              {t('playground.saveImage')}
            </a>
          </figcaption>
        </figure>
      );
    case 'error':
      return <ErrorView text={piece.text} />;
    case 'ending':
      return <EndingView ending={piece} />;
    default:
      return piece satisfies never;
  }
}

/** Until the reader of Markdown is there. */
function PlainText({ text }: MarkdownProps) {
  return <p className="turn-text">{text}</p>;
}

function ErrorView({ text }: { readonly text: string }) {
  return (
    <p role="alert" className="turn-text turn-error">
      {text}
    </p>
  );
}

function EndingView({ ending: { reason, text, code } }: { readonly ending: Ending }) {
  const { t } = useTranslation();
  const why = code === '' ? t('playground.heldBack') : t('playground.heldBackAs', { code });
  return (
    <div role="alert" className="turn-ending">
      <p className="turn-text">{reason === 'limit' ? t('playground.atLimit') : text || why}</p>
      <p className="dimmed small">
        {t(reason === 'limit' ? 'playground.atLimitHint' : 'playground.heldBackHint')}
      </p>
    </div>
  );
}

function TroubleNote({ trouble }: { readonly trouble: Trouble }) {
  const { t } = useTranslation();
  const words: Readonly<Record<Trouble, string>> = {
    'needs-key': t('playground.needsKey'),
    refused: t('playground.failed'),
    empty: t('playground.noAnswer'),
    unreachable: t('playground.unreachable'),
    stopped: t('playground.stopped'),
  };
  return (
    <Alert
      role="alert"
      variant="light"
      color={trouble === 'stopped' ? 'gray' : 'red'}
      icon={<IconAlertTriangle size={18} />}
    >
      {words[trouble]}
    </Alert>
  );
}

function extensionOf(url: string): string {
  return /^data:image\/(\w+)/.exec(url)?.[1] ?? 'png';
}

interface ToolResultsProps {
  readonly calls: readonly ToolCall[];
  /** As far as they are known already. */
  readonly results: readonly ToolResult[] | undefined;
  readonly onSend: (results: readonly ToolResult[]) => void;
}

function ToolResults({ calls, results = [], onSend }: ToolResultsProps) {
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

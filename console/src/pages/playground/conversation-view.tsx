// What was said: texts as text, thinking folded, pictures as pictures.

import { Alert, Loader } from '@mantine/core';
import { IconAlertTriangle, IconDownload, IconMessageCode } from '@tabler/icons-react';
import { useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import type { AnswerPiece } from '../../wire/read-answer.ts';
import type { Ending } from '../../wire/read-ending.ts';
import type { Said } from './turns-of.ts';
import type { Conversation, Trouble } from './use-conversation.ts';

export function ConversationView({ talk }: { readonly talk: Conversation }) {
  const { t } = useTranslation();
  const { said, trouble, isBusy } = talk;
  const end = useRef<HTMLDivElement>(null);
  const showEnd = useCallback(() => {
    const list = end.current?.parentElement;
    if (list !== null && list !== undefined) list.scrollTop = list.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes on as the answer does
  useEffect(showEnd, [said, trouble, showEnd]);
  const isSaid = said.at(-1)?.pieces.some(({ kind }) => kind === 'error' || kind === 'ending');
  if (said.length === 0) {
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
  return (
    <ScrollRegion
      className="talk"
      label={t('shell.pages.playground')}
      // A picture has its height only now.
      onLoadCapture={showEnd}
    >
      {said.map((turn, index) => (
        <TurnView
          // biome-ignore lint/suspicious/noArrayIndexKey: turns have no name but their place
          key={index}
          turn={turn}
          isComing={isBusy && index === said.length - 1}
        />
      ))}
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
}

function TurnView({ turn, isComing }: TurnViewProps) {
  const { t } = useTranslation();
  const { role, pieces } = turn;
  if (role === 'assistant' && pieces.length === 0 && !isComing) return null;
  return (
    <article className={`turn is-${role}`} aria-busy={isComing}>
      {role === 'user' && <span className="visually-hidden">{t('playground.you')}</span>}
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
        <PieceView key={index} piece={piece} number={index + 1} />
      ))}
      {isComing && pieces.length === 0 && <Loader size="sm" type="dots" />}
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
      return <p className="turn-text">{piece.text}</p>;
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

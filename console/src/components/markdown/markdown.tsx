// A text with Markdown as elements: what it is made of comes from people and models, so that no markup of it is ever used.

import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Code } from '../code/code.tsx';
import { CopyIcon } from '../copy-button.tsx';
import { ScrollRegion } from '../scroll-region.tsx';
import { isClosed, readMarkdown } from './read-markdown.ts';
import './markdown.css';

export interface MarkdownProps {
  readonly text: string;
}

/** Deeper ones come from nobody who wants to be read. */
const MAX_DEPTH = 24;

export function Markdown({ text }: MarkdownProps) {
  const tokens = useMemo(() => readMarkdown(text), [text]);
  if (tokens === undefined) return <p className="markdown-plain">{text}</p>;
  return (
    <div className="markdown">
      <Blocks tokens={tokens} depth={0} />
    </div>
  );
}

interface TokensProps {
  readonly tokens: readonly Token[];
  readonly depth: number;
}

function Blocks({ tokens, depth }: TokensProps): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
    <Fragment key={index}>{toBlock(token as Tokens.Generic, depth)}</Fragment>
  ));
}

function toBlock(token: Tokens.Generic, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  const inner = token.tokens ?? [];
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'code':
      return (
        <CodeBlock
          language={String(token.lang ?? '')}
          code={String(token.text)}
          isWhole={isClosed(token.raw)}
        />
      );
    case 'heading':
      return <Heading level={Number(token.depth)} tokens={inner} depth={depth + 1} />;
    case 'hr':
      return <hr />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={inner} depth={depth + 1} />
        </blockquote>
      );
    case 'list':
      return <List list={token as unknown as Tokens.List} depth={depth + 1} />;
    case 'table':
      return <Table table={token as unknown as Tokens.Table} depth={depth + 1} />;
    case 'paragraph':
      return (
        <p>
          <Inline tokens={inner} depth={depth + 1} />
        </p>
      );
    case 'text':
      return inner.length > 0 ? <Inline tokens={inner} depth={depth + 1} /> : decode(token.text);
    default:
      // Markup stays the text it is.
      return <p>{token.raw.trimEnd()}</p>;
  }
}

function Inline({ tokens, depth }: TokensProps): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
    <Fragment key={index}>{toInline(token as Tokens.Generic, depth)}</Fragment>
  ));
}

function toInline(token: Tokens.Generic, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  const inner = <Inline tokens={token.tokens ?? []} depth={depth + 1} />;
  switch (token.type) {
    case 'strong':
      return <strong>{inner}</strong>;
    case 'em':
      return <em>{inner}</em>;
    case 'del':
      return <del>{inner}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <OutsideLink href={String(token.href)}>{inner}</OutsideLink>;
    case 'image':
      // Loading it would tell its owner who reads, and what.
      return (
        <OutsideLink href={String(token.href)}>{decode(token.text) || token.href}</OutsideLink>
      );
    case 'checkbox':
      return null;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens === undefined ? decode(token.text) : inner;
    default:
      return token.raw;
  }
}

interface HeadingProps extends TokensProps {
  readonly level: number;
}

/** Below those of the page. */
function Heading({ level, tokens, depth }: HeadingProps) {
  const inner = <Inline tokens={tokens} depth={depth} />;
  if (level <= 1) return <h3>{inner}</h3>;
  if (level === 2) return <h4>{inner}</h4>;
  return level === 3 ? <h5>{inner}</h5> : <h6>{inner}</h6>;
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
    <li key={index}>
      {item.task && <span aria-hidden="true">{item.checked === true ? '☑ ' : '☐ '}</span>}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} depth={depth} />
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={typeof list.start === 'number' ? list.start : 1}>{items}</ol>;
}

function Table({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  const { t } = useTranslation();
  return (
    <ScrollRegion className="markdown-table" label={t('markdown.table')}>
      <table className="plain-table">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
              <th key={index}>
                <Inline tokens={cell.tokens} depth={depth} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
            <tr key={at}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no name but their place
                <td key={index}>
                  <Inline tokens={cell.tokens} depth={depth} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface CodeBlockProps {
  readonly language: string;
  readonly code: string;
  /** Nothing more of it arrives: one that grows would be highlighted again from its start with every piece. */
  readonly isWhole: boolean;
}

function CodeBlock({ language, code, isWhole }: CodeBlockProps) {
  const { t } = useTranslation();
  const [word = ''] = language.split(/\s/);
  const name = /^[\w+#.-]{1,24}$/.test(word) ? word : '';
  return (
    <div className="markdown-code">
      <div className="markdown-code-head">
        <span className="dimmed small">{name}</span>
        <CopyIcon text={code} label={t('markdown.copyCode')} />
      </div>
      <ScrollRegion label={name === '' ? t('markdown.code') : t('markdown.codeIn', { name })}>
        <pre>
          <code>{isWhole && name !== '' ? <Code language={name} code={code} /> : code}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}

interface OutsideLinkProps {
  readonly href: string;
  readonly children: ReactNode;
}

/** Nothing but a web or mail address is ever followed, and nobody is told where from. */
function OutsideLink({ href, children }: OutsideLinkProps) {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  const isSafe = url !== undefined && /^(?:https?|mailto):$/.test(url.protocol);
  if (!isSafe) return <span>{children}</span>;
  return (
    <a href={url.href} title={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: '\u00a0',
};

/** The few character references that models write. */
function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name) => ENTITIES[name] ?? whole);
}

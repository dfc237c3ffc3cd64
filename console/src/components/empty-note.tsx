// What stands where there is nothing yet: says why, and what to do next.

import type { ReactNode } from 'react';
import './empty-note.css';

export interface EmptyNoteProps {
  readonly title: string;
  readonly hint: string;
  readonly icon?: ReactNode;
  /** What the title is: the heading of a page that has nothing else. */
  readonly titleAs?: 'p' | 'h1';
  readonly action?: ReactNode;
}

export function EmptyNote({ title, titleAs: Title = 'p', hint, icon, action }: EmptyNoteProps) {
  return (
    <div className="empty-note">
      {icon !== undefined && (
        <div className="empty-icon" aria-hidden="true">
          {icon}
        </div>
      )}
      <Title className="empty-title">{title}</Title>
      <p className="empty-hint">{hint}</p>
      {action !== undefined && <div className="empty-action">{action}</div>}
    </div>
  );
}

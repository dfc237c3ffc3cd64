// What stands where there is nothing yet: says why, and what to do next.

import type { ReactNode } from 'react';
import './empty-note.css';

export interface EmptyNoteProps {
  readonly title: string;
  readonly hint: string;
  readonly icon?: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyNote({ title, hint, icon, action }: EmptyNoteProps) {
  return (
    <div className="empty-note">
      {icon !== undefined && (
        <div className="empty-icon" aria-hidden="true">
          {icon}
        </div>
      )}
      <p className="empty-title">{title}</p>
      <p className="empty-hint">{hint}</p>
      {action !== undefined && <div className="empty-action">{action}</div>}
    </div>
  );
}

// A bordered surface with a heading: what pages are made of.

import { type ReactNode, useId } from 'react';
import './panel.css';

export interface PanelProps {
  readonly title?: ReactNode;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without inner space, for tables and lists that reach the border. */
  readonly isFlush?: boolean;
  readonly className?: string;
}

export function Panel({ title, hint, actions, children, isFlush, className = '' }: PanelProps) {
  const id = useId();
  const naming = title === undefined ? {} : { 'aria-labelledby': id };
  return (
    <section className={`panel ${className}`} {...naming}>
      {title !== undefined && (
        <header className="panel-head">
          <div className="panel-words">
            <h2 id={id}>{title}</h2>
            {hint !== undefined && <p>{hint}</p>}
          </div>
          {actions !== undefined && <div className="panel-actions">{actions}</div>}
        </header>
      )}
      <div className={isFlush === true ? 'panel-body is-flush' : 'panel-body'}>{children}</div>
    </section>
  );
}

import type { ReactNode } from 'react';
import { Code } from './code.tsx';

/** What a list says that holds nothing: what would be in it, and the exact command that puts it there. */
export function Empty(props: {
  title: string;
  children?: ReactNode;
  command?: string;
  action?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <h2>{props.title}</h2>
      {props.children && <p className="muted">{props.children}</p>}
      {props.command && <Code text={props.command} label="Command" />}
      {props.action}
    </div>
  );
}

import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';

/** Text as it is: a body, a command. JSON is laid out. */
export function Code({ text, label }: { text: string; label?: string }): ReactNode {
  const shown = laidOut(text);
  return (
    // Long text is scrolled, by keyboard, too.
    <div className="code">
      <pre tabIndex={0} role="region" aria-label={label ?? 'Text'}>
        <code>{shown}</code>
      </pre>
      <CopyButton text={shown} />
    </div>
  );
}

function laidOut(text: string): string {
  try {
    return /^\s*[[{]/.test(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
}

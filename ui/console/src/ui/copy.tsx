import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';

/** A button that puts `text` into the clipboard, and says so. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      className="copy"
      onClick={() => void copy()}
      aria-label={`${label}: ${text.slice(0, 80)}`}
      title={label}
    >
      {isCopied ? <Check size={14} aria-hidden /> : <CopyIcon size={14} aria-hidden />}
      <span className="hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** An id that can be copied; `isShort` shows its end, which is what differs. */
export function Id({ value, isShort = false }: { value: string; isShort?: boolean }): ReactNode {
  const isCut = isShort && value.length > 13;
  return (
    <span className="id">
      <code title={value}>{isCut ? `…${value.slice(-10)}` : value}</code>
      <CopyButton text={value} label="Copy the id" />
    </span>
  );
}

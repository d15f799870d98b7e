import { SvcError } from '@svc/client';
import { useEffect, useRef, useState, type ReactNode, type SyntheticEvent } from 'react';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';
import { useUnsaved } from './unsaved.ts';

/**
 * A form: its fields, what its last sending said, and its buttons. Fields that show an issue of their own are named in `fields`, by the path
 * that the problem gives or begins with, and read it by `issueAt`. What was typed and not sent is asked about before the page is left.
 */
export function Form(props: {
  children: ReactNode;
  submit: string;
  isBusy: boolean;
  error: Error | null;
  fields?: readonly string[];
  look?: 'primary' | 'danger';
  disabledFor?: string | undefined;
  onSubmit: () => void;
  onCancel?: () => void;
}): ReactNode {
  const { submit, isBusy, error, fields = [], look = 'primary', disabledFor, onSubmit, onCancel } = props;
  const onSend = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!isBusy && disabledFor === undefined) onSubmit();
  };
  const onTyped = useTyped(isBusy, error);
  const names = error instanceof SvcError ? error.issues.map(({ name }) => name) : [];
  const atFields = names.filter((name) => fieldOf(name, fields) !== undefined);
  const isAllAtFields = names.length > 0 && atFields.length === names.length;
  return (
    <form className="form" onSubmit={onSend} onInput={onTyped} noValidate>
      {props.children}
      {error && !isAllAtFields && <Problem error={error} shownAtFields={atFields} />}
      <div className="form-actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" look={look} isBusy={isBusy} disabledFor={disabledFor}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** Notes what is typed as unsaved until it is taken. While it is sent, the page may go on by itself. */
function useTyped(isBusy: boolean, error: Error | null): () => void {
  const [isTyped, setTyped] = useState(false);
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !isBusy && !error) setTyped(false);
    wasBusy.current = isBusy;
  }, [isBusy, error]);
  useUnsaved(isTyped && !isBusy);
  return () => setTyped(true);
}

/**
 * The field that an issue stands at, which begins most of its path, and what of the path is within the field. What is changed stands in a
 * body below a word of its own, such as `installation`, which some paths have and some do not.
 */
function fieldOf(name: string, fields: readonly string[]): { field: string; rest: string } | undefined {
  const longest = fields.toSorted((one, other) => other.length - one.length);
  for (const path of [name, name.replace(/^\w+\./, '')]) {
    const field = longest.find((one) => path.startsWith(one) && /^([.[]|$)/.test(path.slice(one.length)));
    if (field !== undefined) return { field, rest: path.slice(field.length).replace(/^\./, '') };
  }
  return undefined;
}

/** What a refusal says of one field and of what is within it; of what is within another of `fields`, it says it there. */
export function issueAt(
  error: Error | null,
  path: string,
  fields: readonly string[] = [],
): string | undefined {
  if (!(error instanceof SvcError)) return undefined;
  const told = error.issues.flatMap(({ name, detail }) => {
    const at = fieldOf(name, [path, ...fields]);
    if (at?.field !== path) return [];
    return at.rest === '' || detail.includes(at.rest) ? detail : `${at.rest}: ${detail}`;
  });
  return told.length === 0 ? undefined : told.join(' ');
}

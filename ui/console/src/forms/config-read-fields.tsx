import { useState, type ReactNode } from 'react';
import { TextArea } from '../ui/field.tsx';

type Set = (member: string, value: unknown) => void;

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The fields that are read, one a line. */
export function SelectedFields(props: {
  fields: Readonly<Record<string, boolean>> | undefined;
  issue: string | undefined;
  onChange: Set;
}): ReactNode {
  const { fields = {}, issue, onChange } = props;
  const [text, setText] = useState(() =>
    Object.entries(fields)
      .filter(([, isRead]) => isRead)
      .map(([name]) => name)
      .join('\n'),
  );
  const change = (typed: string): void => {
    setText(typed);
    // What is named as not read stays named.
    const off = Object.entries(fields).filter(([, isRead]) => !isRead);
    const all = [...off, ...linesOf(typed).map((name) => [name, true] as const)];
    onChange('selectedFields', all.length === 0 ? undefined : Object.fromEntries(all));
  };
  return (
    <TextArea
      label="Fields that are read"
      hint="As the provider calls them, one a line."
      rows={4}
      value={text}
      issue={issue}
      onChange={change}
    />
  );
}

/** Your names of fields and the provider's, one pair a line. */
export function FieldMappings(props: {
  mappings: Readonly<Record<string, string>> | undefined;
  issue: string | undefined;
  onChange: Set;
}): ReactNode {
  const { mappings = {}, issue, onChange } = props;
  const [text, setText] = useState(() =>
    Object.entries(mappings)
      .map((pair) => pair.join(': '))
      .join('\n'),
  );
  const change = (typed: string): void => {
    setText(typed);
    const pairs = linesOf(typed).map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [name.trim(), rest.join(':').trim()] as const;
    });
    onChange('selectedFieldMappings', pairs.length === 0 ? undefined : Object.fromEntries(pairs));
  };
  return (
    <TextArea
      label="Mapped fields"
      hint="Your name, a colon, the provider’s name; one pair a line."
      rows={3}
      value={text}
      issue={issue}
      onChange={change}
    />
  );
}

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

type Pair = readonly [name: string, fieldName: string];

function pairsOf(text: string): Pair[] {
  return linesOf(text).map((line) => {
    const [name = '', ...rest] = line.split(':');
    return [name.trim(), rest.join(':').trim()];
  });
}

/** A line that is no pair, or a name that stands twice, of which one would be lost. */
function faultOf(pairs: readonly Pair[]): string | undefined {
  const half = pairs.find(([name, fieldName]) => name === '' || fieldName === '');
  if (half)
    return `“${half.filter(Boolean).join(': ')}” is no pair: write your name, a colon, and the provider’s name.`;
  const names = pairs.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  return twice === undefined ? undefined : `${twice} stands here twice.`;
}

/** Your names of fields and the provider's, one pair a line. */
export function FieldMappings(props: {
  mappings: Readonly<Record<string, string>> | undefined;
  issue: string | undefined;
  onChange: Set;
  onFault: (said: string | undefined) => void;
}): ReactNode {
  const { mappings = {}, issue, onChange, onFault } = props;
  const [text, setText] = useState(() =>
    Object.entries(mappings)
      .map((pair) => pair.join(': '))
      .join('\n'),
  );
  const change = (typed: string): void => {
    setText(typed);
    const pairs = pairsOf(typed);
    const said = faultOf(pairs);
    onFault(said);
    if (said === undefined)
      onChange('selectedFieldMappings', pairs.length === 0 ? undefined : Object.fromEntries(pairs));
  };
  return (
    <TextArea
      label="Mapped fields"
      hint="Your name, a colon, the provider’s name; one pair a line."
      rows={3}
      value={text}
      issue={faultOf(pairsOf(text)) ?? issue}
      onChange={change}
    />
  );
}

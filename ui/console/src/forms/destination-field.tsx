import type { DestinationType } from '@svc/client';
import type { ReactNode } from 'react';
import { CheckField, TextArea, TextField } from '../ui/field.tsx';
import { issueAt } from '../ui/form.tsx';
import { kinds, type KindField, type Typed } from './destination-fields.ts';

/** What a kind of destination asks for. `isKept`: it is there already, and what stays empty of its secrets stays as it is. */
export function DestinationFields(props: {
  type: DestinationType;
  typed: Typed;
  setTyped: (typed: Typed) => void;
  secret: Typed;
  setSecret: (typed: Typed) => void;
  isKept?: boolean;
  error: Error | null;
}): ReactNode {
  const { type, typed, setTyped, secret, setSecret, isKept = false, error } = props;
  const { metadata, secrets } = kinds[type];
  return (
    <>
      {metadata.map((field) => (
        <KindInput
          key={field.name}
          field={field}
          text={typed[field.name] ?? ''}
          issue={issueAt(error, `metadata.${field.name}`)}
          onChange={(text) => setTyped({ ...typed, [field.name]: text })}
        />
      ))}
      {/* A signing key is rotated, so that receivers can follow. */}
      {!(isKept && type === 'webhook') &&
        secrets.map((field) => (
          <KindInput
            key={field.name}
            isSecret
            field={isKept ? { ...field, placeholder: 'As it is' } : field}
            text={secret[field.name] ?? ''}
            issue={issueAt(error, `secrets.${field.name}`)}
            onChange={(text) => setSecret({ ...secret, [field.name]: text })}
          />
        ))}
    </>
  );
}

function KindInput(props: {
  field: KindField;
  text: string;
  issue: string | undefined;
  isSecret?: boolean;
  onChange: (text: string) => void;
}): ReactNode {
  const { field, text, issue, isSecret = false, onChange } = props;
  const { label, hint, look, placeholder } = field;
  if (look === 'yesOrNo')
    return (
      <CheckField
        label={label}
        hint={hint}
        checked={text === 'true'}
        onChange={(checked) => onChange(String(checked))}
      />
    );
  const shared = { label, hint, issue, placeholder, value: text, onChange };
  if (look === 'headers') return <TextArea {...shared} rows={3} />;
  return (
    <TextField
      {...shared}
      inputMode={look === 'number' ? 'numeric' : undefined}
      {...(isSecret ? { type: 'password', autoComplete: 'new-password' } : {})}
    />
  );
}

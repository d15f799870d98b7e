import type { ConfigContent } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { TextArea } from '../ui/field.tsx';

/** A config as JSON. What is no JSON is told, and kept while it is typed. */
export function ConfigText(props: {
  content: ConfigContent;
  setContent: (content: ConfigContent) => void;
  fault: string | undefined;
  setFault: (at: string, said: string | undefined) => void;
}): ReactNode {
  const { content, setContent, fault, setFault } = props;
  const [text, setText] = useState(() => JSON.stringify(content, null, 2));
  const change = (typed: string): void => {
    setText(typed);
    try {
      setContent(JSON.parse(typed) as ConfigContent);
      setFault('text', undefined);
    } catch (error) {
      setFault('text', `This is no JSON: ${(error as Error).message}`);
    }
  };
  return (
    <TextArea
      label="Config"
      hint="The whole of it. What is left out is gone."
      rows={22}
      spellCheck={false}
      value={text}
      issue={fault}
      onChange={change}
    />
  );
}

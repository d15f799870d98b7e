import { useQuery } from '@tanstack/react-query';
import type { ConfigContent, ReadObjectConfig, WriteObjectConfig } from '@svc/client';
import type { ReactNode } from 'react';
import { withValue } from '../data/leaves.ts';
import { destinationsQuery } from '../pages/destinations/queries.ts';
import { CheckField, SelectField, TextField } from '../ui/field.tsx';
import { issueAt } from '../ui/form.tsx';
import { FieldMappings, SelectedFields } from './config-read-fields.tsx';

interface Given {
  project: string;
  content: ConfigContent;
  setContent: (content: ConfigContent) => void;
  error: Error | null;
  /** Of what was typed into a field that has a form of its own: what is wrong with it. */
  setFault: (at: string, said: string | undefined) => void;
}

/** What is changed most in a config, object by object. The rest of it stays as it is. */
export function ConfigFields(given: Given): ReactNode {
  const { content, setContent } = given;
  const reads = Object.entries(content.read?.objects ?? {});
  const writes = Object.entries(content.write?.objects ?? {});
  return (
    <div className="stack">
      {reads.map(([name, object]) => (
        <ReadObject key={name} {...given} name={name} object={object} />
      ))}
      {writes.map(([name, object]) => (
        <WriteObject key={name} {...given} name={name} object={object} />
      ))}
      <fieldset className="card stack">
        <legend className="strong">Proxy</legend>
        <CheckField
          label="Calls through the proxy are let through"
          checked={content.proxy?.enabled ?? false}
          onChange={(enabled) => setContent(withValue(content, ['proxy', 'enabled'], enabled))}
        />
      </fieldset>
    </div>
  );
}

function ReadObject(given: Given & { name: string; object: ReadObjectConfig }): ReactNode {
  const { project, content, setContent, error, setFault, name, object } = given;
  const { data: destinations = [] } = useQuery(destinationsQuery(project));
  const names = [...new Set([...destinations.map((one) => one.name), object.destination ?? ''])];
  const set = (member: string, value: unknown): void =>
    setContent(withValue(content, ['read', 'objects', name, member], value));
  const issue = (member: string) => issueAt(error, `config.content.read.objects.${name}.${member}`);
  return (
    <fieldset className="card stack">
      <legend className="strong">Read {name}</legend>
      <CheckField
        label="It is read"
        hint="Otherwise its schedule stands still, and reads on demand are refused."
        checked={object.disabled !== true}
        onChange={(isRead) => set('disabled', isRead ? undefined : true)}
      />
      <TextField
        label="Schedule"
        hint="Cron with five fields, at most every ten minutes. Empty: as the integration says."
        value={object.schedule ?? ''}
        issue={issue('schedule')}
        onChange={(text) => set('schedule', text === '' ? undefined : text)}
      />
      <SelectField
        label="Destination"
        value={object.destination ?? ''}
        options={names.map((value) => ({ value, label: value || 'As the integration says' }))}
        issue={issue('destination')}
        onChange={(value) => set('destination', value === '' ? undefined : value)}
      />
      <SelectedFields fields={object.selectedFields} issue={issue('selectedFields')} onChange={set} />
      <FieldMappings
        mappings={object.selectedFieldMappings}
        issue={issue('selectedFieldMappings')}
        onChange={set}
        onFault={(said) => setFault(`${name} selectedFieldMappings`, said)}
      />
    </fieldset>
  );
}

function WriteObject(given: Given & { name: string; object: WriteObjectConfig }): ReactNode {
  const { content, setContent, name, object } = given;
  const path = ['write', 'objects', name];
  return (
    <fieldset className="card stack">
      <legend className="strong">Write {name}</legend>
      <CheckField
        label="Records may be deleted"
        checked={object.deletionSettings?.enabled ?? false}
        onChange={(isOn) =>
          setContent(withValue(content, [...path, 'deletionSettings'], isOn ? { enabled: true } : undefined))
        }
      />
      <CheckField
        label="Written through the mappings of its read"
        checked={object.inheritMapping ?? false}
        onChange={(isOn) => setContent(withValue(content, [...path, 'inheritMapping'], isOn || undefined))}
      />
    </fieldset>
  );
}

import type { ReactNode } from 'react';
import type { FieldMetadata, FieldSetting, HydratedRevision, HydratedWriteObject } from '@svc/client';
import { writeConfigOf, type WriteEdit } from '../state/draft.ts';
import type { OfferedMappings } from '../state/questions.ts';
import { ruledFields, rulesOf, type Rule } from '../state/rules.ts';
import { issueText, IssueText, Toggle } from './ui.tsx';
import { useText } from '../text/index.tsx';
import { FieldPicker, type Choice as Field } from './field-picker.tsx';
import type { PanelProps } from './read-panel.tsx';

interface WritePanelProps extends PanelProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
}

/** What may be written: deletion, and rules for single fields. */
export function WritePanel({ revision, offered, draft, edit, issuesAt }: WritePanelProps): ReactNode {
  const t = useText();
  const objects = (revision.content.write?.objects ?? []).filter(({ objectName }) =>
    writeConfigOf(draft, objectName),
  );
  if (objects.length === 0) return <p className="svc-intro">{t('writeNothing')}</p>;
  return (
    <div className="svc-stack">
      <p className="svc-intro">{t('writeIntro')}</p>
      {objects.map((object) => (
        <WriteObject key={object.objectName} {...{ object, revision, offered, draft, edit, issuesAt }} />
      ))}
    </div>
  );
}

function WriteObject({
  object,
  revision,
  offered,
  draft,
  edit,
  issuesAt,
}: WritePanelProps & { object: HydratedWriteObject }): ReactNode {
  const t = useText();
  const { objectName } = object;
  const at = `write/${objectName}`;
  const config = writeConfigOf(draft, objectName);
  const set = (change: WriteEdit): void => edit({ on: 'write', object: objectName, set: change });
  const written = { revision, draft, objectName };
  const rules = rulesOf(written, offered);
  const ruled = new Set(rules.map(({ name, field }) => field?.fieldName ?? name));
  const free = ruledFields(written, offered).filter(({ field }) => !ruled.has(field.fieldName));
  const choices = free.map(({ name, field, matchedTo }): Field => ({
    value: name,
    label: field.displayName,
    note: [field.fieldName, ...(matchedTo === undefined ? [] : [t('matchedTo', { name: matchedTo })])].join(
      ' · ',
    ),
    words: `${field.fieldName} ${matchedTo ?? ''}`,
  }));
  return (
    <section className="svc-section svc-box">
      <h3>
        <bdi>{object.displayName}</bdi>
      </h3>
      <IssueText id={`${at}-issue`} issues={issuesAt(at)} />
      <Toggle
        label={t('allowDelete')}
        hint={t('allowDeleteHint')}
        checked={config?.deletionSettings?.enabled === true}
        onChange={(enabled) => set({ kind: 'deletion', enabled })}
      />
      {rules.map((rule) => (
        <RuleCard
          key={rule.name}
          rule={rule}
          issue={issuesAt(`${at}/settings/${rule.name}`).map((issue) => issueText(issue, t))[0]}
          set={set}
        />
      ))}
      {choices.length > 0 ? (
        <FieldPicker
          key={rules.length}
          label={t('addRule')}
          choices={choices}
          value={undefined}
          onChange={(fieldName) => {
            if (fieldName !== undefined)
              set({ kind: 'settings', fieldName, settings: { writeOnUpdate: 'never' } });
          }}
        />
      ) : null}
    </section>
  );
}

interface RuleProps {
  rule: Rule;
  issue: string | undefined;
  set: (change: WriteEdit) => void;
}

function RuleCard({ rule, issue, set }: RuleProps): ReactNode {
  const t = useText();
  const { name, field, settings, label, matchedTo } = rule;
  const change = (part: FieldSetting): void =>
    set({ kind: 'settings', fieldName: name, settings: { ...settings, ...part } });
  const value = Object.values(settings.default ?? {})[0];
  return (
    <fieldset className="svc-rule">
      <legend>
        <bdi>{label}</bdi>
        {matchedTo === undefined ? null : (
          <span className="svc-muted">
            {' '}
            <bdi>{t('matchedTo', { name: matchedTo })}</bdi>
          </span>
        )}
      </legend>
      <Choice
        label={t('onCreate')}
        value={settings.writeOnCreate ?? 'always'}
        options={{ always: t('write'), never: t('neverWrite') }}
        onChange={(writeOnCreate) => change({ writeOnCreate })}
      />
      <Choice
        label={t('onUpdate')}
        value={settings.writeOnUpdate ?? 'always'}
        options={{ always: t('write'), ifEmpty: t('ifEmpty'), never: t('neverWrite') }}
        onChange={(writeOnUpdate) => change({ writeOnUpdate })}
      />
      <label className="svc-field">
        {t('defaultValue')}
        <input
          className="svc-input"
          dir="auto"
          value={value === undefined ? '' : String(value)}
          onChange={(event) => {
            const { default: _before, ...rest } = settings;
            const typed = defaultOf(event.target.value, field);
            set({ kind: 'settings', fieldName: name, settings: typed ? { ...rest, default: typed } : rest });
          }}
        />
      </label>
      <button
        type="button"
        className="svc-button svc-button-quiet"
        onClick={() => set({ kind: 'settings', fieldName: name, settings: undefined })}
      >
        {t('removeRule', { field: label })}
      </button>
      {issue ? (
        <p className="svc-issue" role="alert">
          {issue}
        </p>
      ) : null}
    </fieldset>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>): ReactNode {
  return (
    <label className="svc-field">
      {label}
      <select className="svc-input" value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {Object.entries<string>(options).map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function defaultOf(text: string, field: FieldMetadata | undefined): FieldSetting['default'] {
  if (text === '') return undefined;
  if (field?.valueType === 'int' && /^-?\d{1,15}$/.test(text)) return { integerValue: Number(text) };
  if (field?.valueType === 'boolean' && /^(true|false)$/.test(text)) return { booleanValue: text === 'true' };
  return { stringValue: text };
}

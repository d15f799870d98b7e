import type { ReactNode } from 'react';
import type { FieldMetadata, FieldSetting, HydratedRevision, HydratedWriteObject } from '@svc/client';
import { writeConfigOf, type WriteEdit } from '../state/draft.ts';
import type { OfferedMappings } from '../state/offered.ts';
import { ruledFields, rulesOf, type Rule } from '../state/rules.ts';
import { limitable, nameOf } from '../state/wizard.ts';
import { issueText, IssueText, Select, Toggle } from './ui.tsx';
import { useText } from '../text/index.tsx';
import { FieldPicker, type Choice as Field } from './field-picker.tsx';
import type { PanelProps } from './read-panel.tsx';

interface WritePanelProps extends PanelProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
}

/** What may be written: deletion, and rules for single fields. */
export function WritePanel(props: WritePanelProps): ReactNode {
  const t = useText();
  return (
    <div className="svc-stack">
      <p className="svc-intro">{t('writeIntro')}</p>
      {limitable(props.draft, props.revision).map((object) => (
        <WriteObject key={object.objectName} {...props} object={object} />
      ))}
    </div>
  );
}

function WriteObject({
  object: { objectName },
  ...props
}: WritePanelProps & { object: HydratedWriteObject }): ReactNode {
  const t = useText();
  const { revision, draft, edit, issuesAt } = props;
  const called = nameOf(revision, objectName);
  const at = `write/${objectName}`;
  const config = writeConfigOf(draft, objectName);
  const set = (change: WriteEdit): void => edit({ on: 'write', object: objectName, set: change });
  return (
    <section className="svc-section svc-box">
      <h3>
        <bdi>{called}</bdi>
      </h3>
      <p className="svc-hint">{t('mayWrite', { objects: called })}</p>
      <IssueText id={`${at}-issue`} issues={issuesAt(at)} />
      <Toggle
        label={t('allowDelete')}
        hint={t('allowDeleteHint')}
        checked={config?.deletionSettings?.enabled === true}
        onChange={(enabled) => set({ kind: 'deletion', enabled })}
      />
      <Rules {...props} objectName={objectName} set={set} />
    </section>
  );
}

interface RulesProps extends WritePanelProps {
  objectName: string;
  set: (change: WriteEdit) => void;
}

function Rules({ revision, offered, draft, issuesAt, objectName, set }: RulesProps): ReactNode {
  const t = useText();
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
    <>
      {rules.map((rule) => (
        <RuleCard
          key={rule.name}
          rule={rule}
          issue={issuesAt(`write/${objectName}/settings/${rule.name}`).map((one) => issueText(one, t))[0]}
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
    </>
  );
}

interface RuleProps {
  rule: Rule;
  issue: ReactNode;
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
          inputMode={field?.valueType === 'int' || field?.valueType === 'float' ? 'decimal' : undefined}
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
      <Select
        value={value}
        options={Object.entries<string>(options)}
        onChange={(next) => onChange(next as Value)}
      />
    </label>
  );
}

function defaultOf(text: string, field: FieldMetadata | undefined): FieldSetting['default'] {
  if (text === '') return undefined;
  if (field?.valueType === 'int' && /^-?\d{1,15}$/.test(text)) return { integerValue: Number(text) };
  if (field?.valueType === 'boolean' && /^(true|false)$/.test(text)) return { booleanValue: text === 'true' };
  return { stringValue: text };
}

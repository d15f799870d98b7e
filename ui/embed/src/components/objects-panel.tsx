import { useRef, type ReactNode } from 'react';
import type { ConfigContent, HydratedRevision, ReadObjectConfig } from '@svc/client';
import { readConfigOf, writeConfigOf } from '../state/draft.ts';
import { withObject, withoutObject } from '../state/questions.ts';
import type { OfferedMappings } from '../state/offered.ts';
import { historyOf, objectsOf, type SharedObject } from '../state/wizard.ts';
import { memberOf } from '../state/member.ts';
import { useText } from '../text/index.tsx';
import { Examples, type ExamplesProps } from './examples.tsx';
import { historyText } from './read-panel.tsx';
import { Toggle } from './ui.tsx';

interface ObjectsPanelProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
  draft: ConfigContent;
  change: (change: (draft: ConfigContent) => ConfigContent) => void;
  provider: string;
  /** The config in force; one without objects where nothing is installed. */
  saved: ConfigContent;
}

/** Which objects are read; what the integration declares for writing is written once it is installed. */
export function ObjectsPanel({
  revision,
  offered,
  draft,
  change,
  provider,
  saved,
}: ObjectsPanelProps): ReactNode {
  const t = useText();
  // What was chosen of an object that is switched off and on again.
  const before = useRef(new Map<string, ReadObjectConfig | undefined>());
  const setRead = ({ objectName }: SharedObject, enabled: boolean): void => {
    const object = revision.content.read?.objects.find((one) => one.objectName === objectName);
    if (!object) return;
    if (!enabled) before.current.set(objectName, readConfigOf(draft, objectName));
    const chosen = before.current.get(objectName);
    change((now) =>
      enabled
        ? withObject(now, object, memberOf(offered, objectName), chosen)
        : withoutObject(now, object, { revision, saved, offered: memberOf(offered, objectName) }),
    );
  };
  const objects = objectsOf(revision);
  return (
    <div className="svc-stack">
      {objects.some(({ canRead }) => canRead) ? (
        <p className="svc-intro">{t('objectsIntro', { provider })}</p>
      ) : null}
      <ul className="svc-rows">
        {objects.map((object) => (
          <ObjectRow
            key={object.objectName}
            object={object}
            read={readConfigOf(draft, object.objectName)}
            setRead={(enabled) => setRead(object, enabled)}
          />
        ))}
      </ul>
    </div>
  );
}

interface ObjectRowProps {
  object: SharedObject;
  read: ReadObjectConfig | undefined;
  setRead: (enabled: boolean) => void;
}

function ObjectRow({ object, read, setRead }: ObjectRowProps): ReactNode {
  const t = useText();
  const isRead = read ? !read.disabled : object.isAlwaysRead;
  return (
    <li className="svc-row">
      <div className="svc-row-name">
        <strong>
          <bdi>{object.displayName}</bdi>
        </strong>
        {object.error === undefined ? null : (
          <span className="svc-hint">{t('objectFailed', { object: object.displayName })}</span>
        )}
        {object.canWrite ? (
          <span className="svc-hint">{t('mayWrite', { objects: object.displayName })}</span>
        ) : null}
      </div>
      {object.canRead ? (
        <fieldset className="svc-row-choices" disabled={object.error !== undefined}>
          <legend className="svc-hidden">{object.displayName}</legend>
          <Toggle
            label={t('reads')}
            checked={isRead}
            disabled={object.isAlwaysRead && isRead}
            onChange={setRead}
          />
        </fieldset>
      ) : null}
    </li>
  );
}

interface ReviewPanelProps extends Omit<ExamplesProps, 'objectName'> {
  provider: string;
  /** The config in force: how much of what exists is read is told of an object that it does not have. */
  saved: ConfigContent | undefined;
}

/** What was chosen, object by object, with an example of each on request. */
export function ReviewPanel({ provider, saved, ...props }: ReviewPanelProps): ReactNode {
  const t = useText();
  const { revision, draft } = props;
  if (objectsOf(revision).length === 0) return <p className="svc-intro">{t('reviewProxy', { provider })}</p>;
  return (
    <ul className="svc-rows">
      {objectsOf(revision).map(({ objectName, displayName, canRead, canWrite, isAlwaysRead }) => {
        const read = readConfigOf(draft, objectName);
        const write = writeConfigOf(draft, objectName);
        const declared = revision.content.read?.objects.find((one) => one.objectName === objectName);
        const fixed = (declared?.requiredFields ?? []).filter(
          ({ fieldName }) => fieldName !== undefined,
        ).length;
        const chosen = Object.values(read?.selectedFields ?? {}).filter(Boolean).length;
        const mapped = Object.keys(read?.selectedFieldMappings ?? {}).length;
        const filtered = read?.fieldFilters?.length ?? 0;
        // What the manifest no longer reads is listed by itself.
        const reads = canRead && (read ? !read.disabled : isAlwaysRead);
        const isNew = !saved || !readConfigOf(saved, objectName);
        return (
          <li key={objectName} className="svc-row">
            <strong>
              <bdi>{displayName}</bdi>
            </strong>
            <div className="svc-tags">
              {reads ? (
                <span className="svc-tag">
                  {t('reads')} · {t('summaryFields', { count: fixed + chosen })}
                  {filtered > 0 ? ` · ${t('summaryFilters', { count: filtered })}` : ''}
                  {mapped > 0 ? ` · ${t('summaryMapped', { count: mapped })}` : ''}
                </span>
              ) : null}
              {reads && isNew ? (
                <span className="svc-tag">
                  {t('history')}: {historyText(historyOf(read, declared), t)}
                </span>
              ) : null}
              {canWrite ? (
                <span className="svc-tag">
                  {t('writes')} · {t(write?.deletionSettings?.enabled ? 'deletesYes' : 'deletesNo')}
                </span>
              ) : null}
              {reads || canWrite ? null : <span className="svc-muted">{t('notShared')}</span>}
            </div>
            <Examples {...props} objectName={objectName} />
          </li>
        );
      })}
    </ul>
  );
}

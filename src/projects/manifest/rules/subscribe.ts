import { failed, warned, type Finding, type Path } from '../finding.ts';
import { scheduleFault, watchScheduleMinutes } from '../schedule.ts';
import type { ManifestIntegration, ManifestSubscribeObject } from '../schema.ts';
import { duplicateObjects, soundObjects, type RuleContext } from './context.ts';

const salesforceObjects = 5;
const recordEvents = ['createEvent', 'updateEvent', 'deleteEvent', 'associationChangeEvent'] as const;
const nothingYet = 'is checked and kept, but does nothing yet';

export function checkSubscribe(
  integration: ManifestIntegration,
  path: Path,
  context: RuleContext,
): Finding[] {
  const { subscribe, read, provider } = integration;
  if (subscribe === undefined) return [];
  const at = [...path, 'subscribe'];
  const objects = soundObjects(subscribe, at, context);
  const findings = [warned('not-active-yet', at, nothingYet), ...duplicateObjects(objects)];
  if (read === undefined) findings.push(failed('subscribe-needs-read', at, 'needs a `read` block beside it'));
  if (provider === 'salesforce' && objects.length > salesforceObjects) {
    const first = [...at, 'objects', salesforceObjects];
    findings.push(
      failed('subscribe-limit', first, `Salesforce allows at most ${salesforceObjects} subscribed objects`),
    );
  }
  const readNames = new Set(
    soundObjects(read, [...path, 'read'], context).map(({ value }) => value.objectName.toLowerCase()),
  );
  for (const { value, path: objectPath } of objects) {
    findings.push(...checkInheritance(value, objectPath, readNames));
    findings.push(...checkWatchedFields(value, objectPath, provider));
    findings.push(...checkEvents(value, objectPath, provider));
  }
  return findings;
}

function checkInheritance(object: ManifestSubscribeObject, path: Path, readNames: Set<string>): Finding[] {
  const { inheritFieldsAndMapping: singular, inheritFieldsAndMappings: plural } = object;
  const at = [...path, plural === undefined ? 'inheritFieldsAndMapping' : 'inheritFieldsAndMappings'];
  if (singular !== undefined && plural !== undefined && singular !== plural) {
    return [failed('subscribe-inherit', at, 'contradicts `inheritFieldsAndMapping`; keep one of them')];
  }
  if (!recordEvents.some((event) => object[event] !== undefined)) return [];
  if ((plural ?? singular) !== true) {
    return [failed('subscribe-inherit', at, 'must be true where record events are subscribed to')];
  }
  if (readNames.has(object.objectName.toLowerCase())) return [];
  return [
    failed(
      'subscribe-inherit',
      at,
      `needs ${object.objectName} under \`read.objects\`, to inherit its fields`,
    ),
  ];
}

function checkWatchedFields(
  { updateEvent }: ManifestSubscribeObject,
  path: Path,
  provider: string,
): Finding[] {
  if (!updateEvent) return [];
  const at = [...path, 'updateEvent'];
  const { watchFieldsAuto, requiredWatchFields = [] } = updateEvent;
  if ((watchFieldsAuto === undefined) === (requiredWatchFields.length === 0)) {
    return [failed('watch-method', at, 'needs exactly one of `watchFieldsAuto` and `requiredWatchFields`')];
  }
  if (provider === 'salesloft' && watchFieldsAuto !== 'all') {
    return [failed('watch-method', at, 'must be `watchFieldsAuto: all` for Salesloft')];
  }
  return [...requiredWatchFields.entries()]
    .filter(([, field]) => /[.[\]$]/.test(field))
    .map(([index]) =>
      failed('watch-field-nested', [...at, 'requiredWatchFields', index], 'must be a field of the top level'),
    );
}

function checkEvents(object: ManifestSubscribeObject, path: Path, provider: string): Finding[] {
  if (object.associationChangeEvent && provider !== 'hubspot') {
    return [
      failed('association-event', [...path, 'associationChangeEvent'], 'is supported for HubSpot only'),
    ];
  }
  const hasEvents =
    recordEvents.some((event) => object[event] !== undefined) || (object.otherEvents ?? []).length > 0;
  return hasEvents
    ? []
    : [warned('subscribe-without-events', path, 'names no events; each config must add its own')];
}

export function checkWatchSchema(
  { watchSchema }: ManifestIntegration,
  path: Path,
  { sound }: RuleContext,
): Finding[] {
  if (watchSchema === undefined) return [];
  const at = [...path, 'watchSchema'];
  const findings = [warned('not-active-yet', at, nothingYet)];
  if (!sound(at)) return findings;
  const { schedule, allObjects } = watchSchema;
  const fault = schedule === undefined ? undefined : scheduleFault(schedule, watchScheduleMinutes);
  if (fault) findings.push(failed('schedule', [...at, 'schedule'], fault.reason, fault.suggestion));
  if (Object.keys(allObjects).length === 0) {
    findings.push(warned('watch-without-events', [...at, 'allObjects'], 'switches nothing on'));
  }
  return findings;
}

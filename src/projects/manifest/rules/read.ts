import { failed, warned, type Finding, type Path } from '../finding.ts';
import { associationScheduleMinutes, readScheduleMinutes, scheduleFault, scheduleGap } from '../schedule.ts';
import type { ManifestIntegration, ManifestReadObject } from '../schema.ts';
import { duplicateObjects, placedObjects, soundObjects, type Placed, type RuleContext } from './context.ts';
import { checkFields } from './fields.ts';

const frequentMinutes = 15;
const largeBackfillDays = 365;
const googleCalendarDays = 28;

type ReadRule = (object: ManifestReadObject, path: Path, integration: ManifestIntegration) => Finding[];

/** Each rule of one object, and the keys that it reads: a fault in another key hides nothing of it. */
const rulesOfObject: readonly [keys: readonly (keyof ManifestReadObject)[], rule: ReadRule][] = [
  [['schedule'], checkReadSchedule],
  [['destination', 'schedule', 'backfill'], checkDestination],
  [['backfill'], checkBackfill],
  [['objectName', 'backfill'], checkBackfillOfProvider],
  [['enabled', 'requiredFields', 'schedule'], checkAlwaysEnabled],
  [['delivery'], checkDelivery],
  [['requiredFields', 'optionalFields'], checkFields],
];

export function checkRead(integration: ManifestIntegration, path: Path, context: RuleContext): Finding[] {
  const at = [...path, 'read'];
  const objects = soundObjects(integration.read, at, context);
  return [
    ...duplicateObjects(objects),
    ...placedObjects(integration.read, at).flatMap((object) => checkReadObject(integration, object, context)),
    ...objects.flatMap(({ value, path: its }) => checkAssociations(integration, value, its, context)),
  ];
}

function checkReadObject(
  integration: ManifestIntegration,
  { value, path }: Placed<ManifestReadObject>,
  { sound }: RuleContext,
): Finding[] {
  return rulesOfObject
    .filter(([keys]) => keys.every((key) => sound([...path, key])))
    .flatMap(([, rule]) => rule(value, path, integration));
}

function checkReadSchedule({ schedule }: ManifestReadObject, path: Path): Finding[] {
  if (schedule === undefined) return [];
  const at = [...path, 'schedule'];
  const fault = scheduleFault(schedule, readScheduleMinutes);
  if (fault) return [failed('schedule', at, fault.reason, fault.suggestion)];
  const gap = scheduleGap(schedule);
  if (gap >= frequentMinutes) return [];
  return [
    warned('schedule-frequent', at, `fires every ${gap} minutes, near the least of ${readScheduleMinutes}`),
  ];
}

/** A read that runs by itself needs a receiver; one that is only searched or triggered may do without. */
function checkDestination({ destination, schedule, backfill }: ManifestReadObject, path: Path): Finding[] {
  if (destination !== undefined) return [];
  const at = [...path, 'destination'];
  if (schedule === undefined && backfill === undefined) {
    return [
      warned(
        'destination-missing',
        at,
        'is absent: unless a config names one, the object can only be searched',
      ),
    ];
  }
  return [failed('required', at, 'is required beside a schedule or a backfill')];
}

function checkBackfill({ backfill }: ManifestReadObject, path: Path): Finding[] {
  if (!backfill) return [];
  const at = [...path, 'backfill', 'defaultPeriod'];
  const { days, fullHistory } = backfill.defaultPeriod;
  if (days === undefined && fullHistory !== true) {
    return [failed('backfill-period', at, 'needs `days`, or `fullHistory: true`')];
  }
  if (days !== undefined && fullHistory === true) {
    return [failed('backfill-period', at, 'takes `days` or `fullHistory: true`, not both')];
  }
  if (days !== undefined && days > largeBackfillDays) {
    return [
      warned(
        'backfill-large',
        [...at, 'days'],
        `${days} days may take long and use much of the provider's quota`,
      ),
    ];
  }
  return [];
}

/** Limits of single providers. */
function checkBackfillOfProvider(
  { objectName, backfill }: ManifestReadObject,
  path: Path,
  { provider, module }: ManifestIntegration,
): Finding[] {
  if (!backfill) return [];
  const at = [...path, 'backfill', 'defaultPeriod'];
  const { days = 0, fullHistory } = backfill.defaultPeriod;
  if (
    provider === 'google' &&
    (module ?? 'calendar') === 'calendar' &&
    objectName.toLowerCase() === 'events'
  ) {
    return fullHistory === true || days > googleCalendarDays
      ? [
          failed(
            'backfill-of-provider',
            at,
            `Google Calendar events go back at most ${googleCalendarDays} days`,
          ),
        ]
      : [];
  }
  if (provider === 'snowflake' && fullHistory !== true) {
    return [failed('backfill-of-provider', at, 'Snowflake is read by `fullHistory: true` only')];
  }
  return [];
}

function checkAlwaysEnabled(
  { enabled, requiredFields = [], schedule }: ManifestReadObject,
  path: Path,
): Finding[] {
  if (enabled === undefined) return [];
  const findings: Finding[] = [];
  if (requiredFields.length === 0) {
    findings.push(
      failed('always-enabled', [...path, 'requiredFields'], 'needs an entry where `enabled: always` stands'),
    );
  }
  if (schedule === undefined) {
    findings.push(
      failed('always-enabled', [...path, 'schedule'], 'is required where `enabled: always` stands'),
    );
  }
  for (const [index, { mapToName }] of requiredFields.entries()) {
    if (mapToName === undefined) continue;
    const at = [...path, 'requiredFields', index, 'mapToName'];
    findings.push(
      failed(
        'always-enabled',
        at,
        'is not allowed where `enabled: always` stands: nobody is there to map it',
      ),
    );
  }
  return findings;
}

function checkAssociations(
  { provider }: ManifestIntegration,
  { associations }: ManifestReadObject,
  path: Path,
  { catalog }: RuleContext,
): Finding[] {
  if (!associations) return [];
  const at = [...path, 'associations'];
  // A provider that nobody knows is told of by itself.
  if (catalog.find(provider)?.readsAssociations === false) {
    return [failed('provider-ability', at, `the connector of ${provider} reads no associations`)];
  }
  const { objects, schedule } = associations;
  const fault = schedule === undefined ? undefined : scheduleFault(schedule, associationScheduleMinutes);
  const names = objects.map((name) => name.toLowerCase());
  return [
    ...(fault ? [failed('schedule', [...at, 'schedule'], fault.reason, fault.suggestion)] : []),
    ...objects.flatMap((name, index) =>
      names.indexOf(name.toLowerCase()) === index
        ? []
        : [failed('object-duplicate', [...at, 'objects', index], `the object ${name} stands twice`)],
    ),
  ];
}

function checkDelivery({ delivery }: ManifestReadObject, path: Path): Finding[] {
  if (!delivery) return [];
  const at = [...path, 'delivery'];
  const deprecated = warned('deprecated', at, 'is deprecated; leave it away');
  const { mode = 'auto', pageSize } = delivery;
  if (mode === 'onRequest' && pageSize === undefined) {
    return [
      deprecated,
      failed('delivery-page-size', [...at, 'pageSize'], 'is required for the mode onRequest'),
    ];
  }
  if (mode === 'auto' && pageSize !== undefined) {
    return [deprecated, failed('delivery-page-size', [...at, 'pageSize'], 'is only for the mode onRequest')];
  }
  return [deprecated];
}

import type { ManifestReadObject } from './schema.ts';
import { isFieldPath } from './rules/fields.ts';
import { associationScheduleMinutes, readScheduleMinutes, scheduleFault } from './schedule.ts';

interface Fault {
  name: string;
  detail: string;
}

/** What has to hold for an object that is read whatever its provider is and whatever stands beside it. */
export function standingFaults(object: ManifestReadObject, at: string): Fault[] {
  const { schedule, associations, requiredFields = [], optionalFields = [] } = object;
  const schedules = [
    { name: `${at}.schedule`, text: schedule, least: readScheduleMinutes },
    { name: `${at}.associations.schedule`, text: associations?.schedule, least: associationScheduleMinutes },
  ];
  const unheard = schedules.flatMap(({ name, text, least }) => {
    const fault = text === undefined ? undefined : scheduleFault(text, least);
    return fault === undefined ? [] : [{ name, detail: fault.reason }];
  });
  const names = [...requiredFields, ...optionalFields].flatMap((field) =>
    [field.fieldName, field.mapToName, field.default].filter((name) => name !== undefined),
  );
  const crooked = names
    .filter((name) => !isFieldPath(name))
    .map((name) => ({ name: `${at}.fields`, detail: `has ${name}, which is no field path` }));
  return [...unheard, ...crooked];
}

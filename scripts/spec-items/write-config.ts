import type { SpecItem, SpecSection } from '../spec-coverage/item.ts';
import { installation, journey, write } from './tests.ts';

const objects: SpecItem[] = [
  {
    id: '2.5/write.objects',
    says: 'A map from any key to the config of an object.',
    accepts: journey.install(
      '§4.1, §2.2 an installation binds integration, group and connection with a config',
    ),
    refuses: installation.shape('§2.3 write.objects: a list', '§2.5 write.objects: no object'),
  },
  {
    id: '2.5/objectName',
    says: 'The object to write; required.',
    accepts: journey.config('§2.5 each kind of default is accepted'),
    refuses: journey.config('§2.5, §7.3 objectName: missing', '§2.5 objectName: not in the manifest'),
  },
  {
    id: '2.5/inheritMapping',
    says: 'When true, a write uses the field mappings of reading the object.',
    accepts: [
      ...journey.fields('§2.5 the config’s inheritMapping wins over the manifest’s'),
      ...installation.effectiveWrite("§2.5 inheritMapping: the config's value wins"),
    ],
    refuses: journey.config('§2.5 inheritMapping: no boolean'),
  },
  {
    id: '2.5/deletionSettings',
    says: 'enabled is required in it; deletion is off unless it is true.',
    accepts: [
      ...installation.effectiveWrite('§2.5 deletionSettings: disabled unless the config enables it'),
      ...journey.write('§4.2.1, §2.5 a delete needs deletionSettings.enabled and the id only'),
    ],
    refuses: [
      ...journey.config(
        '§2.5 deletionSettings: without enabled',
        '§2.5 deletionSettings.enabled: no boolean',
      ),
      ...journey.writeRefusals('§4.2.1, §7.4 a delete that the config does not enable'),
    ],
  },
  {
    id: '2.5/selectedFieldSettings',
    says: 'A map from field name to its setting.',
    accepts: [
      ...journey.config('§2.5 each kind of default is accepted'),
      ...installation.named("§2.5 selectedFieldSettings: with the manifest's inheritMapping"),
    ],
    refuses: [
      ...journey.config('§2.5 selectedFieldSettings: a field that the provider lacks'),
      ...installation.shape('§2.5 selectedFieldSettings: a list', '§2.5 field setting: an unknown member'),
    ],
  },
  {
    id: '2.5/selectedValueDefaults',
    says: 'Deprecated: a value per field, a text, an integer or a boolean.',
    accepts: [
      ...journey.config('§2.5 selectedValueDefaults with a text, an integer and a boolean'),
      ...journey.fields('§2.5 the deprecated value defaults are applied'),
      ...installation.create('§2.5 selectedValueDefaults: stored as sent, with a Deprecation header'),
    ],
    refuses: [
      ...journey.config('§2.5 selectedValueDefaults: without value'),
      ...installation.shape('§2.5 selectedValueDefaults: a value that is no scalar'),
    ],
  },
  {
    id: '2.5/selectedValueDefaults.applyOnUpdate',
    says: '“always”, assumed when absent, or “never”.',
    accepts: [
      ...write.fields('§2.5 selectedValueDefaults: applyOnUpdate never withholds only the default'),
      ...journey.fields('§2.5 the deprecated value defaults are applied'),
    ],
    refuses: journey.config('§2.5 selectedValueDefaults.applyOnUpdate: another value'),
  },
];

const settings: SpecItem[] = [
  {
    id: '2.5/default',
    says: 'At most one of stringValue, integerValue and booleanValue.',
    accepts: journey.config('§2.5 each kind of default is accepted'),
    refuses: journey.config(
      '§2.5 default: two values',
      '§2.5 default.stringValue: no text',
      '§2.5 default.integerValue: no integer',
      '§2.5 default.booleanValue: no boolean',
    ),
  },
  {
    id: '2.5/default/applied',
    says: 'Applied when the field is missing from the request, and only then.',
    accepts: [
      ...journey.fields('§4.2.7, §2.5 defaults fill what the request lacks, each kind of value'),
      ...write.fields('§2.5 default: is applied when the field is missing, for each kind of value'),
    ],
    refuses: write.fields('§2.5 a default obeys the policy of its field'),
  },
  {
    id: '2.5/writeOnCreate',
    says: '“always” (default) or “never”: whether the field is sent when a record is created.',
    accepts: journey.fields('§2.5 writeOnCreate and writeOnUpdate decide whether a field is sent'),
    refuses: journey.config('§2.5 writeOnCreate: ifEmpty is for updates only'),
  },
  {
    id: '2.5/writeOnUpdate',
    says: '“always” (default), “never” or “ifEmpty”: whether the field is sent in an update.',
    accepts: journey.fields('§2.5 writeOnCreate and writeOnUpdate decide whether a field is sent'),
    refuses: journey.config('§2.5 writeOnUpdate: another value'),
  },
  {
    id: '2.5/writeOnUpdate/ifEmpty',
    says: 'Written only where the field is unset or an empty text.',
    accepts: [
      ...journey.fields('§4.2.3, §2.5 ifEmpty writes only where the record has no value'),
      ...write.fields('§2.5 ifEmpty: marks the field on an update and means nothing on a create'),
    ],
    refuses: [
      ...installation.check('§2.5 field setting: refuses ifEmpty for a provider without it'),
      ...write.plan('§4.2.3 ifEmpty: an update is refused where the provider cannot read first'),
    ],
  },
  {
    id: '2.5/combinations',
    says: 'Create-only, update-only and never written, by the two together.',
    accepts: journey.config(
      '§2.5 a field that is written at creation only',
      '§2.5 a field that is written at updates only',
      '§2.5 a field that is never written',
    ),
    refuses: write.fields('§2.5 example combinations: create-only, update-only and never written'),
  },
  {
    id: '2.5/ui-components',
    says: 'setEnableDeletion, setDisableDeletion and setFieldSettings in the UI components.',
    accepts: [],
    refuses: [],
    later: 'components for the builder’s front end; the config that they would write is held above',
  },
];

export const writeConfigSection: SpecSection = {
  title: '2.5 Write config',
  items: [...objects, ...settings],
};

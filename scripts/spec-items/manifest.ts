import type { SpecSection } from '../spec-coverage/item.ts';
import { installation, journey, manifest, provider } from './tests.ts';

const whole = '§2.1 a manifest with every key of the specification is deployed';

export const manifestSection: SpecSection = {
  title: '2.1 Manifest',
  items: [
    {
      id: '2.1/specVersion',
      says: 'The value is 1.0.0.',
      accepts: journey.deploy(whole),
      refuses: journey.deploy('§2.1, §9 refuses another specVersion'),
    },
    {
      id: '2.1/integrations',
      says: 'A list with one entry for each integration.',
      accepts: journey.deploy(whole, 'a change makes a second revision; the same manifest again makes none'),
      refuses: [
        ...journey.deploy('§2.1 refuses a list without integrations'),
        ...manifest.validate('refuses a name that stands twice, at its second place'),
      ],
    },
    {
      id: '2.1/name',
      says: 'Name of the integration; proxy calls name the integration by it.',
      accepts: [
        ...journey.deploy(whole),
        ...journey.targets('§4.6 integration name and group select the target together'),
      ],
      refuses: [
        ...journey.deploy('§2.1 refuses an integration without a name'),
        ...manifest.validate('refuses a name with a space'),
      ],
    },
    {
      id: '2.1/displayName',
      says: 'A name for people.',
      accepts: journey.deploy(whole),
      refuses: journey.deploy('§2.1 refuses a display name that is no text'),
    },
    {
      id: '2.1/provider',
      says: 'Which SaaS API is integrated.',
      accepts: journey.deploy(whole),
      refuses: journey.deploy('§2.1 refuses a provider that is not in the catalogue'),
    },
    {
      id: '2.1/write.objects',
      says: 'A list of the objects that may be written.',
      accepts: journey.deploy(whole),
      refuses: [
        ...manifest.writeRules(
          '§2.1 write.objects: refuses objects that are no list',
          '§2.1 write.objects: refuses a write without objects',
        ),
        ...manifest.validate('refuses an empty object list'),
        ...journey.deploy('§2.1 refuses an object that stands twice'),
      ],
    },
    {
      id: '2.1/write.objects.objectName',
      says: 'A standard or a custom object, required.',
      accepts: manifest.writeRules('§2.1 write.objects: takes a standard or a custom object, %s'),
      refuses: manifest.writeRules(
        '§2.1 write.objects: refuses an object without a name',
        '§2.1 write.objects: refuses an empty object name',
        '§2.1 write.objects: refuses an object name that is no text',
      ),
    },
    {
      id: '2.1/write.objects.objectName/exists',
      says: 'The object exists in the customer’s SaaS.',
      accepts: journey.write('§4.2.1, §4.2.4 a synchronous create returns the record'),
      refuses: [
        ...journey.spec('§2.1, §4.2 an object that the provider does not have is told by the write'),
        ...provider.connector('says that an object is not there, described, sampled or written'),
      ],
    },
    {
      id: '2.1/write.objects.inheritMapping',
      says: 'When true, a write uses the mappings that the customer chose for reading the object.',
      accepts: [
        ...journey.fields('§4.2.8, §2.1 with inheritMapping a mapped name goes to the customer’s field'),
        ...installation.effectiveWrite('§2.1 inheritMapping: the manifest counts where the config is silent'),
      ],
      refuses: journey.deploy('§2.1 refuses an inheritMapping that is no boolean'),
    },
    {
      id: '2.1/proxy.enabled',
      says: 'Enables the proxy.',
      accepts: [...journey.deploy(whole), ...journey.targets('§4.6 the installation id selects the target')],
      refuses: [
        ...journey.targets('§4.6, §2.1 an integration that does not enable the proxy is refused'),
        ...journey.deploy('§2.1 refuses a proxy without enabled'),
        ...manifest.validate('refuses text for true'),
      ],
    },
  ],
};

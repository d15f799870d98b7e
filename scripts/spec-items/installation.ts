import type { SpecSection } from '../spec-coverage/item.ts';
import { installation, journey } from './tests.ts';

const whole = '§4.1, §2.2 an installation binds integration, group and connection with a config';
const required = '§2.2 groupRef, config and config.content are required';

export const createBodySection: SpecSection = {
  title: '2.2 Installation create request body',
  items: [
    {
      id: '2.2/groupRef',
      says: 'The group that the installation is for; required.',
      accepts: journey.install(whole),
      refuses: journey.config(required),
    },
    {
      id: '2.2/connectionId',
      says: 'The connection to use.',
      accepts: installation.create('§2.2 connectionId: takes the one named instead of the default'),
      refuses: [
        ...journey.install('§2.2 refuses the connection of another group and of another provider'),
        ...installation.create(
          '§2.2 connectionId: another group’s connection does not exist, nor does an unknown one',
        ),
      ],
    },
    {
      id: '2.2/connectionId/default',
      says: 'When omitted, the group’s default connection is used.',
      accepts: journey.install('§2.2 without a connectionId the group’s default connection is used'),
      refuses: installation.create('§4.1 rule: without a usable connection it is refused'),
    },
    {
      id: '2.2/config',
      says: 'Required.',
      accepts: journey.install(whole),
      refuses: journey.config(required),
    },
    {
      id: '2.2/config.content',
      says: 'What is configured; required.',
      accepts: journey.install(whole),
      refuses: [
        ...journey.config(required),
        ...installation.create('§2.2 body: unknown properties and wrong types are 400 with their path'),
      ],
    },
    {
      id: '2.2/config.revisionId',
      says: 'Deprecated; the latest revision is set by itself.',
      accepts: [
        ...journey.install('§2.2 config.revisionId is accepted, ignored and named deprecated'),
        ...installation.create('§2.2 revisionId: is ignored with a Deprecation header'),
      ],
      refuses: 'nothing to refuse: whatever it says is ignored',
    },
    {
      id: '2.2/config.createdBy',
      says: 'consumer:…, builder:… or api:….',
      accepts: journey.config('§2.2 createdBy %s is accepted'),
      refuses: journey.config('§2.2 createdBy "%s" is refused'),
    },
    {
      id: '2.2/config.createdBy/default',
      says: 'api:create-installation when absent.',
      accepts: [
        ...journey.install('§2.2 without a connectionId the group’s default connection is used'),
        ...installation.create('§4.1 create: answers 201 with the installation'),
      ],
      refuses: 'nothing to refuse: it is a default',
    },
  ],
};

export const contentSection: SpecSection = {
  title: '2.3 Config content',
  items: [
    {
      id: '2.3/provider',
      says: 'The SaaS API that is integrated; required.',
      accepts: journey.config('§2.3 the provider alone'),
      refuses: journey.config(
        '§2.3 provider: another than the integration’s',
        '§2.3 provider: no text',
        required,
      ),
    },
    {
      id: '2.3/read',
      says: 'Optional; how objects are read.',
      accepts: journey.config('§2.3 the provider alone', '§2.4 disabled is accepted'),
      refuses: journey.config('§2.3 read without objects'),
    },
    {
      id: '2.3/write',
      says: 'Optional; how objects are written.',
      accepts: [
        ...installation.shape('§2.3 write: with no objects yet'),
        ...journey.config('§2.5 each kind of default is accepted'),
      ],
      refuses: installation.shape('§2.3 write: no object is', '§2.3 write.objects: a list'),
    },
    {
      id: '2.3/proxy.enabled',
      says: 'Optional; whether the proxy is used.',
      accepts: [
        ...journey.install(whole),
        ...installation.check(
          '§2.3 proxy: enabled is accepted when the integration enables it',
          '§2.3 proxy: may always be switched off',
        ),
      ],
      refuses: [
        ...journey.config(
          '§2.3 proxy.enabled: no boolean',
          '§2.3 proxy.enabled: the integration does not enable it',
        ),
        ...journey.targets('§2.3 proxy.enabled false in the installation’s config switches it off there'),
      ],
    },
  ],
};

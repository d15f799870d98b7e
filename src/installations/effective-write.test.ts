import { describe, expect, it } from 'vitest';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { ConfigContent, WriteObjectConfig } from './config/schema.ts';
import { effectiveWriteObject } from './effective-write.ts';

const manifest: ManifestIntegration = {
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: [
      {
        objectName: 'contact',
        destination: 'hook',
        optionalFields: [
          { fieldName: 'mobilephone', mapToName: 'cell' },
          { mapToName: 'nick' },
          { mapToName: 'unset' },
        ],
      },
    ],
  },
  write: { objects: [{ objectName: 'contact', inheritMapping: true }, { objectName: 'company' }] },
};
const content: ConfigContent = {
  provider: 'hubspot',
  read: { objects: { contact: { objectName: 'contact', selectedFieldMappings: { nick: 'firstname' } } } },
};
const withContact = (config: Partial<WriteObjectConfig>): ConfigContent => ({
  ...content,
  write: { objects: { key: { objectName: 'contact', ...config } } },
});

describe('installations/effective-write', () => {
  it('§2.1 inheritMapping: the manifest counts where the config is silent', () => {
    expect(effectiveWriteObject({ manifest, content: withContact({}) }, 'contact')).toMatchObject({
      declared: true,
      inConfig: true,
      inheritMapping: true,
      mappings: { cell: 'mobilephone', nick: 'firstname' },
      unsetMappings: ['unset'],
    });
  });

  it("§2.5 inheritMapping: the config's value wins", () => {
    expect(
      effectiveWriteObject({ manifest, content: withContact({ inheritMapping: false }) }, 'contact'),
    ).toMatchObject({
      inheritMapping: false,
      mappings: {},
      unsetMappings: [],
    });
  });

  it('§2.5 deletionSettings: disabled unless the config enables it', () => {
    const deletionOf = (changed: ConfigContent) =>
      effectiveWriteObject({ manifest, content: changed }, 'contact').deletionEnabled;
    expect(deletionOf(content)).toBe(false);
    expect(deletionOf(withContact({}))).toBe(false);
    expect(deletionOf(withContact({ deletionSettings: { enabled: false } }))).toBe(false);
    expect(deletionOf(withContact({ deletionSettings: { enabled: true } }))).toBe(true);
  });

  it('§2.5 an object in the manifest but not in the config may be written, with no settings', () => {
    expect(effectiveWriteObject({ manifest, content }, 'company')).toEqual({
      objectName: 'company',
      declared: true,
      inConfig: false,
      inheritMapping: false,
      deletionEnabled: false,
      fieldSettings: {},
      valueDefaults: {},
      mappings: {},
      unsetMappings: [],
    });
  });

  it('§4.2 objectName: what the manifest does not declare is not declared, even when the config has it', () => {
    const stale: ConfigContent = { ...content, write: { objects: { deal: { objectName: 'deal' } } } };
    expect(effectiveWriteObject({ manifest, content: stale }, 'deal')).toMatchObject({
      declared: false,
      inConfig: true,
    });
    expect(effectiveWriteObject({ manifest, content }, 'nothing').declared).toBe(false);
  });

  it('names of objects are compared without case, and spelled as the manifest spells them', () => {
    const config = withContact({ deletionSettings: { enabled: true } });
    expect(effectiveWriteObject({ manifest, content: config }, 'CONTACT')).toEqual(
      effectiveWriteObject({ manifest, content: config }, 'contact'),
    );
    const shouted: ConfigContent = {
      provider: 'hubspot',
      read: { objects: { a: { objectName: 'Contact', selectedFieldMappings: { nick: 'firstname' } } } },
      write: { objects: { b: { objectName: 'Contact', deletionSettings: { enabled: true } } } },
    };
    expect(effectiveWriteObject({ manifest, content: shouted }, 'contact')).toMatchObject({
      objectName: 'contact',
      inConfig: true,
      deletionEnabled: true,
      mappings: { cell: 'mobilephone', nick: 'firstname' },
    });
  });
});

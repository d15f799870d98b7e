import { describe, expect, it } from 'vitest';
import { Problem } from '../../kit/problem.ts';
import type { UpdateInstallationRequest } from '../schema.ts';
import { applyMasks } from './masks.ts';
import type { ConfigContent } from './schema.ts';

const content: ConfigContent = {
  provider: 'hubspot',
  read: {
    objects: { contact: { objectName: 'contact', schedule: '0 * * * *', selectedFields: { email: true } } },
  },
  write: { objects: { contact: { objectName: 'contact' }, company: { objectName: 'company' } } },
};
type Change = UpdateInstallationRequest['installation'];
const change = (updateMask: string[], installation: Change) =>
  applyMasks(content, { updateMask, installation });
const changing = (part: NonNullable<NonNullable<Change['config']>['content']>): Change => ({
  config: { content: part },
});

function refusalOf(updateMask: string[], installation: Change): Problem {
  try {
    change(updateMask, installation);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('nothing was refused');
}

describe('installations/config/masks', () => {
  it('§4.4 updateMask: a mask on an object replaces its whole config', () => {
    const contact = { objectName: 'contact', selectedFields: { city: true } };
    expect(
      change(['config.content.read.objects.contact'], changing({ read: { objects: { contact } } })).content,
    ).toEqual({
      ...content,
      read: { objects: { contact } },
    });
  });

  it('§4.4 updateMask: a mask on a member leaves the others', () => {
    const part = changing({ read: { objects: { contact: { disabled: true, schedule: 'ignored' } } } });
    expect(change(['config.content.read.objects.contact.disabled'], part).content).toMatchObject({
      read: { objects: { contact: { objectName: 'contact', schedule: '0 * * * *', disabled: true } } },
    });
  });

  it('§4.4 updateMask: all write objects are replaced at once, and what is not masked is ignored', () => {
    const part = changing({
      provider: 'other',
      write: { objects: { deal: { objectName: 'deal' } } },
      proxy: { enabled: true },
    });
    const changed = change(['config.content.write.objects'], part);
    expect(changed.content).toEqual({ ...content, write: { objects: { deal: { objectName: 'deal' } } } });
    expect(changed).toMatchObject({ connectionId: undefined, createdBy: undefined });
  });

  it('§4.4 updateMask: makes the blocks that are missing', () => {
    const part = changing({ proxy: { enabled: false } });
    expect(change(['config.content.proxy.enabled'], part).content).toEqual({
      ...content,
      proxy: { enabled: false },
    });
  });

  it('§4.4 updateMask: connection and author', () => {
    const installation: Change = { connectionId: 'c', config: { createdBy: 'builder:1' } };
    expect(change(['connectionId', 'config.createdBy'], installation)).toEqual({
      content,
      connectionId: 'c',
      createdBy: 'builder:1',
    });
  });

  it('§4.4 updateMask: a dot in an object name is escaped', () => {
    const part = changing({ read: { objects: { 'a.b': { objectName: 'a.b', selectedFieldsAuto: 'all' } } } });
    expect(change(['config.content.read.objects.a\\.b'], part).content).toMatchObject({
      read: { objects: { 'a.b': { objectName: 'a.b' } } },
    });
  });

  it('§4.4 updateMask: an unknown mask is refused with the allowed ones', () => {
    const refusal = refusalOf(['config.content.provider'], changing({ provider: 'x' }));
    expect(refusal).toMatchObject({ status: 400, details: { issues: [{ name: 'updateMask[0]' }] } });
    expect(refusal.details.remedy).toContain('config.content.write.objects.*');
  });

  it('§4.4 updateMask: a mask below an object that is not in the config is refused with the one that adds it', () => {
    const part = changing({
      write: {
        objects: {
          'deal.a': { objectName: 'deal.a', deletionSettings: { enabled: true } },
          company: { objectName: 'company', deletionSettings: { enabled: true } },
        },
      },
    });
    const below = (name: string): string => `config.content.write.objects.${name}.deletionSettings`;
    const refusal = refusalOf([below('company'), below('deal\\.a')], part);
    expect(refusal).toMatchObject({
      status: 400,
      code: 'invalid-request',
      details: {
        issues: [
          {
            name: 'updateMask[1]',
            detail: expect.stringContaining('`config.content.write.objects.deal\\.a`'),
            value: below('deal\\.a'),
          },
        ],
      },
    });
    const whole = ['config.content.write.objects.deal\\.a', below('deal\\.a')];
    const named = ['config.content.write.objects.deal\\.a.objectName', below('deal\\.a')];
    for (const mask of [whole, named, whole.toReversed(), named.toReversed()])
      expect(change(mask, part).content).toMatchObject({
        write: {
          objects: { 'deal.a': { objectName: 'deal.a', deletionSettings: { enabled: true } } },
        },
      });
  });

  it('§4.4 updateMask: a mask without a value is refused', () => {
    expect(refusalOf(['config.content.read.objects.contact'], changing({}))).toMatchObject({ status: 400 });
  });
});

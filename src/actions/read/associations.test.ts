import { describe, expect, it } from 'vitest';
import type { AssociatedRecord } from '../../providers/index.ts';
import { associatedObjects, digestsOf, isChanged, shapeAssociations } from './associations.ts';
import { compared } from './fetch-associations.ts';

const companies = { objectName: 'companies', deliveredAs: 'accounts' };
const deals = { objectName: 'deals', deliveredAs: 'deals' };
const to = (id: string, ...typeIds: number[]): AssociatedRecord => ({
  id,
  types: typeIds.map((typeId) => ({ category: 'HUBSPOT_DEFINED', typeId })),
});
const both = [companies, deals];

describe('actions/read/associations', () => {
  it('delivers them under the name that the builder reads the object by', () => {
    const manifest = {
      name: 'crm',
      provider: 'hubspot',
      read: { objects: [{ objectName: 'Companies', mapToName: 'accounts' }] },
    };
    const associations = { objects: ['companies', 'deals'], schedule: undefined };
    expect(associatedObjects({ manifest }, { associations })).toEqual(both);
    expect(shapeAssociations(both, [[to('10', 1), to('9', 279)], []])).toEqual({
      accounts: [
        {
          id: '9',
          objectName: 'accounts',
          rawObjectName: 'companies',
          providerAssociationMetadata: {
            associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 279 }],
          },
        },
        expect.objectContaining({ id: '10' }),
      ],
      deals: [],
    });
  });

  it.each([
    ['the same in another order', [[to('9', 1, 279), to('10')], []], false],
    ['one more', [[to('9', 279, 1), to('10'), to('11')], []], true],
    ['one less', [[to('10')], []], true],
    ['another label', [[to('9', 279, 2), to('10')], []], true],
    ['one of another object', [[to('9', 279, 1), to('10')], [to('9')]], true],
  ])('tells a change: %s', (_what, associated, isOther) => {
    const before = digestsOf(both, [[to('9', 279, 1), to('10')], []]);
    expect(isChanged(before, digestsOf(both, associated))).toBe(isOther);
  });

  it('tells no change by an object that is new, or asked for no more', () => {
    const one = digestsOf([companies], [[to('9')]]);
    const two = digestsOf([deals, companies], [[to('1')], [to('9')]]);
    expect([isChanged(one, two), isChanged(two, one)]).toEqual([false, false]);
  });

  it('remembers what is new or old, delivers what changed, and leaves the rest alone', () => {
    const digests = digestsOf([companies], [[to('9')]]);
    const other = digestsOf([companies], [[]]);
    const link = (recordId: string) => ({ recordId, digests, asFound: false });
    const known = new Map([
      ['same', { digests, isOld: false }],
      ['old', { digests, isOld: true }],
      ['changed', { digests: other, isOld: true }],
      ['more', { digests: Buffer.concat([digests, digestsOf([deals], [[]])]), isOld: false }],
    ]);
    const found = compared(['new', 'same', 'old', 'changed', 'more'].map(link), known);
    expect(found.changed).toEqual(['changed']);
    expect(found.links.map(({ recordId, asFound }) => [recordId, asFound])).toEqual([
      ['new', true],
      ['same', false],
      ['old', true],
      ['changed', false],
      ['more', true],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { bodiesOf, faultOf, operations } from '../fuzz/document.ts';

describe('test/openapi/examples', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s shows what is sent and what comes back, each as its schema says',
    (_id, operation) => {
      const bodies = bodiesOf(operation);
      expect(bodies.filter(({ examples }) => examples.length === 0)).toEqual([]);
      const faults = bodies.flatMap(({ place, schema, examples }) =>
        examples.map((example) => [place, faultOf(schema, example)]),
      );
      expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
    },
  );
});

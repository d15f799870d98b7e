import selector from '@fastify/fast-json-stringify-compiler';

const factory = selector();

/** Fastify's own serializers, each compiled at the first answer of its kind: a start would wait for those of all routes. */
export function buildSerializer(
  ...given: Parameters<typeof factory>
): (definition: selector.RouteDefinition) => selector.Serializer {
  const compile = factory(...given);
  return (definition) => {
    let serialize: selector.Serializer | undefined;
    return (payload) => (serialize ??= compile(definition))(payload);
  };
}

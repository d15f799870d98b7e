import { Type } from 'typebox';
import { madeOnce } from '../kit/http/made-once.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { problem } from '../kit/problem.ts';
import { providerInfo, ProviderInfo, type Catalog } from '../providers/index.ts';

/** The catalogue; public, since the pages where end users connect need it. */
export function providerCatalogueRoutes(catalog: Catalog): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/providers',
      schema: {
        operationId: 'listProviders',
        summary: 'List the catalogue by provider',
        tags: ['providers'],
        response: { 200: Type.Record(Type.String(), ProviderInfo, { title: 'ProviderCatalogue' }) },
      },
      config: { scopes: 'public' },
      handler: madeOnce(() =>
        Object.fromEntries(catalog.list().map((provider) => [provider.name, providerInfo(provider)])),
      ),
    });
    server.route({
      method: 'GET',
      url: '/providers/:provider',
      schema: {
        operationId: 'getProvider',
        summary: 'Get one provider of the catalogue',
        tags: ['providers'],
        params: Type.Object({ provider: Type.String({ minLength: 1, maxLength: 255 }) }),
        response: { 200: ProviderInfo },
      },
      config: { scopes: 'public' },
      handler: async (request) => {
        const { provider: name } = request.params;
        const provider = catalog.find(name);
        if (provider) return providerInfo(provider);
        throw problem('not-found', {
          detail: `There is no provider ${JSON.stringify(name.slice(0, 64))} in the catalogue.`,
          remedy: 'Use a key of GET /v1/providers; keys are case-sensitive.',
        });
      },
    });
  };
}

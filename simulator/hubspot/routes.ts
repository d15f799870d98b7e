import { createRouter } from '../kit/index.ts';
import type { Call, Reply, Router } from '../kit/index.ts';
import { accountDetails, getOwner, listOwners, whoAmI } from './account.ts';
import * as associations from './associations.ts';
import type { Ends } from './associations.ts';
import * as associationsV3 from './associations-v3.ts';
import * as batch from './batch.ts';
import { invalid, isRefusal } from './errors.ts';
import type { Refusal } from './errors.ts';
import type { Handler, Hub, HubCall } from './hub.ts';
import * as oauth from './oauth.ts';
import * as objects from './objects.ts';
import * as pipelines from './pipelines.ts';
import * as properties from './properties.ts';
import * as schemas from './schemas.ts';
import { requiredScopes, scopeRefusal } from './scopes.ts';
import type { Access, Area } from './scopes.ts';
import { searchObjects } from './search.ts';
import type { ObjectType } from './types.ts';

/** `open` routes need no token; `search` ones have their own rate limit. */
export type Route = { open: (hub: Hub, call: Call) => Reply } | { handler: Handler; search: boolean };

type TypeHandler = (hub: Hub, type: ObjectType, input: HubCall) => Reply | Refusal;
type EndsHandler = (hub: Hub, ends: Ends, input: HubCall) => Reply | Refusal;

/** All routes, by path without its version segment: both URL families meet here. */
export function hubspotRoutes(): Router<Route> {
  const router = createRouter<Route>();
  addOAuth(router);
  addObjects(router);
  addAssociations(router);
  addAssociationsV3(router);
  addProperties(router);
  addSchemas(router);
  addPipelines(router);
  const free = (handler: Handler): Route => ({ handler, search: false });
  const ofOwners = (handler: Handler): Route =>
    free(
      (hub, input) =>
        scopeRefusal(input.access.scopes, ['crm.objects.owners.read'], 'objects') ?? handler(hub, input),
    );
  router.add('GET', '/account-info/details', free(accountDetails));
  router.add('GET', '/integrations/me', free(whoAmI));
  router.add('GET', '/crm/owners', ofOwners(listOwners));
  router.add('GET', '/crm/owners/:id', ofOwners(getOwner));
  return router;
}

const associationsOfV3 = /^\/crm\/v3\/(?:associations\/|objects\/[^/]+\/[^/]+\/associations\/)/;

/**
 * Takes the version out: /crm/v3/objects and /crm/objects/2026-03 are one path. Only associations
 * have another shape in version 3 than in all that follow, and so a path of their own.
 */
export function canonicalPath(path: string): string {
  const plain = path.replace(/\/(?:v[1-4]|20\d\d-\d\d)(?=\/|$)/, '');
  return associationsOfV3.test(path) ? plain.replace('/associations/', '/associations-v3/') : plain;
}

function typed(area: Area, access: Access, handler: TypeHandler, search = false): Route {
  return {
    search,
    handler: (hub, input) => {
      const type = typeOf(hub, input.call.params['type'] ?? '');
      if (isRefusal(type)) return type;
      const refused = scopeRefusal(input.access.scopes, requiredScopes(type, area, access), area);
      return refused ?? handler(hub, type, input);
    },
  };
}

function paired(access: Access, handler: EndsHandler): Route {
  return typed('objects', access, (hub, from, input) => {
    const to = typeOf(hub, input.call.params['to'] ?? '');
    return isRefusal(to) ? to : handler(hub, { from, to }, input);
  });
}

function typeOf(hub: Hub, name: string): ObjectType | Refusal {
  return hub.portal.schema.find(name) ?? invalid(`Unable to infer object type from: ${name}`);
}

function addOAuth(router: Router<Route>): void {
  for (const path of ['/oauth/authorize', '/oauth/:account/authorize']) {
    router.add('GET', path, { open: oauth.authorizePage });
    router.add('POST', path, { open: oauth.authorizePage });
  }
  router.add('POST', '/oauth/token', { open: oauth.tokenEndpoint });
  router.add('POST', '/oauth/token/introspect', { open: oauth.introspect });
  router.add('POST', '/oauth/token/revoke', { open: oauth.revokeToken });
  router.add('GET', '/oauth/access-tokens/:token', { open: oauth.accessTokenInfo });
  router.add('GET', '/oauth/refresh-tokens/:token', { open: oauth.refreshTokenInfo });
  router.add('DELETE', '/oauth/refresh-tokens/:token', { open: oauth.deleteRefreshToken });
  router.add('DELETE', '/appinstalls/external-install', { handler: oauth.uninstall, search: false });
}

function addObjects(router: Router<Route>): void {
  const base = '/crm/objects/:type';
  router.add('GET', base, typed('objects', 'read', objects.listObjects));
  router.add('POST', base, typed('objects', 'write', objects.createObject));
  router.add('GET', `${base}/:id`, typed('objects', 'read', objects.getObject));
  router.add('PATCH', `${base}/:id`, typed('objects', 'write', objects.updateObject));
  router.add('DELETE', `${base}/:id`, typed('objects', 'write', objects.deleteObject));
  router.add('POST', `${base}/merge`, typed('objects', 'write', objects.mergeObjects));
  router.add('POST', `${base}/gdpr-delete`, typed('objects', 'write', objects.gdprDelete));
  router.add('POST', `${base}/search`, typed('objects', 'read', searchObjects, true));
  router.add('POST', `${base}/batch/create`, typed('objects', 'write', batch.batchCreate));
  router.add('POST', `${base}/batch/read`, typed('objects', 'read', batch.batchRead));
  router.add('POST', `${base}/batch/update`, typed('objects', 'write', batch.batchUpdate));
  router.add('POST', `${base}/batch/upsert`, typed('objects', 'write', batch.batchUpsert));
  router.add('POST', `${base}/batch/archive`, typed('objects', 'write', batch.batchArchive));
}

function addAssociations(router: Router<Route>): void {
  const base = '/crm/associations/:type/:to';
  router.add('POST', `${base}/batch/read`, paired('read', associations.readBatch));
  router.add('POST', `${base}/batch/create`, paired('write', associations.createBatch));
  router.add('POST', `${base}/batch/archive`, paired('write', associations.archiveBatch));
  router.add('POST', `${base}/batch/labels/archive`, paired('write', associations.archiveLabelsBatch));
  router.add('POST', `${base}/batch/associate/default`, paired('write', associations.createDefaultBatch));
  router.add('GET', `${base}/labels`, paired('read', associations.listLabels));
  router.add('POST', `${base}/labels`, paired('write', associations.createLabel));
  router.add('PUT', `${base}/labels`, paired('write', associations.renameLabel));
  router.add('DELETE', `${base}/labels/:typeId`, paired('write', associations.deleteLabel));
  const single = '/crm/objects/:type/:id/associations';
  router.add('GET', `${single}/:to`, paired('read', associations.getLinks));
  router.add('PUT', `${single}/default/:to/:toId`, paired('write', associations.putDefault));
  router.add('PUT', `${single}/:to/:toId`, paired('write', associations.putLabelled));
  router.add('DELETE', `${single}/:to/:toId`, paired('write', associations.deleteLink));
}

function addAssociationsV3(router: Router<Route>): void {
  const base = '/crm/associations-v3/:type/:to';
  router.add('GET', `${base}/types`, paired('read', associationsV3.listTypes));
  router.add('POST', `${base}/batch/read`, paired('read', associationsV3.readBatch));
  router.add('POST', `${base}/batch/create`, paired('write', associationsV3.createBatch));
  router.add('POST', `${base}/batch/archive`, paired('write', associationsV3.archiveBatch));
  const single = '/crm/objects/:type/:id/associations-v3/:to';
  router.add('GET', single, paired('read', associationsV3.getLinks));
  router.add('PUT', `${single}/:toId/:name`, paired('write', associationsV3.putLink));
  router.add('DELETE', `${single}/:toId/:name`, paired('write', associationsV3.deleteLink));
}

function addProperties(router: Router<Route>): void {
  const base = '/crm/properties/:type';
  router.add('GET', base, typed('schemas', 'read', properties.listProperties));
  router.add('POST', base, typed('schemas', 'write', properties.createProperty));
  router.add('GET', `${base}/:name`, typed('schemas', 'read', properties.getProperty));
  router.add('PATCH', `${base}/:name`, typed('schemas', 'write', properties.updateProperty));
  router.add('DELETE', `${base}/:name`, typed('schemas', 'write', properties.deleteProperty));
  router.add('POST', `${base}/batch/read`, typed('schemas', 'read', properties.readProperties));
  router.add('POST', `${base}/batch/create`, typed('schemas', 'write', properties.createProperties));
  router.add('POST', `${base}/batch/archive`, typed('schemas', 'write', properties.archiveProperties));
  router.add('GET', `${base}/groups`, typed('schemas', 'read', properties.listGroups));
  router.add('POST', `${base}/groups`, typed('schemas', 'write', properties.createGroup));
  router.add('GET', `${base}/groups/:name`, typed('schemas', 'read', properties.getGroup));
  router.add('PATCH', `${base}/groups/:name`, typed('schemas', 'write', properties.updateGroup));
  router.add('DELETE', `${base}/groups/:name`, typed('schemas', 'write', properties.deleteGroup));
}

function addSchemas(router: Router<Route>): void {
  const base = '/crm-object-schemas/schemas';
  router.add('GET', base, custom('read', schemas.listSchemas));
  router.add('POST', base, custom('write', schemas.createSchemaType));
  router.add('GET', `${base}/:type`, typed('schemas', 'read', schemas.getSchema));
  router.add('PATCH', `${base}/:type`, typed('schemas', 'write', schemas.updateSchema));
  router.add('DELETE', `${base}/:type`, typed('schemas', 'write', schemas.deleteSchema));
  router.add('POST', `${base}/:type/associations`, typed('schemas', 'write', schemas.addSchemaAssociation));
}

function custom(access: Access, handler: Handler): Route {
  return {
    search: false,
    handler: (hub, input) =>
      scopeRefusal(input.access.scopes, [`crm.schemas.custom.${access}`], 'schemas') ?? handler(hub, input),
  };
}

function addPipelines(router: Router<Route>): void {
  const base = '/crm/pipelines/:type';
  const one = `${base}/:pipeline`;
  router.add('GET', base, typed('schemas', 'read', pipelines.listPipelines));
  router.add('POST', base, typed('schemas', 'write', pipelines.createPipeline));
  router.add('GET', one, typed('schemas', 'read', pipelines.getPipeline));
  router.add('PATCH', one, typed('schemas', 'write', pipelines.updatePipeline));
  router.add('PUT', one, typed('schemas', 'write', pipelines.updatePipeline));
  router.add('DELETE', one, typed('schemas', 'write', pipelines.deletePipeline));
  router.add('GET', `${one}/stages`, typed('schemas', 'read', pipelines.listStages));
  router.add('POST', `${one}/stages`, typed('schemas', 'write', pipelines.createStage));
  router.add('GET', `${one}/stages/:stage`, typed('schemas', 'read', pipelines.getStage));
  router.add('PATCH', `${one}/stages/:stage`, typed('schemas', 'write', pipelines.updateStage));
  router.add('PUT', `${one}/stages/:stage`, typed('schemas', 'write', pipelines.updateStage));
  router.add('DELETE', `${one}/stages/:stage`, typed('schemas', 'write', pipelines.deleteStage));
}

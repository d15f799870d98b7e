import type { SpecItem, SpecSection } from '../spec-coverage/item.ts';
import { installation, journey, keys, operation, proxy } from './tests.ts';

const whole = '§4.1, §2.2 an installation binds integration, group and connection with a config';

const create: SpecItem[] = [
  {
    id: '4.1/path',
    says: 'POST …/projects/{projectIdOrName}/integrations/{integrationId}/installations.',
    accepts: [
      ...journey.install(whole),
      ...journey.spec('§4.1, §4.2, §4.3 a project and an integration go by id and by name'),
    ],
    refuses: installation.create('§4.1 create: an unknown integration or project is 404'),
  },
  {
    id: '4.1/skipSampling',
    says: 'False by default; when true, the provider is not asked for a sample before saving.',
    accepts: [
      ...journey.install('§4.1 the sample read refuses what the provider refuses, and skipSampling saves'),
      ...installation.create('§4.1 skipSampling: saves without asking the provider'),
    ],
    refuses: journey.spec('§4.1 skipSampling: must be a boolean'),
  },
  {
    id: '4.1/sample',
    says: 'The sample read checks the read config against the provider before it is saved.',
    accepts: installation.sampling('§4.1 sample: every scheduled and enabled object on create'),
    refuses: [
      ...journey.install('§4.1 the sample read refuses what the provider refuses, and skipSampling saves'),
      ...installation.create('§4.1 sample: an object that the provider does not have is refused'),
    ],
  },
  {
    id: '4.1/connection',
    says: 'The group has a SaaS connection already, named or its default.',
    accepts: journey.install('§2.2 without a connectionId the group’s default connection is used'),
    refuses: [
      ...journey.install('§4.1 a group without a connection is refused with the way to make one'),
      ...installation.create('§4.1 rule: without a usable connection it is refused'),
    ],
  },
  {
    id: '4.1/response',
    says: 'Not shown; 201 with the installation, one for each group and integration.',
    accepts: installation.create('§4.1 create: answers 201 with the installation'),
    refuses: [
      ...journey.install('a group has one installation of an integration'),
      ...installation.create('§4.1 create: a second installation for the same group is 409'),
    ],
  },
];

const getOperation: SpecItem[] = [
  {
    id: '4.3/path',
    says: 'GET …/projects/{projectId}/operations/{operationId}.',
    accepts: journey.operations('§4.3, §2.7 an operation is looked up by its id'),
    refuses: [
      ...journey.operations('§4.3 an unknown id, a malformed one and another project’s are not found'),
      ...operation.ledger('hides operations of other projects, other groups and none at all alike'),
    ],
  },
  {
    id: '4.3/response',
    says: 'The operation record.',
    accepts: journey.operations('§4.3, §2.7 an operation is looked up by its id'),
    refuses: 'nothing to refuse: it is an answer',
  },
  {
    id: '4.3/asynchronous',
    says: 'Tells how an asynchronous write is going.',
    accepts: journey.write('§4.2.5 an asynchronous write answers operationId at once'),
    refuses: journey.failures('§4.2.5 a provider that is down is tried again, too; a refusal is not'),
  },
  {
    id: '4.3/auto-batch',
    says: 'Tells how the master operation of an automatic batch is going.',
    accepts: journey.autoBatch('§3, §4.3 the master operation is in progress while it gathers'),
    refuses: 'nothing to refuse: it is a state',
  },
];

const update: SpecItem[] = [
  {
    id: '4.4/updateMask',
    says: 'PATCH with dotted paths; what they name is replaced and nothing else.',
    accepts: [
      ...journey.change('§4.4 PATCH changes what the mask names and nothing else'),
      ...installation.masks(
        '§4.4 updateMask: a mask on an object replaces its whole config',
        '§4.4 updateMask: a mask on a member leaves the others',
      ),
    ],
    refuses: [
      ...journey.change('§4.4 refuses unknown masks with the list, masks without a value'),
      ...installation.masks('§4.4 updateMask: an unknown mask is refused with the allowed ones'),
    ],
  },
  {
    id: '4.4/installation',
    says: 'installation.config.content holds what is new.',
    accepts: installation.change('§4.4 update: replaces the masked object, keeps the rest'),
    refuses: [
      ...installation.change('§4.4 update: the whole config is checked again'),
      ...installation.masks('§4.4 updateMask: a mask without a value is refused'),
    ],
  },
];

const patchObject: SpecItem[] = [
  {
    id: '4.5/groupRef',
    says: 'Whose installation is patched.',
    accepts: installation.change('§4.5 changes: add, replace and remove, together, by group'),
    refuses: installation.change('§4.5 target: by installation id; both or neither are refused'),
  },
  {
    id: '4.5/action',
    says: 'Which action’s config, such as write.',
    accepts: journey.change('§4.5 JSON Patch adds, replaces and removes in one object’s config'),
    refuses: journey.change('§4.5 refuses replacing what is not there, all or nothing, and names the change'),
  },
  {
    id: '4.5/changes',
    says: 'A list of changes with op, path and value.',
    accepts: [
      ...journey.change('§4.5 JSON Patch adds, replaces and removes in one object’s config'),
      ...installation.jsonPatch('§4.5 changes: each builds on the one before'),
    ],
    refuses: [
      ...installation.change('§4.5 op: others than add, remove and replace are 400, as are no changes'),
      ...installation.jsonPatch('§4.5 value: is required for add and replace'),
    ],
  },
  {
    id: '4.5/op/add',
    says: 'Makes what is not there.',
    accepts: installation.jsonPatch('§4.5 add: makes a member, replaces one that exists'),
    refuses: installation.jsonPatch('§4.5 path: refuses %j'),
  },
  {
    id: '4.5/op/replace',
    says: 'For what is there already.',
    accepts: installation.jsonPatch('§4.5 replace: changes a nested member'),
    refuses: installation.change('§4.5 path: a target that is not there is refused by its place'),
  },
  {
    id: '4.5/path',
    says: 'A JSON Pointer into the object’s config, such as /deletionSettings.',
    accepts: installation.jsonPatch(
      '§4.5 path: "~1" and "~0" stand for "/" and "~"',
      '§4.5 path: the empty path is the whole object config',
    ),
    refuses: installation.jsonPatch('§4.5 path: refuses %j'),
  },
  {
    id: '4.5/value',
    says: 'The result is checked like any config.',
    accepts: journey.change('§4.5 JSON Patch adds, replaces and removes in one object’s config'),
    refuses: installation.change('§4.5 result: shape and rules are checked'),
  },
];

const bytes = '§4.6 %s passes with its path, query, body and content type';

const proxied: SpecItem[] = [
  {
    id: '4.6/method',
    says: 'Any HTTP method.',
    accepts: journey.proxy(bytes),
    refuses: journey.proxy('a call that upgrades the connection is refused'),
  },
  {
    id: '4.6/forwarding',
    says: 'The host alone is replaced: path, body and content type are kept, whatever the type.',
    accepts: [
      ...journey.proxy(
        bytes,
        '§4.6 the target passes as it was written: escapes, repeated keys, empty values, dots',
        '§4.6 a chunked body, a large one and an empty one arrive byte for byte',
      ),
      ...journey.clients(
        '§4.6 @hubspot/api-client creates, reads, updates, searches and archives',
        '§4.6 jsforce creates, reads, updates, queries and deletes',
      ),
    ],
    refuses: [
      ...journey.targets('§4.6 a target in absolute form cannot name another host'),
      ...proxy.request('refuses the target %s'),
    ],
  },
  {
    id: '4.6/enabled',
    says: 'Only where the integration enables the proxy.',
    accepts: journey.targets('§4.6 the installation id selects the target'),
    refuses: journey.targets('§4.6, §2.1 an integration that does not enable the proxy is refused'),
  },
  {
    id: '4.6/x-svc-proxy-version',
    says: 'Required; always 1.',
    accepts: journey.targets('§4.6 the installation id selects the target'),
    refuses: journey.targets('§4.6, §9 x-svc-proxy-version is required and always 1'),
  },
  {
    id: '4.6/x-svc-project-id',
    says: 'Required; the id of the project, not its name.',
    accepts: journey.targets('§4.6 the installation id selects the target'),
    refuses: journey.targets('§4.6 x-svc-project-id is required: the id, not the name'),
  },
  {
    id: '4.6/x-api-key',
    says: 'Required.',
    accepts: journey.targets('§4.6 the installation id selects the target', 'a key needs scope proxy'),
    refuses: journey.targets('§4.6, §5 x-api-key is required; a bearer token does not stand for it'),
  },
  {
    id: '4.6/target/installation',
    says: 'x-svc-installation-id names the installation.',
    accepts: journey.targets('§4.6 the installation id selects the target'),
    refuses: journey.targets(
      '§4.6 a target is required: half of one is none',
      'an unknown installation, group or integration is 404',
      'another project’s installation and another group’s are 404',
    ),
  },
  {
    id: '4.6/target/group',
    says: 'x-svc-integration-name and x-svc-group-ref together name it, too.',
    accepts: journey.targets('§4.6 integration name and group select the target together'),
    refuses: journey.targets(
      '§4.6 a target is required: half of one is none',
      'an unknown installation, group or integration is 404',
    ),
  },
  {
    id: '4.6/target/all',
    says: 'With all three, the installation id counts.',
    accepts: journey.targets('§4.6 when all three are given the installation id is used'),
    refuses: 'nothing to refuse: it is a precedence',
  },
  {
    id: '4.6/x-svc-rate-limiter-mode',
    says: 'throttle, optional.',
    accepts: [],
    refuses: [],
    later: 'the throttle mode of the proxy; without it every call goes to the provider',
  },
  {
    id: '4.6/response',
    says: 'The provider’s response, as it came.',
    accepts: journey.proxy(
      bytes,
      'errors of the provider pass as they are: its HTML, its 429, its 500',
      'a redirect is passed on and not followed',
    ),
    refuses: journey.proxy(
      'Set-Cookie is dropped on the way back, repeated headers are not merged',
      'a provider that breaks off or cannot be reached is a 502 of ours, which says so',
    ),
  },
];

export const endpointSections: SpecSection[] = [
  { title: '4.1 Create an installation', items: create },
  { title: '4.3 Get an operation', items: getOperation },
  { title: '4.4 Update an installation', items: update },
  { title: '4.5 Update an installation object', items: patchObject },
  { title: '4.6 Proxy call', items: proxied },
  {
    title: '4.7 OAuth connect endpoint',
    items: [
      {
        id: '4.7/oauth-connect',
        says: 'Makes an authorization URL by which a connection is created; its shape is not shown.',
        accepts: journey.connect(
          '§4.7 a group connects %s by OAuth; the group and the person are recorded',
          'the browser goes back to an allowed return URL with the outcome',
        ),
        refuses: journey.connect(
          'refuses to start for unknown providers, unknown projects, and what the provider needs',
          'a state works once, and one that nobody issued never',
          'a return URL outside of the list is refused: %s',
        ),
      },
    ],
  },
];

export const authenticationSection: SpecSection = {
  title: '5 Authentication',
  items: [
    {
      id: '5/x-api-key',
      says: 'Management and write calls carry the key in X-Api-Key.',
      accepts: [
        ...keys.api('a key of scope %s reaches %j'),
        ...journey.spec('§5 a key goes in X-Api-Key in any case, or as a bearer'),
      ],
      refuses: [
        ...keys.api('answers 401 to %s', 'a %s key holds no longer'),
        ...journey.spec('§5 management and write calls %s are 401, and nothing is sent'),
      ],
    },
    {
      id: '5/proxy',
      says: 'Proxy calls carry it in x-api-key; the name’s case does not count.',
      accepts: [
        ...proxy.request('§4.6 takes an installation id'),
        ...journey.targets('§4.6 the installation id selects the target'),
      ],
      refuses: journey.targets('§4.6, §5 x-api-key is required; a bearer token does not stand for it'),
    },
    {
      id: '5/bearer',
      says: 'Bearer is the other scheme: a key, or a front-end token.',
      accepts: [
        ...keys.api('takes a key as a bearer, too, and lets X-Api-Key win'),
        ...keys.jwt('admits a token to what the front end may do, for its group'),
      ],
      refuses: keys.jwt('refuses a token that %s'),
    },
    {
      id: '5/proxy/project',
      says: 'Proxy calls name the project by its id.',
      accepts: journey.targets('§4.6 the installation id selects the target'),
      refuses: journey.targets(
        '§4.6 x-svc-project-id is required: the id, not the name',
        'another project’s installation and another group’s are 404',
      ),
    },
    {
      id: '5/provider',
      says: 'The service attaches the provider’s credential and renews it.',
      accepts: [
        ...journey.proxy(
          '§5 the credential is attached; ours, the caller’s and hop-by-hop headers are removed',
        ),
        ...journey.targets(
          '§5 an expired token is renewed once and the call repeated once, with its body',
          '§5 many calls with an expired token share one refresh',
        ),
      ],
      refuses: [
        ...proxy.headers('removes %s from a request'),
        ...journey.targets('a 401 that a new token does not cure is passed on as it came'),
      ],
    },
  ],
};

import './problems.ts';

export { peopleLimits } from './limits.ts';
export { endOperator } from './operators.ts';
export { createPeople, type People } from './people.ts';
export { findMembers } from './store/find.ts';
export { signInElsewhereRoutes } from './oidc/routes.ts';
export { oidcContradictions, oidcOf, oidcVariables, type OidcValues } from './oidc/settings.ts';
export { peopleRoutes } from './routes.ts';
export { sealedPeopleColumns } from './second-factor.ts';
export { makeOwnerLink, makeResetLink, makeWelcomeLink } from './welcome.ts';

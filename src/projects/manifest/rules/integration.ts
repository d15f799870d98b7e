import { isId } from '../../../kit/ids.ts';
import { failed, type Finding, type Path } from '../finding.ts';
import type { ManifestIntegration } from '../schema.ts';
import { didYouMean } from '../suggest.ts';
import type { ProviderFacts, RuleContext } from './context.ts';
import { checkRead } from './read.ts';
import { checkSubscribe, checkWatchSchema } from './subscribe.ts';
import { checkWrite } from './write.ts';

const actions = ['read', 'write', 'subscribe', 'proxy'] as const;

/** Every rule for one integration that goes beyond its shape. */
export function checkIntegration(
  integration: ManifestIntegration,
  path: Path,
  context: RuleContext,
): Finding[] {
  return [
    ...checkName(integration, path, context),
    ...checkActions(integration, path),
    ...checkProvider(integration, path, context),
    ...checkRead(integration, path, context),
    ...checkWrite(integration, path, context),
    ...checkSubscribe(integration, path, context),
    ...checkWatchSchema(integration, path, context),
  ];
}

function checkName({ name }: ManifestIntegration, path: Path, { sound }: RuleContext): Finding[] {
  const at = [...path, 'name'];
  if (!sound(at) || !isId(name)) return [];
  return [
    failed('name-form', at, 'must not have the form of an id, since ids and names stand in the same place'),
  ];
}

function checkActions(integration: ManifestIntegration, path: Path): Finding[] {
  if (actions.some((action) => integration[action] !== undefined)) return [];
  return [failed('no-action', path, 'needs at least one of read, write, subscribe and proxy')];
}

function checkProvider(
  integration: ManifestIntegration,
  path: Path,
  { catalog, sound }: RuleContext,
): Finding[] {
  const { provider } = integration;
  const at = [...path, 'provider'];
  if (!sound(at) || typeof provider !== 'string') return [];
  const facts = catalog.find(provider);
  if (!facts) {
    const hint = didYouMean(provider, catalog.names()) ?? 'GET /v1/providers lists the catalogue.';
    return [failed('provider-unknown', at, `there is no provider ${provider}`, hint)];
  }
  return [...checkAbilities(integration, path, facts), ...checkModule(integration, path, facts)];
}

function checkAbilities(integration: ManifestIntegration, path: Path, facts: ProviderFacts): Finding[] {
  const { read, write, provider, module } = integration;
  // A connector speaks to the API of the default module.
  const isElsewhere =
    module !== undefined && facts.modules.includes(module) && module !== facts.defaultModule;
  const [reads, writes] = [facts.reads && !isElsewhere, facts.writes && !isElsewhere];
  const has = [...(reads ? ['read'] : []), ...(writes ? ['write'] : []), 'proxy'];
  const whose = isElsewhere ? `the module ${module} of ${provider}` : `the connector of ${provider}`;
  const lacks = (action: string) =>
    failed(
      'provider-ability',
      [...path, action],
      `${whose} has no ${action} action; what it has: ${has.join(', ')}`,
      has.length > 1 ? `Declare ${has.join(' or ')}.` : 'Use the proxy.',
    );
  return [
    ...(read !== undefined && !reads ? [lacks('read')] : []),
    ...(write !== undefined && !writes ? [lacks('write')] : []),
  ];
}

function checkModule(integration: ManifestIntegration, path: Path, facts: ProviderFacts): Finding[] {
  const { provider, module, proxy } = integration;
  if (typeof module === 'string' && !facts.modules.includes(module)) {
    const known =
      facts.modules.length > 0 ? `its modules are ${facts.modules.join(', ')}` : 'it has no modules';
    const hint = didYouMean(module, facts.modules);
    return [
      failed('module-unknown', [...path, 'module'], `${provider} has no module ${module}; ${known}`, hint),
    ];
  }
  if (proxy?.useModule === true && (module ?? facts.defaultModule) === undefined) {
    return [
      failed(
        'module-unknown',
        [...path, 'proxy', 'useModule'],
        'needs `module`: the provider has no default one',
      ),
    ];
  }
  return [];
}
